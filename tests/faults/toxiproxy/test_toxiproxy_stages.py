"""The toxics as pure functions of items and time."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.errors import BadFault
from faults.toxiproxy.ending import LimitData, ResetPeer, Timeout
from faults.toxiproxy.pacing import Bandwidth, Latency, Slicer, SlowClose
from faults.toxiproxy.stage import End, Evidence, Item, Stage, Start, Step, Touch
from faults.toxiproxy.toxics import EFFECTS, Effect, attributes, read_effect


def begin(effect: Effect, *, seed: int = 0, flowing: bool = False, evidence: Evidence | None = None) -> Stage:
    return effect.stage(Start(0.0, Random(seed), Touch(evidence or Evidence()), flowing))


def run_out(stage: Stage, now_s: float = 0.0) -> list[tuple[float, Item]]:
    """Everything the stage still lets through, with the times, asked only when it wants to be asked."""
    let_through: list[tuple[float, Item]] = []
    while True:
        out, wake_s = stage.poll(now_s)
        let_through += [(now_s, item) for item in out]
        if wake_s is None:
            return let_through
        now_s = max(now_s, wake_s)


def test_latency_delays_each_chunk_from_its_own_arrival():
    stage = begin(Latency(latency=100))
    stage.feed(b"a", 0.0)
    stage.feed(b"b", 0.03)
    assert stage.poll(0.099) == Step([], 0.1)
    assert stage.poll(0.1) == Step([b"a"], 0.13)
    assert stage.poll(0.13) == Step([b"b"], None)


@given(st.integers(0, 500), st.integers(0, 500), st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers())
def test_jitter_stays_within_its_bounds_and_keeps_the_order(latency, jitter, arrivals, seed):
    stage = begin(Latency(latency=latency, jitter=jitter), seed=seed)
    arrivals.sort()
    for number, arrival_s in enumerate(arrivals):
        stage.feed(bytes([number]), arrival_s)
    passed = run_out(stage, arrivals[-1])
    assert b"".join(item for _, item in passed) == bytes(range(len(arrivals)))
    assert all(when_s <= max(arrivals[-1], arrivals[-1] + (latency + jitter) / 1000) for when_s, _ in passed)


def test_an_end_is_not_delayed_by_latency_beyond_the_bytes_before_it():
    stage = begin(Latency(latency=100))
    stage.feed(b"a", 0.0)
    stage.feed(End.FIN, 0.05)
    assert stage.poll(0.1) == Step([b"a", End.FIN], None)


def test_a_changed_latency_takes_effect_on_what_is_held():
    stage = begin(Latency(latency=10_000))
    stage.feed(b"a", 0.0)
    assert stage.poll(0.0).wake_s == 10.0
    stage.effect = Latency(latency=20)
    assert stage.poll(0.02) == Step([b"a"], None)


@given(st.integers(1, 10_000), st.lists(st.integers(1, 40_000), min_size=1, max_size=20))
def test_bandwidth_takes_exactly_bytes_over_rate(rate, sizes):
    stage = begin(Bandwidth(rate=rate))
    for length in sizes:
        stage.feed(b"x" * length, 0.0)
    passed = run_out(stage)
    assert sum(len(item) for _, item in passed) == sum(sizes)
    assert passed[-1][0] == pytest.approx(sum(sizes) / (rate * 1000), rel=1e-6)


def test_a_late_timer_does_not_slow_the_line_down():
    stage = begin(Bandwidth(rate=1))
    stage.feed(b"x" * 100, 0.0)
    out, wake_s = stage.poll(0.055)  # asked 5 ms late
    assert sum(map(len, out)) == 50
    assert wake_s == pytest.approx(0.06)


def test_slow_close_delays_the_end_and_nothing_else():
    stage = begin(SlowClose(delay=200))
    stage.feed(b"a", 0.0)
    stage.feed(End.FIN, 0.5)
    assert stage.poll(0.5) == Step([b"a"], 0.7)
    assert stage.poll(0.7) == Step([End.FIN], None)


@given(
    st.integers(1, 50), st.integers(0, 49), st.binary(min_size=1, max_size=2000), st.integers(0, 1000), st.integers()
)
def test_slices_have_the_sizes_and_the_distance_that_were_asked_for(average, variation, data, delay, seed):
    variation = min(variation, average - 1)
    stage = begin(Slicer(average_size=average, size_variation=variation, delay=delay), seed=seed)
    stage.feed(data, 0.0)
    passed = run_out(stage)
    assert b"".join(item for _, item in passed) == data
    assert all(average - variation <= len(item) <= average + variation for _, item in passed[:-1])
    assert [when_s for when_s, _ in passed] == pytest.approx([n * delay / 1e6 for n in range(len(passed))])


def test_timeout_lets_nothing_pass_and_closes_after_its_time():
    evidence = Evidence()
    stage = begin(Timeout(timeout=50), evidence=evidence)
    stage.feed(b"abc", 0.0)
    assert stage.poll(0.049) == Step([], 0.05)
    assert stage.poll(0.05) == Step([End.CLOSE], None)
    assert (evidence.connections, evidence.bytes) == (1, 3)


def test_timeout_zero_never_closes_but_its_removal_does():
    stage = begin(Timeout(timeout=0))
    assert stage.poll(1e9) == Step([], None)
    assert stage.flush() == [End.CLOSE]


def test_reset_waits_for_the_first_item_of_a_fresh_connection():
    stage = begin(ResetPeer(timeout=50))
    assert stage.poll(10.0) == Step([], None)
    stage.feed(b"a", 10.0)
    assert stage.poll(10.0) == Step([], 10.05)
    assert stage.poll(10.05) == Step([End.RESET], None)


def test_reset_counts_from_the_toxic_on_a_live_connection():
    assert begin(ResetPeer(timeout=0), flowing=True).poll(0.0) == Step([End.RESET], None)


def test_a_reset_removed_in_time_gives_back_what_it_held():
    stage = begin(ResetPeer(timeout=50))
    stage.feed(b"a", 0.0)
    stage.poll(0.0)
    assert stage.flush() == [b"a"]


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1), st.integers(0, 100))
def test_limit_data_passes_exactly_its_bytes_then_closes(chunks, limit):
    stage = begin(LimitData(bytes=limit))
    for chunk in chunks:
        stage.feed(chunk, 0.0)
    whole = b"".join(chunks)
    out = stage.poll(0.0).out
    assert b"".join(item for item in out if isinstance(item, bytes)) == whole[:limit]
    assert (out[-1] is End.CLOSE) == (len(whole) >= limit)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("slicer", {"average_size": 0}),
        ("slicer", {}),
        ("slicer", {"average_size": 10, "size_variation": 10}),
        ("slicer", {"average_size": 10, "delay": -1}),
        ("bandwidth", {"rate": 0}),
        ("bandwidth", {"rate": -1}),
        ("bandwidth", {}),
        ("latency", {"latencey": 1}),
        ("latency", {"latency": -1}),
        ("latency", {"latency": 1.5}),
        ("latency", {"latency": "1"}),
        ("latency", {"latency": True}),
        ("latency", {"latency": 2**63}),
        ("timeout", {"timeout": -1}),
        ("reset_peer", {"timeout": -1}),
        ("slow_close", {"delay": -1}),
        ("limit_data", {"bytes": -1}),
        ("noop", {"latency": 1}),
    ],
)
def test_impossible_attributes_are_refused(kind, given):
    with pytest.raises(BadFault):
        read_effect(EFFECTS[kind], given)


def test_attributes_that_are_not_given_stay_as_they_were():
    before = Latency(latency=5, jitter=2)
    assert attributes(read_effect(Latency, {"Latency": 7, "jitter": None}, before)) == {"latency": 7, "jitter": 2}
