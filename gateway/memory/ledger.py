"""The ledger: who has been promised how much memory."""

from dataclasses import dataclass
from enum import Enum, auto
from types import TracebackType

from gateway.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermarks:
    high: float = 0.80
    critical: float = 0.95


class Refusal(Enum):
    NOT_NOW = auto()
    NEVER = auto()


class Reservation:
    """`async with` or `with`; `release()` as often as you like."""

    bytes_: int

    def mark_allocated(self) -> None:
        """The backend holds the memory now (first token came): readings from now on include it."""
        raise NotImplementedError

    def release(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> "Reservation":
        raise NotImplementedError

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    capacity_bytes: int
    reserved_bytes: int
    waiting: int
    reservations: int
    failures: int  # reservations refused or timed out since the start


class Ledger:
    def __init__(self, capacity_bytes: int, clock: Clock, marks: Watermarks | None = None) -> None:
        raise NotImplementedError

    def try_reserve(self, bytes_: int) -> Reservation | Refusal:
        raise NotImplementedError

    async def reserve(self, bytes_: int, *, timeout_s: float = 5.0) -> Reservation:
        """Raises MemoryFull, NeverFits."""
        raise NotImplementedError

    @property
    def occupancy(self) -> float:
        raise NotImplementedError

    def unallocated_bytes(self, as_of_s: float) -> int:
        raise NotImplementedError

    def snapshot(self) -> Snapshot:
        raise NotImplementedError
