"""The breaker of one backend: its table, what trips it, and who may probe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.breaker import TRANSITIONS, Breaker, IllegalTransition, Signal, State, step
from gateway.errors import Blame
from gateway.policy import Breaker as Marks


class FakeClock:
    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, delay_s: float) -> None:
        self.time_s += delay_s


def made(**marks) -> tuple[Breaker, FakeClock]:
    clock = FakeClock()
    values = Marks(**marks)
    return Breaker(lambda: values, clock), clock


def fail(breaker: Breaker, times: int, blame: Blame = Blame.FAILURE) -> None:
    for _ in range(times):
        permit = breaker.acquire()
        if permit is not None:
            permit.failed(blame)


def succeed(breaker: Breaker, times: int, duration_s: float = 0.1) -> None:
    for _ in range(times):
        permit = breaker.acquire()
        if permit is not None:
            permit.succeeded(duration_s)


def test_every_pair_of_state_and_signal_is_in_the_table_or_refused():
    for state in State:
        for signal in Signal:
            if (state, signal) in TRANSITIONS:
                assert step(state, signal) in State
            else:
                with pytest.raises(IllegalTransition):
                    step(state, signal)


def test_three_failures_in_a_row_open_it_and_a_success_between_starts_the_count_again():
    breaker, _ = made()
    fail(breaker, 2)
    succeed(breaker, 1)
    fail(breaker, 2)
    assert breaker.state is State.CLOSED
    fail(breaker, 1)
    assert breaker.state is State.OPEN
    assert breaker.acquire() is None


def test_a_timeout_rate_over_its_share_opens_it_only_from_the_least_number_of_calls_on():
    breaker, _ = made(min_calls=20, timeout_share=0.05)
    fail(breaker, 2, Blame.TIMEOUT)
    succeed(breaker, 17)
    assert breaker.state is State.CLOSED
    fail(breaker, 1, Blame.TIMEOUT)
    assert breaker.state is State.OPEN


def test_a_timeout_rate_at_its_share_leaves_it_closed():
    breaker, _ = made(min_calls=20, timeout_share=0.05)
    succeed(breaker, 19)
    fail(breaker, 1, Blame.TIMEOUT)
    assert breaker.state is State.CLOSED


def test_slow_calls_count_as_timeouts():
    breaker, _ = made(min_calls=4, slow_s=1.0)
    succeed(breaker, 3)
    succeed(breaker, 1, duration_s=1.5)
    assert breaker.state is State.OPEN


def test_calls_older_than_the_window_are_forgotten():
    breaker, clock = made(min_calls=4, window_s=10.0)
    fail(breaker, 1, Blame.TIMEOUT)
    clock.time_s = 11.0
    succeed(breaker, 4)
    fail(breaker, 0)
    assert breaker.state is State.CLOSED


@pytest.mark.parametrize("blame", [Blame.NEUTRAL, Blame.BACKPRESSURE])
def test_the_clients_own_faults_and_backpressure_are_neutral(blame):
    breaker, _ = made()
    fail(breaker, 100, blame)
    assert breaker.state is State.CLOSED


def test_a_half_open_breaker_admits_a_bounded_number_of_probes_at_once():
    breaker, clock = made(half_open_probes=2, half_open_successes=2)
    fail(breaker, 3)
    clock.time_s = 29.9
    assert breaker.acquire() is None
    clock.time_s = 30.0
    probes = [breaker.acquire() for _ in range(5)]
    assert [probe is not None for probe in probes] == [True, True, False, False, False]
    probes[0].succeeded(0.1)
    assert breaker.state is State.HALF_OPEN
    probes[1].succeeded(0.1)
    assert breaker.state is State.CLOSED


def test_a_failed_probe_opens_it_again_for_the_whole_time():
    breaker, clock = made()
    fail(breaker, 3)
    clock.time_s = 30.0
    fail(breaker, 1)
    assert breaker.state is State.OPEN
    assert breaker.opens_again_in_s() == 30.0


def test_a_cancelled_probe_makes_room_for_the_next():
    breaker, clock = made()
    fail(breaker, 3)
    clock.time_s = 30.0
    breaker.acquire().cancelled()
    assert breaker.acquire() is not None


def test_a_call_from_before_the_breaker_moved_says_nothing_about_now():
    breaker, clock = made()
    late = breaker.acquire()
    fail(breaker, 3)
    clock.time_s = 30.0
    probe = breaker.acquire()
    late.failed(Blame.FAILURE)
    assert breaker.state is State.HALF_OPEN
    probe.succeeded(0.1)
    late.failed(Blame.FAILURE)
    assert breaker.state is State.CLOSED


@given(st.lists(st.tuples(st.sampled_from([None, *Blame]), st.floats(0, 40)), max_size=60))
def test_whatever_happens_it_is_never_stuck_open(story):
    breaker, clock = made()
    for blame, pause_s in story:
        clock.time_s += pause_s
        permit = breaker.acquire()
        if permit is not None:
            permit.succeeded(0.1) if blame is None else permit.failed(blame)
    clock.time_s += 30.0
    succeed(breaker, 1)
    assert breaker.state is State.CLOSED
