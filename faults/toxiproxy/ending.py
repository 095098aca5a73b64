"""The toxics that stop bytes or end connections: timeout, reset_peer, limit_data. And noop, which does nothing."""

from dataclasses import dataclass
from typing import ClassVar

from faults.toxiproxy.attributes import at_least
from faults.toxiproxy.stage import Backlog, End, Item, Start, Step, size

LINE_BYTES = 64 * 1024  # held back by a stage before its sender has to wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout:
    """No byte passes; the connection is closed after `timeout` ms, or never if that is 0. Removing it closes too."""

    kind: ClassVar[str] = "timeout"
    timeout: int = 0  # ms

    def __post_init__(self) -> None:
        at_least("timeout", self.timeout, 0, "ms")

    def stage(self, start: Start) -> "TimeoutStage":
        return TimeoutStage(self, start)


class TimeoutStage:
    __slots__ = ("_end", "_over", "_start", "effect")

    def __init__(self, effect: Timeout, start: Start) -> None:
        self.effect = effect
        self._start = start
        self._end: End | None = None  # the sender's own end, which is not held back
        self._over = False

    @property
    def queued_bytes(self) -> int:
        return 0

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:  # noqa: ARG002
        if isinstance(item, End):
            self._end = End.CLOSE if item is End.FIN else item
        elif not self._over:
            self._start.touch.mark(len(item))

    def poll(self, now_s: float) -> Step:
        if self._over:
            return Step([], None)
        if self._end is not None:
            self._over = True
            return Step([self._end], None)
        if not self.effect.timeout:
            return Step([], None)
        due_s = self._start.now_s + self.effect.timeout / 1000
        if due_s > now_s:
            return Step([], due_s)
        self._over = True
        self._start.touch.mark(0)
        return Step([End.CLOSE], None)

    def flush(self) -> list[Item]:
        return [] if self._over else [End.CLOSE]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPeer:
    """The connection is reset `timeout` ms after its first item (a live one: after the toxic came); nothing passes."""

    kind: ClassVar[str] = "reset_peer"
    timeout: int = 0  # ms

    def __post_init__(self) -> None:
        at_least("timeout", self.timeout, 0, "ms")

    def stage(self, start: Start) -> "ResetPeerStage":
        return ResetPeerStage(self, start)


class ResetPeerStage:
    __slots__ = ("_armed_s", "_backlog", "_over", "_touch", "effect")

    def __init__(self, effect: ResetPeer, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._armed_s = start.now_s if start.flowing else None
        self._backlog = Backlog()
        self._over = False

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:
        if self._armed_s is None:
            self._armed_s = now_s
        self._backlog.push(item, now_s)

    def poll(self, now_s: float) -> Step:
        if self._armed_s is None or self._over:
            return Step([], None)
        due_s = self._armed_s + self.effect.timeout / 1000
        if due_s > now_s:
            return Step([], due_s)
        self._over = True
        self._touch.mark(self._backlog.queued_bytes)
        self._backlog.take_all()
        return Step([End.RESET], None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitData:
    """The connection is closed once `bytes` bytes have passed; with 0, at the first byte."""

    kind: ClassVar[str] = "limit_data"
    bytes: int = 0

    def __post_init__(self) -> None:
        at_least("bytes", self.bytes, 0, "bytes")

    def stage(self, start: Start) -> "LimitDataStage":
        return LimitDataStage(self, start)


class LimitDataStage:
    __slots__ = ("_backlog", "_over", "_passed_bytes", "_touch", "effect")

    def __init__(self, effect: LimitData, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._backlog = Backlog()
        self._passed_bytes = 0
        self._over = False

    @property
    def queued_bytes(self) -> int:
        return self._backlog.queued_bytes

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:
        if not self._over:
            self._backlog.push(item, now_s)
        elif isinstance(item, bytes):
            self._touch.mark(len(item))

    def poll(self, now_s: float) -> Step:  # noqa: ARG002
        out: list[Item] = []
        while self._backlog and not self._over:
            item = self._backlog.pop()
            if isinstance(item, End):
                out.append(item)
                continue
            passing = item[: max(0, self.effect.bytes - self._passed_bytes)]
            self._passed_bytes += len(passing)
            if passing:
                out.append(passing)
            if self._passed_bytes >= self.effect.bytes:
                out += self._close(len(item) - len(passing))
        return Step(out, None)

    def flush(self) -> list[Item]:
        return self._backlog.take_all()

    def _close(self, cut_bytes: int) -> list[Item]:
        self._over = True
        self._touch.mark(cut_bytes + self._backlog.queued_bytes)
        self._backlog.take_all()
        return [End.CLOSE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noop:
    """Everything passes."""

    kind: ClassVar[str] = "noop"

    def stage(self, start: Start) -> "NoopStage":
        return NoopStage(self, start)


class NoopStage:
    __slots__ = ("_passing", "_touch", "effect")

    def __init__(self, effect: Noop, start: Start) -> None:
        self.effect = effect
        self._touch = start.touch
        self._passing: list[Item] = []

    @property
    def queued_bytes(self) -> int:
        return 0

    @property
    def capacity_bytes(self) -> int:
        return LINE_BYTES

    def feed(self, item: Item, now_s: float) -> None:  # noqa: ARG002
        self._touch.mark(size(item))
        self._passing.append(item)

    def poll(self, now_s: float) -> Step:  # noqa: ARG002
        return Step(self.flush(), None)

    def flush(self) -> list[Item]:
        passing, self._passing = self._passing, []
        return passing
