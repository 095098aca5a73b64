"""Drive one experiment: steady state, inject, send, restore, recovery; every row is written as it happens."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, Protocol

from evalsets.item import Item
from faults.catalogue import build
from faults.errors import FaultError
from faults.fault import Fault, Firing, Target
from gateway.clock import Clock
from harness.client import Observation
from harness.errors import StillOn
from harness.safety import undo_failed
from harness.schedule import Experiment, PlannedTrial, Sizes, plan
from harness.store import RunFolder
from harness.trial import Begun, Block, Outcome, Trial

Progress = Callable[[str, Trial], None]


class Backends(Protocol):
    """What is needed of the stack."""

    @property
    def primary_model(self) -> str: ...
    @property
    def gateway_url(self) -> str: ...
    def target(self, name: str) -> Target: ...
    def stop(self) -> None: ...


class Asker(Protocol):
    """What is needed of the client; it never raises for what a server does."""

    async def ask(self, body: Mapping[str, Any], *, trial_id: str, headers: Mapping[str, str] = ...) -> Observation: ...
    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What all experiments of a run share."""

    seed: int
    items: Sequence[Item]
    sizes: Sizes
    max_tokens: int
    block_size: int = 1000  # trials per injection


@dataclass(slots=True, kw_only=True)
class Run:
    """A run in progress: the stack that is up, and the folder it writes."""

    stack: Backends
    folder: RunFolder
    client: Asker
    clock: Clock
    began_s: float
    plan: RunPlan
    progress: Progress
    build_fault: Callable[[str, Mapping[str, Any]], Fault] = build
    still_on: str | None = None  # the block whose fault could not be undone

    async def experiment(self, experiment: Experiment) -> list[Block]:
        """Run what is not yet in the folder; return the blocks of this experiment, old and new.

        Raises BadFault or ConfigError for a fault, parameter or target that does not exist, before anything is sent.
        """
        for dose in experiment.doses:
            self.build_fault(dose.fault, dose.params)
            self.stack.target(dose.target)
        planned = plan(self.plan.seed, experiment, self.plan.items, self.plan.sizes)
        done = {trial.id for trial in self.folder.trials()}
        todo = [(number, trial) for number, trial in enumerate(planned) if trial.id not in done]
        size = self.plan.block_size if experiment.doses else 1
        for start in range(0, len(todo), size):
            self.refuse_when_still_on()
            number = todo[start][0]
            await self.block(experiment, [trial for _, trial in todo[start : start + size]], number=number)
        return [block for block in self.folder.blocks() if block.experiment == experiment.name]

    async def block(self, experiment: Experiment, todo: Sequence[PlannedTrial], *, number: int) -> Block:
        """One injection. `number`: its first trial's in the plan. What it raises closes it as cut short."""
        block_id = self.folder.new_block_id(f"{experiment.name}#{number}")
        with self.closing(Begun(block_id, experiment.name, experiment.fault, experiment.target)):
            block = await self.whole_block(experiment, todo, block_id, number=number)
        self.close(block)
        return block

    @contextmanager
    def closing(self, begun: Begun) -> Iterator[None]:
        """Write that a block begins, and, where an exception ends it, that it was cut short. A kill or Ctrl-C leaves it
        open; either way a resumed run begins it again."""
        if begun.fault != "none":
            self.folder.begin_block(begun)
        try:
            yield
        except Exception as error:
            self.close(begun.cut_short(self.folder.written(begun.block), f"cut short by {first_cause(error)}"))
            raise

    async def whole_block(
        self, experiment: Experiment, todo: Sequence[PlannedTrial], block_id: str, *, number: int
    ) -> Block:
        """From the steady state before the injection to the recovery after it."""
        steady = await self.answers_healthily(timeout_s=experiment.recovery_limit_s) if experiment.doses else None
        pids = {dose.target: self.stack.target(dose.target).pid() for dose in experiment.doses}
        began_s = self.now_s()
        under = await self.inject_and_send(experiment, todo, block_id, number=number)
        restored_s = self.now_s()
        recovered, recovery_ms = (False, None) if undo_failed(under.error) else await self.recover(experiment)
        return Block(
            id=block_id,
            experiment=experiment.name,
            fault=experiment.fault,
            target=experiment.target,
            trials=len(under.trials),
            steady=True if steady is None else steady,
            fired=under.fired if experiment.doses else None,
            touched=sum(firing.touched for firing in under.firings),
            evidence=tuple(line for firing in under.firings for line in firing.evidence),
            recovered=recovered,
            recovery_ms=recovery_ms,
            detection_ms=detection_ms(under.trials, began_s),
            began_at_s=began_s,
            ended_at_s=restored_s,
            same_process=all(self.stack.target(name).pid() == pid for name, pid in pids.items()) if pids else None,
            error=under.error,
        )

    def close(self, block: Block) -> None:
        """Write the row of a block; nothing is injected on top of a fault that could not be undone."""
        self.folder.close_block(block)
        if undo_failed(block.error):
            self.still_on = f"{block.id}: {block.error}"

    def refuse_when_still_on(self) -> None:
        """Raises StillOn when a fault of this run could not be undone."""
        if self.still_on:
            raise StillOn(f"nothing more is injected, a fault is still on: {self.still_on}")

    async def inject_and_send(
        self, experiment: Experiment, todo: Sequence[PlannedTrial], block_id: str, *, number: int
    ) -> "UnderFault":
        """Send the requests while all faults are on; what a fault raises becomes the block's error."""
        firings: list[Firing] = []
        trials: list[Trial] = []
        error = None
        try:
            async with AsyncExitStack() as injected:
                for dose in experiment.doses:
                    fault = self.build_fault(dose.fault, dose.params)
                    rng = Random(f"{self.plan.seed}/{dose.fault}/{dose.target}/{experiment.name}#{number}")
                    target = self.stack.target(dose.target)
                    firings.append(await injected.enter_async_context(fault.inject(target, clock=self.clock, rng=rng)))
                trials = await self.send_all(experiment, todo, block_id)
        except FaultError as failed:
            error = f"{type(failed).__name__}: {failed}"
        return UnderFault(firings, trials, error)

    def now_s(self) -> float:
        """Seconds since the run began."""
        return self.clock.now_s() - self.began_s

    async def send_all(self, experiment: Experiment, todo: Sequence[PlannedTrial], block_id: str) -> list[Trial]:
        """Send the requests in their order, `concurrency` at a time."""
        items = {item.id: item for item in self.plan.items}
        gate = asyncio.Semaphore(experiment.concurrency)

        async def send(planned: PlannedTrial) -> Trial:
            async with gate:
                sent_at_s = self.now_s()
                seen = await self.client.ask(self.body(items[planned.item_id], planned), trial_id=planned.id)
                trial = as_trial(
                    experiment, planned, items[planned.item_id], seen, block_id=block_id, sent_at_s=sent_at_s
                )
                self.folder.append(trial)
                self.progress(experiment.name, trial)
                return trial

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(send(planned)) for planned in todo]
        return [task.result() for task in tasks]

    def body(self, item: Item, planned: PlannedTrial) -> dict[str, Any]:
        """The request of one trial."""
        body: dict[str, Any] = {
            "model": self.stack.primary_model,
            "messages": item.messages(),
            "max_tokens": self.plan.max_tokens,
            "temperature": 0,
            "seed": self.plan.seed,
        }
        if planned.stream:
            body["stream"] = True
        if item.contract is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": item.contract},
            }
        return body

    async def recover(self, experiment: Experiment) -> tuple[bool | None, float | None]:
        """Wait for the first healthy answer after the fault was undone."""
        if not experiment.doses:
            return None, None
        began_s = self.now_s()
        recovered = await self.answers_healthily(timeout_s=experiment.recovery_limit_s)
        return recovered, (self.now_s() - began_s) * 1000 if recovered else None

    async def answers_healthily(self, *, timeout_s: float) -> bool:
        """Whether the primary answers a short question, undegraded, within `timeout_s`."""
        deadline_s = self.now_s() + timeout_s
        body = {
            "model": self.stack.primary_model,
            "messages": [{"role": "user", "content": "Say yes."}],
            "max_tokens": 4,
            "temperature": 0,
        }
        while self.now_s() < deadline_s:
            seen = await self.client.ask(body, trial_id=f"probe/{self.now_s():.3f}")
            if seen.outcome is Outcome.OK and seen.record.get("level") == "healthy":
                return True
            await self.clock.sleep(0.5)
        return False


class UnderFault(NamedTuple):
    """What happened between the injection and its undoing."""

    firings: list[Firing]  # one for each fault that could be injected
    trials: list[Trial]
    error: str | None

    @property
    def fired(self) -> bool:
        """Every fault was injected, met something, and was undone."""
        return self.error is None and all(firing.fired for firing in self.firings)


def first_cause(error: BaseException) -> str:
    """The first exception of a group, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def detection_ms(trials: Sequence[Trial], began_s: float) -> float | None:
    """From the injection to the end of the first answer that was marked as degraded."""
    ends = [
        trial.sent_at_s * 1000 + trial.latency_ms
        for trial in trials
        if trial.degraded and trial.sent_at_s is not None and trial.latency_ms is not None
    ]
    return min(ends) - began_s * 1000 if ends else None


def as_trial(
    experiment: Experiment, planned: PlannedTrial, item: Item, seen: Observation, *, block_id: str, sent_at_s: float
) -> Trial:
    """The row of one observation."""
    record: Mapping[str, Any] = seen.record
    return Trial(
        id=planned.id,
        experiment=experiment.name,
        block=block_id,
        fault=experiment.fault,
        target=experiment.target,
        item_id=item.id,
        lang=item.lang,
        stream=planned.stream,
        outcome=seen.outcome,
        status=seen.status,
        answer=seen.answer,
        finish_reason=seen.finish_reason,
        level=record.get("level"),
        path=record.get("path"),
        abstained=record.get("abstained", False) if record else None,
        reasons=tuple(record.get("reasons") or ()),
        model_served=seen.model,
        record=dict(record),
        error=seen.wrong,
        sent_at_s=sent_at_s,
        latency_ms=seen.latency_ms,
        ttft_ms=seen.ttft_ms,
    )
