"""Admit a request only where the memory that stays free is enough."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from gateway.clock import Clock
from gateway.errors import ConfigError, ProbeError
from gateway.memory.ledger import Ledger, Reservation
from gateway.memory.probes import MemoryReading, Probe, is_stale

_COPIES = 10  # of all that is promised, that fit above the margin where there is ample room


class Verdict(StrEnum):
    """What the guard says about one request."""

    ADMITTED = "admitted"
    TOO_LITTLE_FREE = "too_little_free"
    STALE_READING = "stale_reading"  # counts as full
    NO_READING = "no_reading"  # counts as full


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """What must stay free: bytes, or a share of the device in [0, 1); exactly one of the two."""

    bytes_: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if (self.bytes_ is None) == (self.share is None):
            raise ConfigError(f"a margin is bytes or a share, exactly one, got {self.bytes_=}, {self.share=}")
        if (self.bytes_ is not None and self.bytes_ < 0) or (self.share is not None and not 0 <= self.share < 1):
            raise ConfigError(f"a margin is 0 bytes or more, or a share in [0, 1), got {self.bytes_=}, {self.share=}")

    def of(self, total_bytes: int) -> int:
        return self.bytes_ if self.bytes_ is not None else round((self.share or 0.0) * total_bytes)


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict with the figures it rests on."""

    verdict: Verdict
    asked_bytes: int
    free_bytes: int
    pending_bytes: int  # promised to others and not yet seen in use by the reading
    margin_bytes: int
    used_share: float  # of what the probe measures, in [0, 1]; 1 where there is no reading to act on
    unread: str = ""  # why there is no reading to act on

    @property
    def admitted(self) -> bool:
        return self.verdict is Verdict.ADMITTED

    @property
    def reason(self) -> str:
        """The verdict in words."""
        if self.unread:
            return self.unread
        left_bytes = self.free_bytes - self.pending_bytes - self.asked_bytes
        return (
            f"{self.free_bytes} bytes free - {self.pending_bytes} promised - {self.asked_bytes} asked leaves "
            f"{left_bytes}, {'at least' if self.admitted else 'under'} the margin of {self.margin_bytes}"
        )

    def is_ample(self, promised_bytes: int) -> bool:
        """Whether all that is promised, the request that was asked about included, is a tenth of the room or less.

        What is promised then may go on counting as promised while it is in use: that costs others a tenth at most.
        """
        return self.admitted and _COPIES * promised_bytes <= self.free_bytes - self.margin_bytes


def decide(asked_bytes: int, *, reading: MemoryReading, pending_bytes: int, margin: Margin) -> Decision:
    """Admit where free - pending - asked stays at the margin or above."""
    margin_bytes = margin.of(reading.total_bytes)
    enough = reading.free_bytes - pending_bytes - asked_bytes >= margin_bytes
    return Decision(
        verdict=Verdict.ADMITTED if enough else Verdict.TOO_LITTLE_FREE,
        asked_bytes=asked_bytes,
        free_bytes=reading.free_bytes,
        pending_bytes=pending_bytes,
        margin_bytes=margin_bytes,
        used_share=reading.used_share,
    )


class Guard:
    """Asks the probe for every request; a reading older than `max_age_s`, or none, counts as full."""

    def __init__(self, probe: Probe, margin: Margin, ledger: Ledger, clock: Clock, *, max_age_s: float = 2.0) -> None:
        self._probe = probe
        self._margin = margin
        self._ledger = ledger
        self._clock = clock
        self._max_age_s = max_age_s

    def admits(self, bytes_: int, *, own: Reservation | None = None) -> Decision:
        """Say whether a request of `bytes_` KV cache may start; `own`: what it has reserved already, if it has."""
        try:
            reading = self._probe.read()
        except ProbeError as error:
            return self._full(bytes_, Verdict.NO_READING, str(error))
        if is_stale(reading, now_s=self._clock.now_s(), max_age_s=self._max_age_s):
            age_s = self._clock.now_s() - reading.taken_at_s
            return self._full(
                bytes_, Verdict.STALE_READING, f"the reading is {age_s:.1f} s old, bound is {self._max_age_s:g} s"
            )
        pending_bytes = self._ledger.unallocated_bytes(reading.taken_at_s, beside=own)
        return decide(bytes_, reading=reading, pending_bytes=pending_bytes, margin=self._margin)

    def reading(self) -> MemoryReading | None:
        """The latest reading; None when there is none or it is stale."""
        try:
            reading = self._probe.read()
        except ProbeError:
            return None
        return None if is_stale(reading, now_s=self._clock.now_s(), max_age_s=self._max_age_s) else reading

    def used_share(self) -> float | None:
        """Share of the device that is in use, in [0, 1]. None: not measured (admission treats that as full)."""
        reading = self.reading()
        return None if reading is None else reading.used_share

    def _full(self, bytes_: int, verdict: Verdict, unread: str) -> Decision:
        return Decision(
            verdict=verdict,
            asked_bytes=bytes_,
            free_bytes=0,
            pending_bytes=0,
            margin_bytes=0,
            used_share=1.0,
            unread=unread,
        )
