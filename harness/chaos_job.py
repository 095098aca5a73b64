"""The whole of `truefall chaos`: check the input, prepare the models, drive pytest, judge, gate, report."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from evalsets.jsonl import load_set
from gateway.clock import Clock, SystemClock
from harness.chaos_options import began_with, check_files, chosen_items, option, options_of
from harness.commands.chaos import INTERRUPTED
from harness.errors import ConfigError, HarnessError, StackError
from harness.models import Profile, load_profile, prepare
from harness.pytest_end import PytestEnd
from harness.run_lock import only_writer
from harness.safety import STILL_ON_CODE, shout, still_on
from harness.session import SessionOptions, plan_of
from harness.store import RunFolder

PYTEST_SETTINGS = Path(__file__).with_name("chaos_pytest.ini")
PASSED, FAILED, NO_TESTS = 0, 1, 5  # exit codes of pytest


@dataclass(slots=True, kw_only=True)
class ChaosJob:
    """One run of the main job, from checked options to an exit code."""

    options: SessionOptions
    profile: Profile
    criteria: Path
    folder: RunFolder
    experiment_files: tuple[str, ...] = ()
    clock: Clock = field(default_factory=SystemClock)
    step_s: dict[str, float] = field(default_factory=dict)  # seconds that each step took
    new: bool = True  # begun here, not resumed
    failed: str | None = None  # why the run that is resumed has ended with FAIL; nothing more is sent then

    @classmethod
    def prepare(cls, args: argparse.Namespace) -> Self:
        """Check every input before anything is written. Raises ConfigError, ModelError or EvalsetError."""
        from harness.gate_files import failed_for_good
        from harness.meta import describe_run, new_run_path, open_folder, sha256_file

        before = began_with(args.resume)
        profile = load_profile(option(args, before, "profile"))
        criteria = Path(args.criteria) if args.criteria else profile.criteria
        run_folder = args.resume or str(new_run_path(Path(args.results), option(args, before, "seed")))
        options = options_of(args, before, profile, run_folder=run_folder)
        check_files(options, profile, criteria, args.experiment)
        items = chosen_items(options.evalset, options.item_ids)
        clock = SystemClock()
        began_s = clock.now_s()
        if not options.attached:
            prepare([profile.primary.name, profile.secondary.name], progress=say)
        prepared_s = clock.now_s() - began_s
        folder = open_folder(options, describe_run(options, profile, plan_of(options, profile, items)))
        failed = failed_for_good(folder.path, criteria, sha256_file(criteria))
        return cls(
            options=options,
            profile=profile,
            criteria=criteria,
            folder=folder,
            clock=clock,
            step_s={"models": prepared_s},
            experiment_files=tuple(args.experiment),
            new=args.resume is None,
            failed=failed,
        )

    def run_experiments(self, experiments: Path, select: str | None) -> int:
        """Drive pytest over the experiments; its exit code, or INTERRUPTED."""
        import pytest

        options = self.options
        folder = experiments if experiments.is_dir() else experiments.parent
        argv = [
            *("-c", str(PYTEST_SETTINGS), "--rootdir", str(folder), "--confcutdir", str(folder)),
            *(
                str(experiments),
                "-m",
                "chaos",
                "-q",
                "--capture=sys",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:benchmark",
                "-p",
                "no:hypothesispytest",  # its import takes two seconds
                "-W",
                "ignore",
            ),
            *(f"--chaos-seed={options.seed}", f"--chaos-profile={options.profile}", f"--chaos-device={options.device}"),
            *(f"--chaos-evalset={options.evalset}", f"--chaos-run={self.folder.path}"),
        ]
        argv += [f"--chaos-experiment={file}" for file in self.experiment_files]
        if options.stack_file:
            argv.append(f"--chaos-stack={options.stack_file}")
        if options.policy:
            argv.append(f"--chaos-policy={options.policy}")
        if options.most_items:
            argv.append(f"--chaos-items={options.most_items}")
        argv += [f"--chaos-item={item_id}" for item_id in options.item_ids]
        if options.quick:
            argv.append("--chaos-quick")
        if select:
            argv += ["-k", select]
        seen = PytestEnd()
        with self.step("experiments"):
            code = int(pytest.main(argv, plugins=[seen]))
        if code in (PASSED, FAILED):
            return code
        if still_on(self.folder):
            return FAILED
        if seen.interrupted:
            return INTERRUPTED
        if self.new:
            self.folder.discard_unused()
        if code == NO_TESTS:
            raise ConfigError(
                f"no experiment matches {select or experiments}; see `pytest --collect-only -m chaos {experiments}`"
            )
        raise StackError(seen.reason or "the experiments could not be run; the line above says why")

    def finish(self, *, experiments_failed: bool) -> int:
        """Judge, gate, report; the exit code of the run. A fault that is still on outweighs everything."""
        left = still_on(self.folder)
        try:
            with only_writer(self.folder):
                code = self.judge_and_gate(experiments_failed=experiments_failed)
        except HarnessError as error:
            if not left:
                raise
            print(f"truefall chaos: {error}", file=sys.stderr)
        if left:
            shout(left, self.folder, say)
            return STILL_ON_CODE
        return code

    def judge_and_gate(self, *, experiments_failed: bool) -> int:
        """The exit code by the gate; 1 when an experiment's own test failed."""
        from harness.gate_run import gate_run
        from harness.judge import judge_run, scorer_of
        from harness.judge_table import write_judge_table
        from harness.observables import write_observables
        from harness.report import write_report

        with self.step("judge"):
            scorer = scorer_of(self.folder.meta())
            judge_run(self.folder.path, load_set(self.options.evalset), scorer)
            write_judge_table(self.folder.path, scorer)
        with self.step("observables"):
            write_observables(self.folder.path, load_set(self.options.evalset))
        with self.step("gate"):
            code = gate_run(self.folder.path, self.criteria, ends_run=True)
        with self.step("report"):
            report = write_report(self.folder.path)
        self.folder.write_json("steps.json", {name: round(seconds, 1) for name, seconds in self.step_s.items()})
        print(
            "steps: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.step_s.items()), file=sys.stderr
        )
        print(f"report: {report}", file=sys.stderr)
        if experiments_failed and code == PASSED:
            print("an experiment failed (see above): the run does not pass", file=sys.stderr)
            return FAILED
        return code

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure how long a step takes."""
        began_s = self.clock.now_s()
        try:
            yield
        finally:
            self.step_s[name] = self.clock.now_s() - began_s


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
