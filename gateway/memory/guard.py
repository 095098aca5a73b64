"""Admit a request only where the memory that stays free is enough."""

from dataclasses import dataclass
from enum import StrEnum

from gateway.clock import Clock
from gateway.memory.ledger import Ledger
from gateway.memory.probes import MemoryReading, Probe


class Verdict(StrEnum):
    ADMITTED = "admitted"
    TOO_LITTLE_FREE = "too_little_free"
    STALE_READING = "stale_reading"
    NO_READING = "no_reading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    verdict: Verdict
    reason: str
    asked_bytes: int
    free_bytes: int
    pending_bytes: int
    margin_bytes: int

    @property
    def admitted(self) -> bool:
        return self.verdict is Verdict.ADMITTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """Exactly one of the two."""

    bytes_: int | None = None
    share: float | None = None  # of the device's total


class Guard:
    def __init__(self, probe: Probe, margin: Margin, ledger: Ledger, clock: Clock, *, max_age_s: float = 2.0) -> None:
        raise NotImplementedError

    def admits(self, bytes_: int) -> Decision:
        raise NotImplementedError

    def reading(self) -> MemoryReading | None:
        """The latest fresh reading; None when there is none."""
        raise NotImplementedError
