"""Driving a chaos experiment: faults change between requests, stop conditions end them, the block tells."""

from dataclasses import dataclass, field

import pytest
from test_run import Bench, Client, Fault, World

from faults.errors import UndoFailed
from faults.experiment import Action, ChaosExperiment, Load, Phases, Probe, Probing, StopConditions, grow
from faults.reach import Reach
from harness.client import Observation
from harness.errors import StillOn
from harness.play import play
from harness.run import Run
from harness.stop import Tally, broken
from harness.store import RunFolder


@dataclass(frozen=True)
class Sized(Fault):
    """Says with which parameters and within which blast radius it was injected."""

    params: dict = field(default_factory=dict)
    said: list = field(default_factory=list)

    def inject(self, target, *, clock, rng):
        self.said.append((self.label, dict(self.params), target.reach, rng.random()))
        return super().inject(target, clock=clock, rng=rng)


@dataclass
class Asked(Client):
    """Also keeps the headers, what was on at each request, and fails where it is told to."""

    met: list = field(default_factory=list)
    headers: list = field(default_factory=list)
    fails_at: int | None = None
    slow_at: int | None = None

    async def ask(self, body, *, trial_id, headers=None) -> Observation:
        seen = await super().ask(body, trial_id=trial_id)
        if trial_id.startswith("probe/"):
            return seen
        self.met.append((trial_id, tuple(sorted(self.world.on))))
        self.headers.append(dict(headers or {}))
        if len(self.met) == self.fails_at:
            return Observation(status=503, complete=True, latency_ms=5)
        if len(self.met) == self.slow_at:
            seen.latency_ms = 9000.0
        return seen


@dataclass
class Stage:
    """A run over fakes."""

    bench: Bench
    run: Run
    client: Asked
    said: list

    @property
    def world(self) -> World:
        return self.bench.world


@pytest.fixture
def stage(tmp_path) -> Stage:
    bench = Bench(RunFolder.create(tmp_path / "run", {"seed": 3}))
    run = bench.run()
    run.client = client = Asked(bench.world, run.clock)
    said: list = []
    run.build_fault = lambda name, params: Sized(
        bench.world, name, **bench.faults.get(name, {}), params=dict(params), said=said
    )
    return Stage(bench, run, client, said)


def an_experiment(*method: Action, **more) -> ChaosExperiment:
    return ChaosExperiment(title="An experiment", method=method, **more)


LATENCY = {"mean_ms": 100}
SLOW = Action(
    name="slow", fault="latency", arguments=LATENCY, phases=Phases(steady=1, hold=2, recover=1), background=True
)
BLUR = Action(name="blur", fault="blur", phases=Phases(steady=2, hold=3))


async def test_each_request_meets_the_faults_of_its_place_and_says_its_phase(stage):
    block = await play(stage.run, an_experiment(SLOW, BLUR))
    assert [on for _, on in stage.client.met] == [(), ("latency",), ("blur", "latency"), ("blur",), ("blur",)]
    trials = stage.bench.folder.trials()
    assert [trial.phase for trial in trials] == ["steady", "hold", "hold", "hold", "hold"]
    assert [trial.fault for trial in trials] == ["none", *["latency+blur"] * 4]
    assert [trial.on for trial in trials] == ["", "latency", "latency+blur", "blur", "blur"]
    assert (block.trials, block.fired, block.steady, block.recovered, block.error) == (5, True, True, True, None)
    assert block.detection_ms == pytest.approx(250)
    assert stage.world.on == []


async def test_a_fault_that_grows_is_replaced_without_a_gap_and_draws_the_same(stage):
    grows = Action(
        name="g", fault="latency", arguments={"mean_ms": grow(100, 300, 3)}, phases=Phases(ramp=3, hold=1, recover=1)
    )
    await play(stage.run, an_experiment(grows))
    assert [params["mean_ms"] for _, params, _, _ in stage.said] == [100, 200, 300]
    assert len({draw for *_, draw in stage.said}) == 1
    assert [on for _, on in stage.client.met] == [("latency",)] * 4 + [()]
    assert [trial.phase for trial in stage.bench.folder.trials()] == ["ramp", "ramp", "ramp", "hold", "recover"]


async def test_items_come_round_again_and_each_trial_has_its_own_id(stage):
    await play(stage.run, an_experiment(Action(name="b", fault="blur", phases=Phases(hold=14))))
    ids = [trial_id for trial_id, _ in stage.client.met]
    assert len(set(ids)) == 14
    assert sum(trial_id.endswith("~1") for trial_id in ids) == 6


async def test_a_broken_stop_condition_ends_the_injection_and_says_so(stage):
    stage.client.fails_at = 2
    block = await play(stage.run, an_experiment(BLUR, stop=StopConditions(failed_answers=0)))
    assert block.stopped == "1 failed answers, allowed 0"
    assert block.trials == 2
    assert stage.world.on == []
    assert block.recovered


async def test_without_a_steady_state_nothing_is_injected(stage):
    stage.world.down_after = 0
    block = await play(stage.run, an_experiment(BLUR))
    assert stage.said == []
    stage.world.down_after = None
    again = await play(stage.run, an_experiment(BLUR))
    assert again.steady, "a resumed run tries again what could not begin"
    assert (block.steady, block.trials, block.fired) == (False, 0, False)
    assert "primary answers" in (block.error or "")


async def test_the_next_action_waits_for_the_steady_state_where_that_is_a_condition(stage):
    stage.world.down_after = 2
    first = Action(name="first", fault="blur", phases=Phases(hold=2))
    then = Action(name="then", fault="latency", arguments=LATENCY, phases=Phases(hold=2))
    block = await play(stage.run, an_experiment(first, then, stop=StopConditions(unrecovered_s=5)))
    assert "not back within 5 s" in (block.stopped or "")
    assert [label for label, *_ in stage.said] == ["blur"]
    assert block.recovered is False


async def test_pauses_are_slept_and_count_as_no_request(stage):
    paused = Action(name="p", fault="blur", phases=Phases(hold=1), pause_before_s=30, pause_after_s=12)
    began_s = stage.run.now_s()
    block = await play(stage.run, an_experiment(paused))
    assert stage.run.now_s() - began_s >= 42
    assert block.trials == 1


async def test_each_request_has_a_tenant_and_each_fault_the_blast_radius(stage):
    reach = Reach(tenants=("acme",), share=0.5)
    await play(stage.run, an_experiment(BLUR, reach=reach, load=Load(tenants=("acme", "globex"))))
    assert {headers["x-tenant-id"] for headers in stage.client.headers} == {"acme", "globex"}
    assert {(found.tenants, found.share, found.seed) for _, _, found, _ in stage.said} == {(("acme",), 0.5, "3")}


async def test_an_exception_closes_the_block_with_the_error_and_the_next_run_begins_it_again(stage):
    asked, stage.run.client.ask = stage.run.client.ask, None
    with pytest.raises(TypeError):
        await play(stage.run, an_experiment(BLUR))
    (block,) = stage.bench.folder.blocks()
    assert (block.cut_short, block.fault) == (True, "blur")
    assert "cut short by TypeError" in block.error
    stage.run.client.ask = asked
    again = await play(stage.run, an_experiment(BLUR))
    assert (again.error, again.fired, again.attempts) == (None, True, 2)
    assert stage.bench.folder.known_blocks() == [again]


async def test_an_experiment_that_is_in_the_folder_is_not_run_again(stage):
    first = await play(stage.run, an_experiment(BLUR))
    before = list(stage.client.met)
    assert await play(stage.run, an_experiment(BLUR)) == first
    assert stage.client.met == before


async def test_the_same_seed_sends_the_same_requests(tmp_path, stage):
    await play(stage.run, an_experiment(SLOW, BLUR, seed=5))
    other = Bench(RunFolder.create(tmp_path / "other", {})).run()
    other.client = again = Asked(World(), other.clock)
    other.build_fault = lambda name, params: Sized(again.world, name, params=dict(params), said=[])
    await play(other, an_experiment(SLOW, BLUR, seed=5))
    assert again.met == stage.client.met


async def test_nothing_is_injected_on_top_of_a_fault_that_could_not_be_undone(stage):
    stage.bench.faults["blur"] = {"fails": "exit"}
    block = await play(stage.run, an_experiment(BLUR))
    assert (block.error or "").startswith(UndoFailed.__name__)
    with pytest.raises(StillOn, match="it stays"):
        await play(stage.run, ChaosExperiment(title="Another", method=(SLOW,)))


async def test_an_action_that_met_nothing_leaves_the_block_unproved(stage):
    stage.bench.faults["blur"] = {"fires": False}
    block = await play(stage.run, an_experiment(SLOW, BLUR))
    assert block.fired is False


async def test_an_http_probe_that_nobody_answers_is_no_steady_state(stage):
    probe = Probe(name="ready", by=Probing.HTTP, tolerance=("200",), url="${gateway_url}/readyz", within_s=1)
    block = await play(stage.run, an_experiment(BLUR, probes=(probe,)))
    assert block.steady is False
    assert "ready: not 200 within 1 s" in (block.error or "")


def test_the_first_broken_condition_is_named_with_its_bound():
    conditions = StopConditions(failed_answers=1, latency_s=2.0, duration_s=10)
    assert broken(conditions, Tally(began_s=0, failed=1, slowest_s=2.0), now_s=10) is None
    assert broken(conditions, Tally(began_s=0, failed=2), now_s=0) == "2 failed answers, allowed 1"
    assert broken(conditions, Tally(began_s=0, slowest_s=2.5), now_s=0) == "an answer took 2.5 s, allowed 2 s"
    assert broken(conditions, Tally(began_s=0), now_s=11) == "it took longer than 10 s"
    assert broken(StopConditions(), Tally(began_s=0, failed=9, slowest_s=99), now_s=1) is None
