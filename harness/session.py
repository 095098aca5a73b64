"""One chaos session, as tests use it: open the stack, run experiments, close everything."""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from evalsets.item import Item
from evalsets.jsonl import load_set, select
from faults.experiment import ChaosExperiment
from faults.experiment_file import load_experiment
from gateway.clock import SystemClock
from harness.client import GatewayClient
from harness.errors import ConfigError, StackError
from harness.meta import describe_run, open_folder
from harness.models import Profile, load_profile, prepare
from harness.play import play
from harness.progress import ProgressBar
from harness.run import Run, RunPlan
from harness.run_lock import only_writer
from harness.safety import find_foreign, still_on, sweep_leftovers
from harness.schedule import Dose, Experiment, Scope, Sizes
from harness.stack.attached import AttachedStack, attach, only_gateway
from harness.stack.backend import BackendLine
from harness.stack.signals import run_heard, terminated_as_interrupt, undisturbed
from harness.stack.stack import Stack
from harness.store import OpenSession, RunFolder
from harness.traffic import check_traffic
from harness.trial import Block, Outcome, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session is asked for; None takes the profile's own value."""

    seed: int = 0
    profile: str = "cpu"
    device: str = "auto"
    policy: str | None = None
    evalset: str = "support"
    most_items: int | None = None
    item_ids: tuple[str, ...] = ()  # only these; none: all
    quick: bool = False
    run_folder: str | None = None
    gateway_url: str | None = None
    stack_file: str | None = None  # TOML file with the handles on somebody else's gateway

    @property
    def attached(self) -> bool:
        """Nothing is started: the gateway is somebody else's."""
        return bool(self.stack_file or self.gateway_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentResult:
    """What one experiment did, for a test to assert on."""

    blocks: tuple[Block, ...]
    trials: tuple[Trial, ...]

    @property
    def fired(self) -> bool:
        """Every injection proved that it fired."""
        return bool(self.blocks) and all(block.fired for block in self.blocks)

    @property
    def recovered(self) -> bool:
        """After every injection the primary answered again, undegraded."""
        return bool(self.blocks) and all(block.recovered for block in self.blocks)

    @property
    def crashes(self) -> list[Trial]:
        """5xx, broken bodies, and requests that nobody answered."""
        return [trial for trial in self.trials if trial.outcome in (Outcome.FAILED, Outcome.UNANSWERED)]

    @property
    def evidence(self) -> list[str]:
        return [line for block in self.blocks for line in block.evidence]

    def paths(self) -> set[str]:
        """The paths that served degraded answers."""
        return {trial.path for trial in self.trials if trial.degraded and trial.path}


@dataclass(slots=True, kw_only=True)
class ChaosSession:
    """A stack that is up, and a run folder that is being written. All methods are synchronous."""

    run_: Run
    runner: asyncio.Runner
    noted: OpenSession
    results: dict[str, ExperimentResult] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def open(cls, options: SessionOptions) -> Iterator[Self]:
        """Start everything; stop everything on every way out, SIGTERM included. One session at a time per folder."""
        profile = load_profile(options.profile)
        items = load_set(options.evalset)
        items = select(items, dict.fromkeys(options.item_ids)) if options.item_ids else items
        plan = plan_of(options, profile, items)
        folder = open_folder(options, describe_run(options, profile, plan))
        with only_writer(folder), asyncio.Runner() as runner, terminated_as_interrupt():
            sweep_leftovers(folder)
            run = run_heard(runner, start_run(options, folder, plan))
            try:
                with folder.session() as noted:
                    yield cls(run_=run, runner=runner, noted=noted)
            finally:
                with undisturbed():
                    runner.run(run.client.close())
                    run.stack.stop()

    @property
    def gateway_url(self) -> str:
        return self.run_.stack.gateway_url

    def interrupt(self) -> None:
        """What else there was to do is not done: the run is not noted as one that came to its end."""
        self.noted.interrupted = True

    def still_on(self) -> list[str]:
        """Faults of this run that could not be undone."""
        return still_on(self.run_.folder)

    def steady(self) -> ExperimentResult:
        """The healthy baseline: every item, no fault."""
        return self.experiment(Experiment(name="steady", scope=Scope.BASELINE))

    def run(
        self,
        fault: str,
        *,
        target: str = "primary",
        name: str | None = None,
        scope: Scope = Scope.FAULT,
        tag: str | None = None,
        concurrency: int = 1,
        **params: Any,
    ) -> ExperimentResult:
        """One experiment with one fault, `concurrency` requests in flight.

        Raises what the catalogue raises for an unknown fault or parameter.
        """
        dose = Dose(fault=fault, target=target, params=params)
        name = name or f"{fault}-{target}"
        return self.experiment(Experiment(name=name, doses=(dose,), scope=scope, tag=tag, concurrency=concurrency))

    def experiment(self, experiment: Experiment) -> ExperimentResult:
        """Run an experiment, or return what the run folder already has of it."""
        return self.result(experiment.name, run_heard(self.runner, self.run_.experiment(experiment)))

    def play(self, experiment: ChaosExperiment | str | Path) -> ExperimentResult:
        """Run an experiment with phases and steps, given as code or as a YAML file."""
        if not isinstance(experiment, ChaosExperiment):
            experiment = load_experiment(Path(experiment))
        return self.result(experiment.name, [run_heard(self.runner, play(self.run_, experiment))])

    def result(self, name: str, blocks: Sequence[Block]) -> ExperimentResult:
        trials = tuple(trial for trial in self.run_.folder.trials() if trial.experiment == name)
        result = ExperimentResult(blocks=tuple(blocks), trials=trials)
        self.results[name] = result
        return result


def plan_of(options: SessionOptions, profile: Profile, items: Sequence[Item]) -> RunPlan:
    """What the experiments of a session share."""
    return RunPlan(
        seed=options.seed,
        items=items,
        sizes=Sizes(
            baseline=options.most_items or profile.limits.baseline_items,
            fault=min(options.most_items or profile.limits.fault_items, profile.limits.fault_items),
        ),
        max_tokens=profile.limits.max_new_tokens,
    )


async def start_run(options: SessionOptions, folder: RunFolder, plan: RunPlan) -> Run:
    """Bring the stack up. Raises StackError or ModelError with what failed."""
    clock = SystemClock()
    stack, client = await open_stack(options, folder, clock)
    try:
        await check_stack(stack, folder, client)
    except BaseException:
        await client.close()
        stack.stop()
        raise
    progress = ProgressBar.start(clock=clock)
    return Run(
        stack=stack, folder=folder, client=client, clock=clock, began_s=clock.now_s(), plan=plan, progress=progress
    )


async def open_stack(
    options: SessionOptions, folder: RunFolder, clock: SystemClock
) -> tuple[Stack | AttachedStack, GatewayClient]:
    """Ours, started; or somebody else's, as it is."""
    if not options.attached:
        own = build_stack(options, folder, clock)
        await own.start()
        return own, GatewayClient(own.gateway_url, clock=clock)
    if options.stack_file:
        stack = attach(Path(options.stack_file), journal=folder.journal, clock=clock)
    else:
        stack = only_gateway(str(options.gateway_url), journal=folder.journal, clock=clock)
    await stack.start()
    timeout_s = stack.file.gateway.timeout_s
    client = GatewayClient(stack.gateway_url, clock=clock, timeout_s=timeout_s, token=stack.token, marks=stack.marks)
    return stack, client


async def check_stack(stack: Stack | AttachedStack, folder: RunFolder, client: GatewayClient) -> None:
    """Nothing is on yet, and traffic passes where faults will act. Raises StackError when it does not."""
    targets = [stack.target(name) for name in stack.names]
    await asyncio.to_thread(find_foreign, folder, targets)
    await check_traffic(targets, models=stack.models, client=client)


def build_stack(options: SessionOptions, folder: RunFolder, clock: SystemClock) -> Stack:
    """The stack of a profile: models prepared, nothing started yet."""
    profile = load_profile(options.profile)
    device = choose_device(options.device)
    lines = {}
    for name, model in (("primary", profile.primary), ("secondary", profile.secondary)):
        prepared = prepare([model.name])[0]
        lines[name] = BackendLine(name=name, model=model, model_dir=prepared.path, device=device, logs=folder.logs)
    policy = Path(options.policy) if options.policy else profile.policy
    if not policy.is_file():
        raise StackError(f"--policy {policy}: no such file")
    return Stack(
        profile=profile,
        lines=lines,
        policy=policy,
        folder=folder.logs,
        journal=folder.journal,
        seed=options.seed,
        clock=clock,
        admin_token=secrets.token_urlsafe(24),
    )


def choose_device(wanted: str) -> str:
    """`auto` is a CUDA device where one answers, else the CPU. Raises ConfigError when `cuda` is not there."""
    if wanted == "cpu":
        return wanted
    import torch

    found = torch.cuda.is_available()
    if wanted == "cuda" and not found:
        raise ConfigError("--device cuda: no CUDA device answers here; use auto or cpu")
    return "cuda" if found else "cpu"
