"""Work that may be left undone takes no more than its share of the time."""

import pytest

from gateway.answers.time_budget import TimeBudget


class Moving:
    """A clock by hand."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def worked(budget, clock, *, share, took_s, pause_s, times):
    """How often work could begin."""
    done = 0
    for _ in range(times):
        if budget.begin(share):
            clock.now_s += took_s
            budget.end()
            done += 1
        clock.now_s += pause_s
    return done


def test_work_that_takes_less_than_its_share_is_always_done():
    clock = Moving()
    assert worked(TimeBudget(clock, clock), clock, share=0.05, took_s=0.001, pause_s=0.03, times=5000) == 5000


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_under_load_it_gets_its_share_of_the_time_once_what_was_saved_up_is_spent(share):
    clock = Moving()
    budget = TimeBudget(clock, clock)
    worked(budget, clock, share=share, took_s=0.001, pause_s=0.0005, times=5000)
    began_s = clock.now_s
    done = worked(budget, clock, share=share, took_s=0.001, pause_s=0.0005, times=20_000)
    assert done * 0.001 / (clock.now_s - began_s) == pytest.approx(share, rel=0.02)


def test_a_quiet_time_saves_up_one_second_and_no_more():
    clock = Moving()
    budget = TimeBudget(clock, clock)
    clock.now_s += 3600.0
    assert worked(budget, clock, share=0.05, took_s=0.1, pause_s=0.0, times=100) == 11
    clock.now_s += 3600.0
    assert worked(budget, clock, share=0.0, took_s=0.1, pause_s=0.0, times=100) == 0


def test_without_a_share_only_what_there_was_at_the_start_is_spent():
    clock = Moving()
    assert worked(TimeBudget(clock, clock), clock, share=0.0, took_s=0.3, pause_s=9.0, times=100) == 4


def test_time_in_which_another_process_had_the_core_does_not_count():
    clock, worked_s = Moving(), Moving()
    budget = TimeBudget(clock, worked_s)
    for _ in range(1000):
        assert budget.begin(0.05)
        clock.now_s += 0.1
        worked_s.now_s += 0.001
        budget.end()
