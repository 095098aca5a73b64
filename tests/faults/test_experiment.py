"""Experiments: what a file says, what is refused and how, and the events that a seed plans."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.errors import BadExperiment
from faults.experiment import Action, Between, ChaosExperiment, Load, Phases, Steps, StopConditions, grow
from faults.experiment_file import load_experiment, parse_experiment
from faults.experiment_plan import Change, Phase, plan
from faults.reach import Reach

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "experiments").glob("*.yaml"))
SMALL = """
title: A small one
method:
  - type: action
    name: slow
    provider: {type: fault, fault: latency, arguments: {mean_ms: 100}}
    phases: {steady: 1, hold: 2, recover: 1}
"""


def slow(**more: object) -> Action:
    given_ = {"name": "slow", "fault": "latency", "arguments": {"mean_ms": 100}, **more}
    return Action(**given_)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_each_example_is_read_and_planned(path: Path) -> None:
    experiment = load_experiment(path)
    assert plan(3, experiment).requests > 0


def test_a_file_and_code_say_the_same() -> None:
    assert parse_experiment(SMALL) == ChaosExperiment(
        title="A small one", method=(slow(phases=Phases(steady=1, hold=2, recover=1)),)
    )
    assert parse_experiment(SMALL).name == "a-small-one"


def test_the_whole_of_a_file_is_taken_over() -> None:
    found = load_experiment(next(path for path in EXAMPLES if path.stem == "growing-latency"))
    assert (found.seed, found.reach.share, found.faults) == (7, 0.8, "latency+token_drop_answer")
    assert found.stop == StopConditions(failed_answers=0, latency_s=90, unrecovered_s=60, duration_s=900)
    assert found.load == Load(concurrency=1, stream_share=0.3)
    assert [probe.tolerance for probe in found.probes] == [("healthy",), ("200",)]
    first, second = found.method
    assert first.arguments == {"mean_ms": Steps(values=(200, 15100, 30000)), "jitter_ms": Between(low=0, high=50)}
    assert (first.background, second.background, second.pause_after_s) == (True, False, 1)


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("title: A small one", "titel: A small one", ["line 2", "titel", "did you mean title"]),
        ("title: A small one\n", "", ["title is missing"]),
        ("title: A small one", "title: 5", ["line 2: title: 5 must be a text"]),
        ("type: action", "type: acton", ["line 4", "method[0].type", "'acton' must be action", "did you mean action"]),
        ("hold: 2", "hold: -2", ["line 7", "method[0].phases.hold", "-2 must be a whole number between 0"]),
        ("hold: 2", "hold: two", ["'two' must be a whole number"]),
        ("hold: 2", "hold: 0", ["line 7", "ramp and hold are both 0", "give hold"]),
        ("hold: 2", "hold: 2, hold: 3", ["method[0].phases.hold", "given twice"]),
        ("hold: 2", "holding: 2", ["holding", "did you mean hold"]),
        ("hold: 2", "ramp: 2", ["ramp is 2, but no argument grows"]),
        ("fault: latency", "fault: latncy", ["line 4", "unknown fault 'latncy'", "did you mean latency"]),
        ("mean_ms: 100", "mean_sm: 100", ["unknown parameter 'mean_sm'", "did you mean mean_ms"]),
        ("mean_ms: 100", "mean_ms: -1", ["mean_ms is -1, must be at least 0"]),
        ("mean_ms: 100", "mean_ms: {from: 1, to: 5}", ["line 6", "arguments.mean_ms", "{from: a, to: b, steps: n}"]),
        ("mean_ms: 100", "mean_ms: {from: 1, to: 5, steps: 1}", ["1 must be a whole number between 2"]),
        ("mean_ms: 100", "mean_ms: {steps: [1, 2, 3]}", ["ramp is 0, must be at least 3"]),
        ("mean_ms: 100", "mean_ms: {between: [5, 1]}", ["the first has to be the smaller one"]),
        ("mean_ms: 100", "mean_ms: true", ["True must be a number or a text"]),
        ("method:", "configuration: {blast-radius: {share: 1.5}}\nmethod:", ["share", "1.5 must be a number between"]),
        ("method:", "configuration: {blast-radius: {tenants: [a]}}\nmethod:", ["tenant 'a' sends nothing"]),
        (
            "method:",
            "configuration: {load: {tenants: [a]}, blast-radius: {tenants: [a]}}\nmethod:",
            ["connections, which have no tenant"],
        ),
        ("method:", "configuration: {stop-conditions: {latncy: 3}}\nmethod:", ["did you mean latency"]),
        ("title: A small one", "title: [", ["not YAML"]),
        (SMALL, "", ["is empty"]),
        (SMALL, "- 1", ["line 1", "must be a table"]),
        (SMALL, "title: x\nmethod: []", ["line 1: method is empty"]),
    ],
)
def test_a_wrong_file_is_refused_with_line_field_value_and_what_would_be_right(
    tmp_path: Path, was: str, now: str, words: list[str]
) -> None:
    assert was in SMALL
    file = tmp_path / "wrong.yaml"
    file.write_text(SMALL.replace(was, now), "utf-8")
    with pytest.raises(BadExperiment) as refused:
        load_experiment(file)
    assert all(word in str(refused.value) for word in ["wrong.yaml", *words]), refused.value


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(BadExperiment, match=r"nowhere\.yaml: cannot be read"):
        load_experiment(Path("nowhere.yaml"))


def test_a_fault_that_grows_is_resized_at_equal_distances_and_keeps_its_last_size() -> None:
    action = slow(arguments={"mean_ms": grow(100, 400, 4)}, phases=Phases(steady=2, ramp=8, hold=3, recover=1))
    timeline = plan(1, ChaosExperiment(title="t", method=(action,)))
    found = [(event.at, event.change, (event.params or {}).get("mean_ms")) for event in timeline.events]
    assert found == [
        (2, Change.ON, 100), (4, Change.RESIZE, 200), (6, Change.RESIZE, 300), (8, Change.RESIZE, 400),
        (13, Change.OFF, None),
    ]  # fmt: skip
    expected = [Phase.STEADY] * 2 + [Phase.RAMP] * 8 + [Phase.HOLD] * 3 + [Phase.RECOVER]
    assert list(timeline.phases) == expected


def test_a_background_action_lets_the_next_begin_with_it_and_a_third_waits_for_both() -> None:
    method = (
        slow(phases=Phases(hold=6), background=True),
        Action(name="cut", fault="proxy_down", phases=Phases(steady=2, hold=2)),
        Action(name="blur", fault="blur", phases=Phases(hold=1)),
    )
    timeline = plan(1, ChaosExperiment(title="t", method=method))
    assert [(event.at, event.change, event.action) for event in timeline.events] == [
        (0, Change.ON, 0), (2, Change.ON, 1), (4, Change.OFF, 1), (6, Change.OFF, 0), (6, Change.ON, 2),
        (7, Change.OFF, 2),
    ]  # fmt: skip


LENGTHS = st.builds(
    Phases, steady=st.integers(0, 5), ramp=st.just(0), hold=st.integers(1, 5), recover=st.integers(0, 5)
)


@given(lengths=st.lists(st.tuples(LENGTHS, st.booleans()), min_size=1, max_size=5), seed=st.integers(0, 9))
def test_every_fault_goes_on_once_and_off_after_it_within_the_timeline(
    lengths: list[tuple[Phases, bool]], seed: int
) -> None:
    method = tuple(
        Action(name=str(place), fault="blur", phases=phases, background=background)
        for place, (phases, background) in enumerate(lengths)
    )
    experiment = ChaosExperiment(title="t", method=method)
    timeline = plan(seed, experiment)
    assert timeline == plan(seed, experiment)
    for place in range(len(method)):
        (on,) = [event.at for event in timeline.events if (event.action, event.change) == (place, Change.ON)]
        (off,) = [event.at for event in timeline.events if (event.action, event.change) == (place, Change.OFF)]
        assert 0 <= on < off <= timeline.requests
    assert [event.at for event in timeline.events] == sorted(event.at for event in timeline.events)


def test_a_drawn_value_is_the_seeds_and_lies_within_its_bounds() -> None:
    action = slow(arguments={"mean_ms": Between(low=100, high=900)})
    drawn = [plan(seed, ChaosExperiment(title="t", method=(action,))).events[0].params for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(params is not None and 100 <= params["mean_ms"] <= 900 for params in drawn)  # type: ignore[operator]


def test_a_share_of_connections_is_the_blast_radius_of_a_network_fault_and_a_kill_has_none() -> None:
    reach = Reach(share=0.5)
    halved = ChaosExperiment(title="t", method=(slow(arguments={"mean_ms": 1, "toxicity": 0.4}),), reach=reach)
    assert (plan(1, halved).events[0].params or {})["toxicity"] == pytest.approx(0.2)
    with pytest.raises(BadExperiment, match="kill hits the whole backend"):
        plan(1, ChaosExperiment(title="t", method=(Action(name="k", fault="kill"),), reach=reach))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ChaosExperiment(title=" ", method=(slow(),)),
        lambda: ChaosExperiment(title="t", method=(slow(), slow())),
        lambda: Load(concurrency=0),
        lambda: Load(stream_share=2),
        lambda: StopConditions(latency_s=-1),
        lambda: Phases(hold=-1),
        lambda: Steps(values=(1,)),
        lambda: grow(1, 2, 1),
        lambda: slow(arguments={"mean_ms": grow(1, 9, 3), "jitter_ms": grow(1, 9, 2)}, phases=Phases(ramp=9)),
    ],
)
def test_an_impossible_experiment_cannot_be_built(wrong) -> None:
    with pytest.raises(BadExperiment):
        wrong()
