"""What flows through one direction of a connection, and what a toxic does to it.

A stage is a toxic at work on one direction of one connection. It is pure: items and the time go in, items and the time
to be asked again come out. It owns no timer and no socket.
"""

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from typing import Any, NamedTuple, Protocol


class End(Enum):
    """The last item of a direction. Ends keep their place behind the bytes before them, except RESET."""

    FIN = auto()  # the sender has finished; the other direction goes on
    LOST = auto()  # the sender is gone; the connection is reset once the bytes before it have been written
    CLOSE = auto()  # a toxic ends the connection, both directions
    RESET = auto()  # a toxic resets the connection, at once


Item = bytes | End


class Step(NamedTuple):
    """What a stage lets through now."""

    out: list[Item]
    wake_s: float | None  # when to ask again, even without new items; None: only with new items


@dataclass(slots=True)
class Evidence:
    """What one toxic has done since it was added."""

    connections: int = 0  # connections on which it acted
    bytes: int = 0  # bytes that it delayed, slowed, cut up, counted or threw away


class Touch:
    """One stage's pen in the evidence of its toxic: a connection is counted once."""

    __slots__ = ("_evidence", "_met")

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._met = False

    def mark(self, touched_bytes: int) -> None:
        if not self._met:
            self._met = True
            self._evidence.connections += 1
        self._evidence.bytes += touched_bytes


class Start(NamedTuple):
    """What a stage is born with."""

    now_s: float
    rng: Random
    touch: Touch
    flowing: bool  # whether the direction has carried anything before


class Stage(Protocol):
    """A toxic at work on one direction of one connection."""

    effect: Any  # of the stage's own kind; a new one takes effect at the next poll

    @property
    def queued_bytes(self) -> int:
        """Bytes held back now."""
        ...

    @property
    def capacity_bytes(self) -> int:
        """Held bytes above which the sender is no longer read."""
        ...

    def feed(self, item: Item, now_s: float) -> None: ...

    def poll(self, now_s: float) -> Step: ...

    def flush(self) -> list[Item]:
        """The toxic is removed: everything held, in order."""
        ...


class Held(NamedTuple):
    item: Item
    arrival_s: float
    draw: float  # this item's own random number, where the toxic needs one


class Backlog:
    """Items held back in the order of their arrival; the head may be cut without copying the rest."""

    __slots__ = ("_items", "_offset", "queued_bytes")

    def __init__(self) -> None:
        self._items: deque[Held] = deque()
        self._offset = 0  # bytes of the head that have been cut off already
        self.queued_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def head(self) -> Held:
        return self._items[0]

    @property
    def head_bytes(self) -> int:
        """Bytes left of the head."""
        return size(self._items[0].item) - self._offset

    def push(self, item: Item, now_s: float, draw: float = 0.0) -> None:
        self._items.append(Held(item, now_s, draw))
        self.queued_bytes += size(item)

    def pop(self) -> Item:
        """Take what is left of the head."""
        item = self._items[0].item
        if isinstance(item, bytes):
            return self.cut(len(item))
        self._items.popleft()
        return item

    def cut(self, length: int) -> bytes:
        """Take up to `length` bytes of the head, which must be bytes."""
        item = self._items[0].item
        if isinstance(item, End):
            raise TypeError(f"{item} cannot be cut")
        piece = item[self._offset : self._offset + length]
        self._offset += len(piece)
        if self._offset >= len(item):
            self._items.popleft()
            self._offset = 0
        self.queued_bytes -= len(piece)
        return piece

    def take_all(self) -> list[Item]:
        items: list[Item] = []
        while self._items:
            items.append(self.pop())
        return items


def size(item: Item) -> int:
    return len(item) if isinstance(item, bytes) else 0
