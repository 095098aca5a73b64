"""One direction of one connection: sender → the toxics' stages, in order → receiver.

Without stages bytes are handed straight on. With stages the link asks each in turn what it lets through, and sets one
timer for the earliest time at which one wants to be asked again.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from faults.toxiproxy.stage import End, Item, Stage, size

LEAST_CAPACITY_BYTES = 64 * 1024


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    """The part of an event loop that a link needs."""

    def time(self) -> float: ...

    def call_at(self, when: float, callback: Callable[[], object], /) -> Timer: ...


class Receiver(Protocol):
    """Where the bytes of a link go."""

    @property
    def blocked(self) -> bool:
        """Whether it wants no more bytes for now."""
        ...

    def write(self, data: bytes) -> None: ...


class Sender(Protocol):
    """Where the bytes of a link come from."""

    def hold(self, held: bool) -> None:
        """Stop or go on reading it."""
        ...


class Traffic:
    """Bytes of one direction of one proxy, all its connections together."""

    __slots__ = ("received_bytes", "sent_bytes")

    def __init__(self) -> None:
        self.received_bytes = 0
        self.sent_bytes = 0


class Placed(NamedTuple):
    position: int  # of its toxic in the chain; grows with each toxic that is added
    stage: Stage


class Link:
    """One direction at work; `on_end` hears how it ended, once."""

    def __init__(
        self,
        *,
        timers: Timers,
        sender: Sender,
        receiver: Receiver,
        traffic: Traffic,
        on_end: Callable[[End], None],
    ) -> None:
        self._timers = timers
        self._sender = sender
        self._receiver = receiver
        self._traffic = traffic
        self._on_end = on_end
        self._placed: list[Placed] = []
        self._outbox: deque[Item] = deque()
        self._outbox_bytes = 0
        self._timer: Timer | None = None
        self._held = False
        self.flowing = False  # has carried anything
        self.ended = False

    def feed(self, item: Item) -> None:
        """The sender sent this."""
        if self.ended:
            return
        self.flowing = True
        self._traffic.received_bytes += size(item)
        if not self._placed and not self._outbox and not self._receiver.blocked and isinstance(item, bytes):
            self._traffic.sent_bytes += len(item)
            self._receiver.write(item)
            if self._receiver.blocked:
                self._throttle()
            return
        self._pump([item])

    def resume(self) -> None:
        """The receiver wants bytes again."""
        if not self.ended:
            self._pump([])

    def stop(self) -> None:
        """Drop everything; nothing more comes out."""
        self.ended = True
        self._placed.clear()
        self._outbox.clear()
        self._outbox_bytes = 0
        self._set_timer(None)

    def place(self, position: int, stage: Stage) -> None:
        """Put a stage where its toxic stands in the chain."""
        if self.ended:
            return
        self._placed.append(Placed(position, stage))
        self._placed.sort(key=lambda placed: placed.position)
        self._pump([])

    def retune(self, position: int, effect: object) -> bool:
        """Give a stage its toxic's new attributes; False when the toxic has no stage here."""
        for placed in self._placed:
            if placed.position == position:
                placed.stage.effect = effect
                self._pump([])
                return True
        return False

    def displace(self, position: int) -> None:
        """Take a stage out; what it held goes on at once, in order."""
        for index, placed in enumerate(self._placed):
            if placed.position == position:
                del self._placed[index]
                self._pump(placed.stage.flush(), index)
                return

    def _pump(self, items: list[Item], first: int = 0) -> None:
        """Let everything through that may go now; `items` enter at the stage of index `first`, before newer ones."""
        now_s = self._timers.time()
        wakes: list[float] = []
        entering: list[Item] = []
        for index, (_, stage) in enumerate(self._placed):
            for item in entering if index != first else items + entering:
                stage.feed(item, now_s)
            entering, wake_s = stage.poll(now_s)
            if wake_s is not None:
                wakes.append(wake_s)
        if first >= len(self._placed):
            entering = items + entering
        self._outbox.extend(entering)
        self._outbox_bytes += sum(map(size, entering))
        self._deliver(reset=End.RESET in entering)
        if not self.ended:
            self._set_timer(min(wakes, default=None))
            self._throttle()

    def _deliver(self, *, reset: bool) -> None:
        if reset:
            self._finish(End.RESET)
        while self._outbox and not self._receiver.blocked:
            item = self._outbox.popleft()
            if isinstance(item, End):
                self._finish(item)
                return
            self._outbox_bytes -= len(item)
            self._traffic.sent_bytes += len(item)
            self._receiver.write(item)

    def _finish(self, end: End) -> None:
        self.stop()
        self._on_end(end)

    def _throttle(self) -> None:
        """Hold the sender while the receiver is blocked or too much is held back; let go with room to spare."""
        queued = self._outbox_bytes + sum(stage.queued_bytes for _, stage in self._placed)
        capacity = max((stage.capacity_bytes for _, stage in self._placed), default=LEAST_CAPACITY_BYTES)
        held = self._receiver.blocked or queued >= (capacity // 2 if self._held else capacity)
        if held != self._held:
            self._held = held
            self._sender.hold(held)

    def _set_timer(self, wake_s: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if wake_s is None else self._timers.call_at(wake_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._pump([])
