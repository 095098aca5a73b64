"""The toxics that change when bytes arrive: latency, bandwidth, slow_close, slicer.

Each is a frozen value of its attributes and a stage that reads them anew at each poll, so that a changed toxic takes
effect on what is already held. All pacing is kept on the schedule, not on the timer that happened to fire late.
"""

from dataclasses import dataclass
from typing import ClassVar

from faults.toxiproxy.attributes import at_least
from faults.toxiproxy.stage import Backlog, End, Item, Start, Step

LINE_BYTES = 64 * 1024  # held back by a stage before its sender has to wait
FLIGHT_BYTES = 4 * 1024 * 1024  # in flight on a line with latency: a long line is not a slow one
BURST_MS = 10  # a line of limited bandwidth hands over what it carries in this time


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Each chunk arrives `latency` ± `jitter` ms after it was sent; order is kept."""

    kind: ClassVar[str] = "latency"
    latency: int = 0  # ms
    jitter: int = 0  # ms, uniform

    def __post_init__(self) -> None:
        at_least("latency", self.latency, 0, "ms")
        at_least("jitter", self.jitter, 0, "ms")

    def stage(self, start: Start) -> "LatencyStage":
        return LatencyStage(self, start)


class LatencyStage:
    __slots__ = ("_backlog", "_start", "effect")

    def __init__(self, effect: Latency, start: Start) -> None:
        self.effect = effect
        self._start = start
        self._backlog = Backlog()

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return FLIGHT_BYTES

    def feed(self, item: Item, now_s: float) -> None:
        if isinstance(item, bytes) and (self.effect.latency or self.effect.jitter):
            self._start.touch.mark(len(item))
        self._backlog.push(item, now_s, self._start.rng.uniform(-1.0, 1.0) if self.effect.jitter else 0.0)

    def poll(self, now_s: float) -> Step:
        out: list[Item] = []
        while self._backlog:
            due_s = self._due_s()
            if due_s > now_s:
                return Step(out, due_s)
            out.append(self._backlog.pop())
        return Step(out, None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()

    def _due_s(self) -> float:
        held = self._backlog.head
        if isinstance(held.item, End):
            return held.arrival_s
        return held.arrival_s + max(0.0, self.effect.latency + held.draw * self.effect.jitter) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """The line carries `rate` KB/s; a KB is 1000 bytes."""

    kind: ClassVar[str] = "bandwidth"
    rate: int = 0  # KB/s, which is bytes per ms; has no usable default

    def __post_init__(self) -> None:
        at_least("rate", self.rate, 1, "KB/s")

    def stage(self, start: Start) -> "BandwidthStage":
        return BandwidthStage(self, start)


class BandwidthStage:
    __slots__ = ("_backlog", "_free_s", "_touch", "effect")

    def __init__(self, effect: Bandwidth, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._backlog = Backlog()
        self._free_s = start.now_s  # when the line has carried all that was handed over

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return min(FLIGHT_BYTES, max(LINE_BYTES, self.effect.rate * BURST_MS * 10))

    def feed(self, item: Item, now_s: float) -> None:
        if isinstance(item, bytes):
            self._touch.mark(len(item))
        self._backlog.push(item, now_s)

    def poll(self, now_s: float) -> Step:
        out: list[Item] = []
        while self._backlog:
            item, arrival_s, _ = self._backlog.head
            if isinstance(item, End):
                out.append(self._backlog.pop())
                continue
            length = min(self._backlog.head_bytes, self.effect.rate * BURST_MS)
            due_s = max(self._free_s, arrival_s) + length / (self.effect.rate * 1000)
            if due_s > now_s:
                return Step(out, due_s)
            self._free_s = due_s
            out.append(self._backlog.cut(length))
        return Step(out, None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowClose:
    """The end of the stream arrives `delay` ms late."""

    kind: ClassVar[str] = "slow_close"
    delay: int = 0  # ms

    def __post_init__(self) -> None:
        at_least("delay", self.delay, 0, "ms")

    def stage(self, start: Start) -> "SlowCloseStage":
        return SlowCloseStage(self, start)


class SlowCloseStage:
    __slots__ = ("_backlog", "_touch", "effect")

    def __init__(self, effect: SlowClose, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._backlog = Backlog()

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:
        if isinstance(item, End) and self.effect.delay:
            self._touch.mark(0)
        self._backlog.push(item, now_s)

    def poll(self, now_s: float) -> Step:
        out: list[Item] = []
        while self._backlog:
            item, arrival_s, _ = self._backlog.head
            due_s = arrival_s + self.effect.delay / 1000
            if isinstance(item, End) and due_s > now_s:
                return Step(out, due_s)
            out.append(self._backlog.pop())
        return Step(out, None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicer:
    """Chunks are cut into slices of `average_size` ± `size_variation` bytes, `delay` µs apart."""

    kind: ClassVar[str] = "slicer"
    average_size: int = 0  # bytes; has no usable default
    size_variation: int = 0  # bytes, uniform
    delay: int = 0  # microseconds after each slice

    def __post_init__(self) -> None:
        at_least("average_size", self.average_size, 1, "bytes")
        at_least("size_variation", self.size_variation, 0, "bytes")
        at_least("delay", self.delay, 0, "µs")
        at_least("average_size", self.average_size, self.size_variation + 1, "bytes (more than size_variation)")

    def stage(self, start: Start) -> "SlicerStage":
        return SlicerStage(self, start)


class SlicerStage:
    """One slice per poll, so that each is written by itself."""

    __slots__ = ("_backlog", "_free_s", "_rng", "_touch", "effect")

    def __init__(self, effect: Slicer, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._rng = start.rng
        self._backlog = Backlog()
        self._free_s = start.now_s  # when the next slice may go

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:
        self._backlog.push(item, now_s)

    def poll(self, now_s: float) -> Step:
        if not self._backlog:
            return Step([], None)
        item, arrival_s, _ = self._backlog.head
        if isinstance(item, End):
            return Step([self._backlog.pop()], None)
        due_s = max(self._free_s, arrival_s)
        if due_s > now_s:
            return Step([], due_s)
        piece = self._backlog.cut(self._length())
        if len(piece) < len(item) or self.effect.delay:
            self._touch.mark(len(piece))
        self._free_s = due_s + self.effect.delay / 1_000_000
        return Step([piece], max(self._free_s, now_s) if self._backlog else None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()

    def _length(self) -> int:
        variation = self.effect.size_variation
        return self.effect.average_size + (self._rng.randint(-variation, variation) if variation else 0)
