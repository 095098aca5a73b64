"""The guard's arithmetic: free minus promised minus asked stays at the margin or above."""

import pytest
from fake_clock import FakeClock
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ConfigError, ProbeError
from gateway.memory import Guard, Ledger, Margin, MemoryReading, Reservation, Verdict

GB = 10**9


class FixedProbe:
    def __init__(self, reading: MemoryReading | None) -> None:
        self.reading = reading

    def read(self) -> MemoryReading:
        if self.reading is None:
            raise ProbeError("the process is gone")
        return self.reading


def _guard(free_gb: float, *, margin_gb: float = 10, pending_gb: float = 0, taken_at_s: float = 0.0) -> Guard:
    clock = FakeClock()
    ledger = Ledger(80 * GB, clock)
    if pending_gb:
        assert isinstance(ledger.try_reserve(round(pending_gb * GB)), Reservation)
    reading = MemoryReading(free_bytes=round(free_gb * GB), total_bytes=80 * GB, taken_at_s=taken_at_s)
    return Guard(FixedProbe(reading), Margin(bytes_=round(margin_gb * GB)), ledger, clock)


def test_the_log_line_of_the_source_trips_only_with_reservations_in_flight() -> None:
    asked = round(17.18 * GB)
    assert _guard(45.20).admits(asked).admitted
    refused = _guard(45.20, pending_gb=20).admits(asked)
    assert refused.verdict is Verdict.TOO_LITTLE_FREE
    assert "under the margin of 10000000000" in refused.reason


def test_exactly_the_margin_is_enough() -> None:
    assert _guard(30, margin_gb=10).admits(20 * GB).admitted
    assert not _guard(30, margin_gb=10).admits(20 * GB + 1).admitted


def test_a_stale_reading_and_none_at_all_count_as_full() -> None:
    assert _guard(80, taken_at_s=-10.0).admits(1).verdict is Verdict.STALE_READING
    clock = FakeClock()
    blind = Guard(FixedProbe(None), Margin(share=0.1), Ledger(GB, clock), clock)
    assert blind.admits(1).verdict is Verdict.NO_READING
    assert blind.used_share() is None
    assert blind.reading() is None


def test_a_share_is_a_share_of_the_device() -> None:
    clock = FakeClock()
    reading = MemoryReading(free_bytes=30, total_bytes=200, taken_at_s=0.0)
    guard = Guard(FixedProbe(reading), Margin(share=0.1), Ledger(200, clock), clock)
    assert guard.admits(10).admitted
    assert not guard.admits(11).admitted
    assert guard.used_share() == 0.85


@pytest.mark.parametrize("figures", [{}, {"bytes_": 1, "share": 0.1}, {"bytes_": -1}, {"share": 1.0}])
def test_a_margin_is_bytes_or_a_share(figures: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Margin(**figures)  # type: ignore[arg-type]


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(free=st.integers(0, 100), pending=st.integers(0, 100), asked=st.integers(0, 100), margin=st.integers(0, 100))
def test_what_is_admitted_always_leaves_the_margin(free: int, pending: int, asked: int, margin: int) -> None:
    clock = FakeClock()
    ledger = Ledger(1000, clock)
    ledger.try_reserve(pending)
    reading = MemoryReading(free_bytes=free, total_bytes=1000, taken_at_s=0.0)
    decision = Guard(FixedProbe(reading), Margin(bytes_=margin), ledger, clock).admits(asked)
    assert decision.admitted == (free - pending - asked >= margin)


STEPS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 9)), max_size=60)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=300)
@given(steps=STEPS, margin=st.integers(0, 300))
def test_where_room_is_ample_what_is_counted_twice_is_a_tenth_of_it_at_most(
    steps: list[tuple[int, int]], margin: int
) -> None:
    """Each request takes its memory at once; one that was let in where room was ample never says so."""
    clock, total = FakeClock(), 1000
    ledger = Ledger(total, clock)
    probe = FixedProbe(MemoryReading(free_bytes=total, total_bytes=total, taken_at_s=0.0))
    guard = Guard(probe, Margin(bytes_=margin), ledger, clock)
    held: list[Reservation] = []
    silent: set[Reservation] = set()
    bound = 0.0
    for asked, ends in steps:
        decision = guard.admits(asked)
        used = sum(one.bytes_ for one in held)
        twice = sum(one.bytes_ for one in silent)
        assert twice <= bound
        assert decision.admitted == (total - used - twice - asked >= margin)
        if decision.admitted:
            taken = ledger.try_reserve(asked)
            assert isinstance(taken, Reservation)
            held.append(taken)
            if decision.is_ample(ledger.reserved_bytes):
                silent.add(taken)
                bound = (decision.free_bytes - margin) / 10
            else:
                taken.mark_allocated()
        if held and ends < 4:
            gone = held.pop(ends % len(held))
            silent.discard(gone)
            gone.release()
        free = total - sum(one.bytes_ for one in held)
        assert free >= margin
        probe.reading = MemoryReading(free_bytes=free, total_bytes=total, taken_at_s=0.0)


def test_room_is_ample_up_to_a_tenth_of_what_is_above_the_margin_and_never_where_the_guard_refuses() -> None:
    guard = _guard(60, margin_gb=10)
    assert guard.admits(5 * GB).is_ample(5 * GB)
    assert not guard.admits(5 * GB).is_ample(5 * GB + 1)
    assert not guard.admits(51 * GB).is_ample(0)
    assert not _guard(60, taken_at_s=-10.0).admits(1).is_ample(0)
