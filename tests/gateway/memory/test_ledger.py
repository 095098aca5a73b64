"""The ledger never promises more than there is, forgets nobody, and takes each promise back once."""

import asyncio

import pytest
from fake_clock import FakeClock, settle
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import MemoryFull, NeverFits
from gateway.memory import Ledger, Refusal, Reservation


def _taken(ledger: Ledger, bytes_: int) -> Reservation:
    reservation = ledger.try_reserve(bytes_)
    assert isinstance(reservation, Reservation)
    return reservation


def test_try_reserve_answers_yes_not_now_and_never() -> None:
    ledger = Ledger(100, FakeClock())
    _taken(ledger, 60)
    assert ledger.try_reserve(41) is Refusal.NOT_NOW
    assert ledger.try_reserve(101) is Refusal.NEVER
    assert ledger.occupancy == 0.6
    assert ledger.snapshot().failures == 2


def test_a_reservation_is_released_once_however_often_it_is_asked() -> None:
    ledger = Ledger(100, FakeClock())
    kept = _taken(ledger, 10)
    with _taken(ledger, 60) as reservation:
        reservation.release()
        reservation.release()
    assert ledger.snapshot().reserved_bytes == kept.bytes_ == 10


async def test_a_waiter_is_woken_the_moment_memory_is_released() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    first = _taken(ledger, 80)
    waiting = asyncio.create_task(ledger.reserve(50, timeout_s=5.0))
    await clock.advance(1.0)
    first.release()
    await settle()
    assert waiting.done()
    assert clock.now_s() == 1.0
    assert ledger.snapshot().reserved_bytes == 50


async def test_a_waiter_gives_up_after_its_timeout_and_leaves_no_trace() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    _taken(ledger, 80)
    waiting = asyncio.create_task(ledger.reserve(50, timeout_s=5.0))
    await clock.advance(4.9)
    assert not waiting.done()
    await clock.advance(0.2)
    with pytest.raises(MemoryFull, match="50 bytes"):
        await waiting
    assert ledger.snapshot().waiting == 0


async def test_what_can_never_fit_is_refused_at_once() -> None:
    with pytest.raises(NeverFits, match="101 bytes"):
        await Ledger(100, FakeClock()).reserve(101)


async def test_a_small_request_does_not_overtake_a_large_one_that_waits() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    first = _taken(ledger, 60)
    large = asyncio.create_task(ledger.reserve(90))
    await settle()
    small = asyncio.create_task(ledger.reserve(10))
    await settle()
    assert not small.done()
    assert ledger.try_reserve(10) is Refusal.NOT_NOW
    first.release()
    await settle()
    assert large.done()
    assert small.done()


async def test_those_behind_a_waiter_that_gave_up_move_on() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    _taken(ledger, 60)
    large = asyncio.create_task(ledger.reserve(90))
    await settle()
    small = asyncio.create_task(ledger.reserve(10))
    await settle()
    large.cancel()
    await settle()
    assert small.done()
    assert ledger.snapshot().reserved_bytes == 70


async def test_a_waiter_cancelled_in_the_moment_of_its_turn_gives_the_memory_back() -> None:
    ledger = Ledger(100, FakeClock())
    first = _taken(ledger, 100)
    waiting = asyncio.create_task(ledger.reserve(50))
    await settle()
    first.release()  # its turn has come, it has not run yet
    waiting.cancel()
    await settle()
    assert waiting.cancelled()
    assert ledger.snapshot().reserved_bytes == 0
    assert ledger.snapshot().reservations == 0


def test_only_what_a_reading_cannot_have_seen_counts_as_pending() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    _taken(ledger, 30)
    allocated = _taken(ledger, 20)
    allocated.mark_allocated()
    assert ledger.unallocated_bytes(as_of_s=1.0) == 30
    assert ledger.unallocated_bytes(as_of_s=-1.0) == 50
    assert ledger.unallocated_bytes(as_of_s=1.0, beside=allocated) == 30
    assert (ledger.occupancy, ledger.occupancy_beside(allocated)) == (0.5, 0.3)


async def test_a_promise_grows_into_use_and_a_reading_saw_what_was_in_use_by_then() -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    growing = _taken(ledger, 50)
    growing.mark_allocated(20)
    await clock.advance(2.0)
    growing.mark_allocated(35)
    growing.mark_allocated(10)  # nothing is given back before the end
    assert [ledger.unallocated_bytes(as_of_s) for as_of_s in (-1.0, 0.0, 1.0, 2.0)] == [50, 30, 30, 15]
    growing.mark_allocated(80)
    assert ledger.unallocated_bytes(2.0) == 0


async def test_who_had_to_wait_is_told_so() -> None:
    ledger = Ledger(100, FakeClock())
    first = await ledger.reserve(80)
    waiting = asyncio.create_task(ledger.reserve(80))
    await settle()
    first.release()
    assert (first.waited, (await waiting).waited) == (False, True)


STEP = st.one_of(
    st.tuples(st.just("reserve"), st.integers(0, 120)),
    st.tuples(st.just("try"), st.integers(0, 120)),
    st.tuples(st.just("release"), st.integers(0, 30)),
    st.tuples(st.just("cancel"), st.integers(0, 30)),
    st.tuples(st.just("release and cancel"), st.integers(0, 30)),
    st.tuples(st.just("mark"), st.integers(0, 120)),
    st.tuples(st.just("pass"), st.integers(0, 3)),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps=st.lists(STEP, max_size=40))
@pytest.mark.slow
def test_no_leak_no_double_release_and_no_starvation_whatever_happens(steps: list[tuple[str, int]]) -> None:
    asyncio.run(_play(steps))


def _check_pending(ledger: Ledger, held: list[Reservation], now_s: float) -> None:
    """Whatever was not released and is not known to be in use; those that wait to be collected hold all of theirs."""
    alive = [one for one in held if not one._released]
    unknown = ledger.reserved_bytes - sum(one.bytes_ for one in alive)
    for as_of_s in (now_s - 1.5, now_s):
        plain = sum(one.bytes_ - one.allocated_bytes(as_of_s) for one in alive) + unknown
        assert ledger.unallocated_bytes(as_of_s) == plain
        for one in held:
            left = one.bytes_ - one.allocated_bytes(as_of_s) if one in alive else 0
            assert ledger.unallocated_bytes(as_of_s, beside=one) == plain - left


async def _play(steps: list[tuple[str, int]]) -> None:
    clock = FakeClock()
    ledger = Ledger(100, clock)
    tasks: list[asyncio.Task[Reservation]] = []
    held: list[Reservation] = []
    for what, value in steps:
        if what == "reserve":
            tasks.append(asyncio.create_task(ledger.reserve(value, timeout_s=2.0)))
        if what == "try" and isinstance(one := ledger.try_reserve(value), Reservation):
            held.append(one)
        if "release" in what and held:
            held[value % len(held)].release()
        if what == "mark" and held:
            held[value % len(held)].mark_allocated(value // 2)
        if "cancel" in what and tasks:
            tasks[value % len(tasks)].cancel()
        if what == "pass":
            await clock.advance(float(value))
        elif what != "release and cancel":
            await settle()
        held += _collected(tasks)
        _check(ledger, held)
        _check_pending(ledger, held, clock.now_s())
    for reservation in held:
        reservation.release()
    await clock.advance(3.0)
    for reservation in _collected(tasks):
        reservation.release()
    await clock.advance(3.0)
    for reservation in _collected(tasks):
        reservation.release()
    assert ledger.snapshot().waiting == 0
    assert ledger.snapshot().reservations == 0
    assert ledger.snapshot().reserved_bytes == 0


def _collected(tasks: list[asyncio.Task[Reservation]]) -> list[Reservation]:
    done = [task for task in tasks if task.done()]
    for task in done:
        tasks.remove(task)
    return [task.result() for task in done if not task.cancelled() and task.exception() is None]


def _check(ledger: Ledger, held: list[Reservation]) -> None:
    snapshot = ledger.snapshot()
    assert 0 <= snapshot.reserved_bytes <= snapshot.capacity_bytes
    assert 0 <= ledger.occupancy <= 1
