"""Driving one experiment: what is written, what a fault that fails or never fires leaves behind, and going on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from evalsets.item import Item
from faults.errors import BadFault, NotApplicable, UndoFailed
from faults.fault import Firing, Target
from harness.client import Observation
from harness.errors import ConfigError
from harness.run import Run, RunPlan
from harness.schedule import Dose, Experiment, Scope, Sizes
from harness.store import RunFolder


def an_item(number: int) -> Item:
    return Item(
        id=f"set-en-{number:03d}", lang="en", system="", context="", prompt=f"question {number}", reference="yes",
        must_keep=(), must_not=(), contract=None, tags=(), source="test", licence="Apache-2.0",
    )  # fmt: skip


ITEMS = [an_item(number) for number in range(6)]
UNDER_FAULT = Experiment(name="broken-primary", doses=(Dose(fault="broken"),))
STEADY = Experiment(name="steady", scope=Scope.BASELINE)


@dataclass
class FakeClock:
    now: float = 100.0

    def now_s(self) -> float:
        return self.now

    async def sleep(self, delay_s: float) -> None:
        self.now += delay_s
        await asyncio.sleep(0)  # noqa: TID251


@dataclass
class World:
    """What the fake faults change and the fake client sees."""

    on: list[str] = field(default_factory=list)  # faults that are on now
    undone: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    bodies: list[dict] = field(default_factory=list)
    draws: list[float] = field(default_factory=list)
    pid: int = 7
    down_after: int | None = None  # number of requests after which nobody answers undegraded


@dataclass(frozen=True)
class Fault:
    """Fails where it is told to; else touches every request while it is on."""

    world: World
    label: str
    fails: str = ""  # "entry", "exit"
    fires: bool = True

    @asynccontextmanager
    async def inject(self, target, *, clock, rng) -> AsyncIterator[Firing]:
        if self.fails == "entry":
            raise NotApplicable(f"{target.name}: no GPU")
        self.world.draws.append(rng.random())
        firing = Firing()
        before = len(self.world.asked)
        self.world.on.append(self.label)
        try:
            yield firing
        finally:
            self.world.on.remove(self.label)
            self.world.undone.append(self.label)
            if self.fires:
                firing.touched = len(self.world.asked) - before
                firing.evidence.append(f"{firing.touched} requests met it")
        if self.fails == "exit":
            raise UndoFailed(f"{target.name}: it stays")


@dataclass
class Backends:
    world: World
    primary_model: str = "big"
    gateway_url: str = "http://127.0.0.1:1"

    def target(self, name: str) -> Target:
        if name not in ("primary", "secondary"):
            raise ConfigError(f"target {name!r} is not a backend")
        return Target(name=name, url="http://127.0.0.1:2", pid=lambda: self.world.pid)

    def stop(self) -> None:
        pass


@dataclass
class Client:
    """Healthy without a fault, degraded under one; `breaks` raises or hangs at a request."""

    world: World
    clock: FakeClock
    breaks: dict[int, BaseException | asyncio.Event] = field(default_factory=dict)

    async def ask(self, body, *, trial_id: str) -> Observation:
        self.clock.now += 0.25
        if trial_id.startswith("probe/"):
            down = self.world.down_after is not None and len(self.world.asked) >= self.world.down_after
            level = "degraded" if down else "healthy"
            return Observation(status=200, answer="yes", complete=True, record={"level": level}, latency_ms=250)
        self.world.asked.append(trial_id)
        self.world.bodies.append(dict(body))
        problem = self.breaks.get(len(self.world.asked))
        if isinstance(problem, asyncio.Event):
            problem.set()
            await asyncio.Event().wait()
        elif problem is not None:
            raise problem
        record = {"level": "degraded", "path": "extract", "reasons": ["x"]} if self.world.on else {"level": "healthy"}
        return Observation(status=200, answer="yes", complete=True, record=record, latency_ms=250)

    async def close(self) -> None:
        pass


@dataclass
class Bench:
    """A run over fakes and a real folder."""

    folder: RunFolder
    world: World = field(default_factory=World)
    faults: dict[str, dict] = field(default_factory=dict)
    seed: int = 3
    block_size: int = 1000
    breaks: dict = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def run(self) -> Run:
        clock = FakeClock()

        def build_fault(name, params):
            if name not in {"broken", "second", *self.faults}:
                raise BadFault(f"unknown fault {name!r}")
            return Fault(self.world, name, **self.faults.get(name, {}))

        return Run(
            stack=Backends(self.world), folder=self.folder, client=Client(self.world, clock, self.breaks), clock=clock,
            began_s=clock.now_s(), progress=lambda name, trial: self.seen.append(trial.id), build_fault=build_fault,
            plan=RunPlan(seed=self.seed, items=ITEMS, sizes=Sizes(fault=4), max_tokens=9, block_size=self.block_size),
        )  # fmt: skip


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(RunFolder.create(tmp_path / "run", {"seed": 3}))


async def test_a_fault_is_met_undone_and_proved_by_its_block(bench):
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.id, block.trials, block.touched, block.fired, block.error) == ("broken-primary#0", 4, 4, True, None)
    assert (block.steady, block.recovered, block.same_process) == (True, True, True)
    assert block.detection_ms == pytest.approx(250)
    assert bench.world.undone == ["broken"]
    trials = bench.folder.trials()
    assert {trial.path for trial in trials} == {"extract"}
    assert [trial.id for trial in trials] == bench.seen


async def test_the_steady_state_is_written_block_by_block_and_has_no_fault_to_fire(bench):
    blocks = await bench.run().experiment(STEADY)
    assert [block.id for block in blocks] == [f"steady#{n}" for n in range(6)]
    assert {block.fired for block in blocks} == {None}
    assert {block.recovered for block in blocks} == {None}


async def test_a_fault_that_nothing_met_did_not_fire(bench):
    bench.faults["broken"] = {"fires": False}
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.fired, block.touched, block.trials) == (False, 0, 4)


async def test_of_two_faults_both_have_to_fire(bench):
    bench.faults["second"] = {"fires": False}
    both = Experiment(name="both", doses=(Dose(fault="broken"), Dose(fault="second", target="secondary")))
    (block,) = await bench.run().experiment(both)
    assert (block.fired, block.touched) == (False, 4)


@pytest.mark.parametrize("doses", [("broken",), ("second", "broken")])
async def test_an_injection_that_fails_closes_its_block_with_the_error_and_sends_nothing(bench, doses):
    bench.faults["broken"] = {"fails": "entry"}
    experiment = Experiment(name="broken-primary", doses=tuple(Dose(fault=name) for name in doses))
    (block,) = await bench.run().experiment(experiment)
    assert (block.error, block.fired, block.trials) == ("NotApplicable: primary: no GPU", False, 0)
    assert bench.world.asked == []
    assert bench.world.on == []


async def test_an_injection_that_failed_is_tried_again_by_a_resumed_run_and_no_trial_is_lost(bench):
    bench.faults["broken"] = {"fails": "entry"}
    await bench.run().experiment(UNDER_FAULT)
    bench.faults.clear()
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.id, block.error, block.fired, block.trials) == ("broken-primary#0.1", None, True, 4)
    assert len(bench.folder.trials()) == 4


async def test_a_fault_that_cannot_be_undone_is_the_blocks_error_and_keeps_its_trials(bench):
    bench.faults["broken"] = {"fails": "exit"}
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.error, block.trials, block.fired) == ("UndoFailed: primary: it stays", 4, False)
    assert len(bench.folder.trials()) == 4


async def test_an_unknown_fault_or_target_is_raised_before_anything_is_sent(bench):
    with pytest.raises(BadFault, match="'brokn'"):
        await bench.run().experiment(Experiment(name="x", doses=(Dose(fault="brokn"),)))
    with pytest.raises(ConfigError, match="'third'"):
        await bench.run().experiment(Experiment(name="x", doses=(Dose(fault="broken", target="third"),)))
    assert bench.world.asked == []
    assert bench.folder.blocks() == []


async def test_a_backend_that_never_answers_again_is_not_recovered(bench):
    bench.world.down_after = 4
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.recovered, block.recovery_ms, block.steady) == (False, None, True)


async def test_a_fault_met_without_a_steady_state_before_says_so(bench):
    bench.world.down_after = 0
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert block.steady is False


async def test_another_process_after_the_fault_is_noticed(bench):
    run = bench.run()
    before = bench.world.pid

    def restart(name, trial):
        bench.world.pid = before + 1

    run.progress = restart
    (block,) = await run.experiment(UNDER_FAULT)
    assert block.same_process is False


async def test_an_exception_undoes_the_fault_and_closes_its_block_with_the_error(bench):
    bench.breaks[3] = RuntimeError("the client broke")
    with pytest.raises(ExceptionGroup):
        await bench.run().experiment(UNDER_FAULT)
    assert (bench.world.on, bench.world.undone) == ([], ["broken"])
    (block,) = bench.folder.blocks()
    assert (block.id, block.cut_short, block.fired) == ("broken-primary#0", True, False)
    assert block.error.startswith("cut short by RuntimeError: the client broke; ")
    assert block.trials == bench.folder.written(block.id)
    assert bench.folder.trials() == []
    assert bench.folder.open_blocks() == []


async def test_an_exception_after_the_last_answer_closes_the_block_too(bench):
    run = bench.run()

    def gone(name):
        if bench.world.undone:
            raise ConfigError("the stack is gone")
        return Target(name=name, url="http://127.0.0.1:2", pid=lambda: 7)

    run.stack.target = gone
    with pytest.raises(ConfigError):
        await run.experiment(UNDER_FAULT)
    (block,) = bench.folder.blocks()
    assert block.error == "cut short by ConfigError: the stack is gone; 4 answers of it do not count"


async def test_a_cancellation_undoes_the_fault_and_leaves_no_block(bench):
    bench.breaks[3] = hanging = asyncio.Event()
    task = asyncio.create_task(bench.run().experiment(UNDER_FAULT))
    await hanging.wait()
    assert bench.world.on == ["broken"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (bench.world.on, bench.world.undone) == ([], ["broken"])
    assert bench.folder.blocks() == []
    (left,) = bench.folder.open_blocks()
    assert (left.id, left.fault, left.target, left.trials) == ("broken-primary#0", "broken", "primary", 2)


async def test_a_block_that_ends_before_its_first_answer_is_known_all_the_same_until_it_is_whole(bench):
    bench.breaks[1] = hanging = asyncio.Event()
    task = asyncio.create_task(bench.run().experiment(UNDER_FAULT))
    await hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (left,) = bench.folder.known_blocks()
    assert (left.id, left.trials, left.cut_short) == ("broken-primary#0", 0, True)
    bench.breaks.clear()
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert bench.folder.known_blocks() == [block]
    assert (block.id, block.attempts, block.error) == ("broken-primary#0.1", 2, None)


async def test_a_block_that_was_cut_short_is_sent_again_whole_and_counts_once(bench):
    bench.breaks[3] = RuntimeError("killed")
    with pytest.raises(ExceptionGroup):
        await bench.run().experiment(UNDER_FAULT)
    bench.breaks.clear()
    (block,) = await bench.run().experiment(UNDER_FAULT)
    assert (block.trials, block.cut_short, block.error) == (4, False, None)
    ids = [trial.id for trial in bench.folder.trials()]
    assert sorted(ids) == sorted(set(ids))
    assert len(ids) == 4


async def test_a_resumed_run_sends_only_what_is_not_there_yet(bench):
    bench.block_size = 2
    bench.breaks[3] = RuntimeError("killed in the second block")
    with pytest.raises(ExceptionGroup):
        await bench.run().experiment(UNDER_FAULT)
    first = bench.world.asked[:2]
    bench.breaks.clear()
    bench.world.asked.clear()
    blocks = await bench.run().experiment(UNDER_FAULT)
    assert [block.id for block in blocks] == ["broken-primary#0", "broken-primary#2.1"]
    assert set(bench.world.asked).isdisjoint(first)
    assert len(bench.world.asked) == 2
    bench.world.asked.clear()
    assert await bench.run().experiment(UNDER_FAULT) == blocks
    assert bench.world.asked == []


async def test_the_same_seed_sends_the_same_requests_and_draws_the_same_faults(tmp_path):
    worlds = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        bench = Bench(RunFolder.create(tmp_path / name, {}), seed=seed)
        await bench.run().experiment(UNDER_FAULT)
        worlds.append(bench.world)
    assert (worlds[0].asked, worlds[0].bodies, worlds[0].draws) == (worlds[1].asked, worlds[1].bodies, worlds[1].draws)
    assert worlds[0].draws != worlds[2].draws


async def test_each_block_and_each_target_draws_for_itself(bench):
    bench.block_size = 2
    await bench.run().experiment(
        Experiment(name="x", doses=(Dose(fault="broken"), Dose(fault="broken", target="secondary")))
    )
    assert len(set(bench.world.draws)) == 4
