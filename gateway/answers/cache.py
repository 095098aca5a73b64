"""Earlier whole answers, kept for the time when the model fails; bounded by count, bytes and age.

An answer is found again only under the same key (tenant, system prompt, context, metadata, target, format, language)
and the same wording (see `wording`). Similarity is told, and has to reach a floor; it never opens the door alone.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec

from gateway.answers.embedding import HASHED, Vector, similarity

_OVERHEAD_BYTES = 400  # of an entry besides its text and vectors
_BYTES_PER_FEATURE = 100


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a question lies in one embedding's space."""

    space: str  # the embedding's name
    vector: dict[int, float]  # of length 1


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One kept answer; the question itself is not kept, only where it lies."""

    key: str
    text: str
    model: str
    stored_unix_s: float
    places: tuple[Place, ...]
    intent: str | None = None

    @property
    def cost_bytes(self) -> int:
        """About what it takes in memory."""
        features = sum(len(place.vector) for place in self.places)
        return _OVERHEAD_BYTES + 2 * len(self.text) + len(self.key) + _BYTES_PER_FEATURE * features


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that answers; `age_s` since it was stored, `similarity` in [-1, 1] of the two questions."""

    entry: Entry
    age_s: float
    similarity: float


class Outcome(StrEnum):
    """What comes of a look-up, in the words that caches use."""

    HIT = "hit"
    MISS = "miss"  # nothing under the key, or nothing alike enough
    EXPIRED = "expired"  # there was one, and it is too old, or of an age that nobody knows
    BYPASS = "bypass"  # not looked up: an answer to such a request is never kept


class Found(NamedTuple):
    """`hit` is there where the outcome is a hit, and None otherwise."""

    outcome: Outcome
    hit: Hit | None = None


class AnswerCache:
    """The least recently used go first. Time is wall-clock seconds, since entries outlive the process."""

    def __init__(self, *, now_unix_s: Callable[[], float]) -> None:
        self._now_unix_s = now_unix_s
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._bytes = 0
        self.changes = 0  # since the start: whether a saved file is out of date

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """Least recently used first."""
        return iter(tuple(self._entries.values()))

    @property
    def held_bytes(self) -> int:
        return self._bytes

    def put(self, entry: Entry, *, max_entries: int, max_bytes: int) -> None:
        """Keep `entry` in place of an older one; an entry larger than a tenth of the whole is not kept."""
        self._drop(entry.key)
        if entry.cost_bytes > max_bytes / 10:
            return
        self._entries[entry.key] = entry
        self._bytes += entry.cost_bytes
        self.changes += 1
        self.shrink(max_entries=max_entries, max_bytes=max_bytes)

    def shrink(self, *, max_entries: int, max_bytes: int) -> None:
        """Drop what is over the bounds."""
        while len(self._entries) > max_entries or self._bytes > max_bytes:
            self._drop(next(iter(self._entries)))

    def look_up(self, key: str, *, places: tuple[Place, ...], max_age_s: float, min_similarity: float) -> Found:
        """The entry under `key`, unless it is too old, and then it goes, or the question not alike enough.

        One from the future goes, too: the clock was wrong when it was kept, so that nobody knows its age.
        """
        entry = self._entries.get(key)
        if entry is None:
            return Found(Outcome.MISS)
        age_s = self._now_unix_s() - entry.stored_unix_s
        if not 0 <= age_s <= max_age_s:
            self._drop(key)
            return Found(Outcome.EXPIRED)
        alike = _similarity(entry.places, places)
        if alike < min_similarity:
            return Found(Outcome.MISS)
        self._entries.move_to_end(key)
        return Found(Outcome.HIT, Hit(entry=entry, age_s=age_s, similarity=alike))

    def _drop(self, key: str) -> None:
        gone = self._entries.pop(key, None)
        if gone is not None:
            self._bytes -= gone.cost_bytes
            self.changes += 1


def hashed_place(vector: Vector) -> Place:
    """A place in the space of the built-in embedding."""
    return Place(space=HASHED, vector=dict(vector))


def _similarity(kept: tuple[Place, ...], asked: tuple[Place, ...]) -> float:
    """By the last embedding that both have: an external one comes after the built-in one. 0 where they share none.

    Two questions without a word that counts ("Why?") are alike where their keys are equal, as they are here.
    """
    own = {place.space: place.vector for place in kept}
    found = [_alike(own[place.space], place.vector) for place in asked if place.space in own]
    return found[-1] if found else 0.0


def _alike(kept: Vector, asked: Vector) -> float:
    return similarity(kept, asked) if kept or asked else 1.0
