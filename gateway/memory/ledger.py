"""The ledger: who has been promised how much memory, first come, first served."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any

from gateway.clock import Clock
from gateway.errors import ConfigError, MemoryFull, NeverFits


class Refusal(Enum):
    """Why `try_reserve` gave nothing."""

    NOT_NOW = "not now"  # it fits once others have released
    NEVER = "never"  # larger than the capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What `/admin/ledger` and the metrics show."""

    capacity_bytes: int
    reserved_bytes: int
    reservations: int
    waiting: int
    failures: int  # reservations refused or timed out since the start


class Reservation:
    """Memory promised to one request; give it back with `release()`, `with` or `async with`."""

    def __init__(
        self,
        bytes_: int,
        *,
        clock: Clock,
        give_back: Callable[["Reservation"], None],
        marked: Callable[["Reservation"], None],
    ) -> None:
        self.bytes_ = bytes_
        self._marked = marked
        self._clock = clock
        self._give_back = give_back
        self._released = False
        self._allocated: tuple[tuple[float, int], ...] = ()  # (since when, bytes), the latest last
        self.waited = False  # others may have run between the asking for it and its being given

    def mark_allocated(self, bytes_: int | None = None) -> None:
        """The backend holds so many of the bytes by now, None: all; readings taken from now on include them."""
        held = self.bytes_ if bytes_ is None else min(bytes_, self.bytes_)
        if not self._allocated or held > self._allocated[-1][1]:
            self._allocated = (*self._allocated, (self._clock.now_s(), held))
            if not self._released:
                self._marked(self)

    def allocated_bytes(self, as_of_s: float) -> int:
        """What a memory reading taken at `as_of_s` has seen in use."""
        return max((held for at_s, held in self._allocated if at_s <= as_of_s), default=0)

    def release(self) -> None:
        """Give the memory back; a second call does nothing."""
        if not self._released:
            self._released = True
            self._give_back(self)

    def __enter__(self) -> "Reservation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    async def __aenter__(self) -> "Reservation":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Ledger:
    """Promises never exceed the capacity. One event loop; every method but `reserve` returns at once."""

    def __init__(self, capacity_bytes: int, clock: Clock) -> None:
        if capacity_bytes <= 0:
            raise ConfigError(f"ledger capacity is {capacity_bytes} bytes, must be above 0")
        self.capacity_bytes = capacity_bytes
        self._clock = clock
        self._held: set[Reservation] = set()
        self._marked: set[Reservation] = set()  # those of them that are in use, as far as is known
        self._reserved_bytes = 0
        self._queue: OrderedDict[asyncio.Future[Reservation], int] = OrderedDict()
        self._failures = 0
        self.foreign_bytes = 0  # what other gateways have promised, where the ledger is shared
        self.on_release: Callable[[Reservation], None] = _nothing

    def try_reserve(self, bytes_: int) -> Reservation | Refusal:
        """Reserve at once or not at all; never overtakes a request that waits."""
        if bytes_ < 0:
            raise ConfigError(f"cannot reserve {bytes_} bytes, must be 0 or more")
        if bytes_ > self.capacity_bytes:
            self._failures += 1
            return Refusal.NEVER
        if self._queue or not self._fits(bytes_):
            self._failures += 1
            return Refusal.NOT_NOW
        return self._take(bytes_)

    async def take(self, bytes_: int) -> Reservation | Refusal:
        """`try_reserve`, in the form that a shared ledger has."""
        return self.try_reserve(bytes_)

    def count_failure(self) -> None:
        """Somebody who decides for this ledger refused a reservation."""
        self._failures += 1

    async def reserve(self, bytes_: int, *, timeout_s: float = 5.0) -> Reservation:
        """Wait in line for `bytes_`, at most `timeout_s`; raises NeverFits at once, MemoryFull after the wait."""
        if bytes_ > self.capacity_bytes:
            self._failures += 1
            raise NeverFits(f"{bytes_} bytes of KV cache asked for, the whole capacity is {self.capacity_bytes} bytes")
        if not self._queue and self._fits(bytes_):
            return self._take(bytes_)
        turn: asyncio.Future[Reservation] = asyncio.get_running_loop().create_future()
        self._queue[turn] = bytes_
        try:
            return await self._wait(turn, timeout_s)
        except BaseException:
            self._leave(turn)
            raise

    async def _wait(self, turn: "asyncio.Future[Reservation]", timeout_s: float) -> Reservation:
        alarm = asyncio.ensure_future(self._clock.sleep(timeout_s))
        either: tuple[asyncio.Future[Any], ...] = (turn, alarm)
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        if turn.done():
            return turn.result()
        self._failures += 1
        raise MemoryFull(f"no room for {self._queue[turn]} bytes of KV cache within {timeout_s:g} s")

    def _leave(self, turn: "asyncio.Future[Reservation]") -> None:
        """Out of the line, whatever happened: a turn that came while its waiter was cancelled is given back."""
        if self._queue.pop(turn, None) is None and turn.done() and not turn.cancelled():
            turn.result().release()
        turn.cancel()
        self._wake()

    def _fits(self, bytes_: int) -> bool:
        return self._reserved_bytes + self.foreign_bytes + bytes_ <= self.capacity_bytes

    def _take(self, bytes_: int) -> Reservation:
        reservation = Reservation(bytes_, clock=self._clock, give_back=self._give_back, marked=self._marked.add)
        self._held.add(reservation)
        self._reserved_bytes += bytes_
        return reservation

    def _give_back(self, reservation: Reservation) -> None:
        self._held.remove(reservation)
        self._marked.discard(reservation)
        self._reserved_bytes -= reservation.bytes_
        self.on_release(reservation)
        self._wake()

    def _wake(self) -> None:
        while self._queue:
            turn, bytes_ = next(iter(self._queue.items()))
            if not self._fits(bytes_):
                return
            del self._queue[turn]
            taken = self._take(bytes_)
            taken.waited = True
            turn.set_result(taken)

    @property
    def reserved_bytes(self) -> int:
        """What this gateway has promised."""
        return self._reserved_bytes

    @property
    def occupancy(self) -> float:
        """Share of the capacity that is promised, in [0, 1]."""
        return self.occupancy_beside(None)

    def occupancy_beside(self, own: Reservation | None) -> float:
        """The same without what `own` holds."""
        others = self._reserved_bytes + self.foreign_bytes - (own.bytes_ if own is not None else 0)
        return min(1.0, others / self.capacity_bytes)

    def unallocated_bytes(self, as_of_s: float, *, beside: Reservation | None = None) -> int:
        """Promised bytes, but for those of `beside`, that a memory reading taken at `as_of_s` cannot have seen in use.

        Only this gateway's: what others promised in a shared ledger is not known to be in use or not.
        """
        others = self._reserved_bytes - (beside.bytes_ if beside in self._held else 0)
        return others - sum(one.allocated_bytes(as_of_s) for one in self._marked if one is not beside)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            capacity_bytes=self.capacity_bytes,
            reserved_bytes=self._reserved_bytes,
            reservations=len(self._held),
            waiting=len(self._queue),
            failures=self._failures,
        )


def _nothing(_: Reservation) -> None:
    """Nobody shares this ledger."""
