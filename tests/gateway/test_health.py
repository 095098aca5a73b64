"""Levels move one at a time, not within the dwell time, and never stay where nothing holds them."""

import math
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.health import HealthFacts, HealthMarks, HealthState, effects, halved_tokens, may_probe, step, triggers
from gateway.record import Level

MARKS = HealthMarks()
CALM = HealthFacts()
ORDER = [Level.HEALTHY, Level.DEGRADED, Level.CRITICAL]
FACTS = st.builds(
    HealthFacts,
    p99_ms=st.none() | st.floats(0, 5000),
    oom_per_min=st.floats(0, 10),
    device_memory_share=st.none() | st.floats(0, 1),
    ledger_occupancy=st.floats(0, 1),
    breaker_open=st.booleans(),
)


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (HealthFacts(p99_ms=2001), "p99_ms"),
        (HealthFacts(oom_per_min=3), "oom_per_min"),
        (HealthFacts(device_memory_share=0.951), "device_memory_share"),
        (HealthFacts(ledger_occupancy=0.81), "ledger_occupancy"),
        (HealthFacts(breaker_open=True), "breaker_open"),
    ],
)
def test_any_one_trigger_is_enough_to_degrade(facts: HealthFacts, name: str) -> None:
    assert triggers(facts, MARKS) == (name,)
    assert step(HealthState(), facts, 1.0, MARKS).level is Level.DEGRADED


def test_at_the_marks_nothing_happens_yet() -> None:
    facts = HealthFacts(p99_ms=2000, oom_per_min=2.9, device_memory_share=0.95, ledger_occupancy=0.80)
    assert step(HealthState(), facts, 1.0, MARKS).level is Level.HEALTHY


def test_a_critical_ledger_escalates_after_the_dwell_time_and_slowness_never_does() -> None:
    full, slow = HealthFacts(ledger_occupancy=0.96), HealthFacts(p99_ms=9000, breaker_open=True)
    state = step(HealthState(), full, 0.0, MARKS)
    assert step(state, full, 4.9, MARKS).level is Level.DEGRADED
    assert step(state, full, 5.0, MARKS).level is Level.CRITICAL
    state = HealthState()
    for second in range(600):
        state = step(state, slow, float(second), MARKS)
    assert state.level is Level.DEGRADED


def test_running_out_of_memory_for_long_is_critical() -> None:
    facts = HealthFacts(oom_per_min=3)
    state = step(HealthState(), facts, 0.0, MARKS)
    assert step(state, facts, 9.9, MARKS).level is Level.DEGRADED
    assert step(state, facts, 10.0, MARKS).level is Level.CRITICAL


def test_one_level_is_taken_back_after_the_cool_down_and_the_gap_counts_as_neither() -> None:
    critical = HealthState(level=Level.CRITICAL, since_s=0.0)
    between = HealthFacts(p99_ms=1900)
    state = step(critical, CALM, 10.0, MARKS)
    state = step(state, between, 20.0, MARKS)
    state = step(state, CALM, 30.0, MARKS)
    assert step(state, CALM, 59.9, MARKS).level is Level.CRITICAL
    state = step(state, CALM, 60.0, MARKS)
    assert state.level is Level.DEGRADED
    assert step(state, CALM, 90.0, MARKS).level is Level.HEALTHY


def test_a_level_just_taken_back_is_not_left_within_the_dwell_time() -> None:
    state = step(HealthState(), replace(CALM, ledger_occupancy=0.9), 0.0, MARKS)
    state = step(step(state, CALM, 1.0, MARKS), CALM, 31.0, MARKS)
    assert state.level is Level.HEALTHY
    again = step(state, replace(CALM, ledger_occupancy=0.9), 31.1, MARKS)
    assert again.level is Level.HEALTHY
    assert step(again, replace(CALM, ledger_occupancy=0.9), 36.0, MARKS).level is Level.DEGRADED


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(steps=st.lists(st.tuples(st.floats(0, 20), FACTS), max_size=30))
def test_the_level_moves_one_step_at_a_time_and_never_twice_within_the_dwell_time(
    steps: list[tuple[float, HealthFacts]],
) -> None:
    state, now_s, moved_s = HealthState(), 0.0, float("-inf")
    for passed_s, facts in steps:
        now_s += passed_s
        after = step(state, facts, now_s, MARKS)
        distance = abs(ORDER.index(after.level) - ORDER.index(state.level))
        assert distance <= 1
        if distance:
            assert now_s - moved_s >= MARKS.dwell_s
            moved_s = now_s
        state = after


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(steps=st.lists(st.tuples(st.floats(0, 20), FACTS), max_size=30))
def test_it_is_never_stuck(steps: list[tuple[float, HealthFacts]]) -> None:
    state, now_s = HealthState(), 0.0
    for passed_s, facts in steps:
        now_s += passed_s
        state = step(state, facts, now_s, MARKS)
    for _ in range(70):
        now_s += 1.0
        state = step(state, CALM, now_s, MARKS)
    assert state.level is Level.HEALTHY


def test_while_critical_one_request_goes_through_every_few_seconds() -> None:
    critical = HealthState(level=Level.CRITICAL, since_s=10.0)
    assert may_probe(HealthState(), now_s=0.0, last_probe_s=None, marks=MARKS)
    assert not may_probe(critical, now_s=14.9, last_probe_s=None, marks=MARKS)
    assert may_probe(critical, now_s=15.0, last_probe_s=None, marks=MARKS)
    assert not may_probe(critical, now_s=16.0, last_probe_s=15.0, marks=MARKS)


@pytest.mark.parametrize(("asked", "given_"), [(None, 128), (1, 1), (20, 16), (100, 50), (256, 128), (4096, 128)])
def test_max_tokens_is_halved_between_16_and_128_and_never_raised(asked: int | None, given_: int) -> None:
    assert halved_tokens(asked) == given_
    assert effects(Level.DEGRADED, max_tokens=asked).max_tokens == given_
    assert effects(Level.HEALTHY, max_tokens=asked).max_tokens == asked


def test_only_critical_refuses_new_work() -> None:
    assert [effects(level, max_tokens=None).refuse_new_work for level in ORDER] == [False, False, True]
    assert [effects(level, max_tokens=None).small_model_first for level in ORDER] == [False, True, True]
    assert [effects(level, max_tokens=None).speculative_decoding for level in ORDER] == [True, False, False]


@pytest.mark.parametrize(
    "bad",
    [
        *({"ledger_high": 0.96}, {"ledger_high": 0.0}, {"ledger_critical": 1.1}, {"device_memory_share": math.nan}),
        *({"recover_share": 0.0}, {"p99_ms": 0.0}, {"p99_ms": math.nan}, {"oom_per_min": 0.0}),
        *({name: -1.0} for name in ("dwell_s", "cool_down_s", "escalate_s", "probe_s")),
    ],
)
def test_impossible_marks_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, HealthMarks)
