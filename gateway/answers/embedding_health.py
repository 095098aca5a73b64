"""Whether the embedding server answers: counted by outcome, and told in the log once for each change."""

from collections.abc import Callable
from enum import StrEnum
from typing import Self

from prometheus_client import CollectorRegistry, Counter

_FAILING_AFTER = 3  # failures in a row; one text that the server does not like is no trouble of the server


class Asked(StrEnum):
    """What came of asking for one embedding."""

    OK = "ok"
    REFUSED = "refused"  # another status than 200
    UNREACHABLE = "unreachable"
    LATE = "late"
    UNREADABLE = "unreadable"  # no vector in what it sent


class EmbeddingHealth:
    """`count` counts each outcome; `tell` gets an event and why."""

    def __init__(self, count: Callable[[Asked], None], tell: Callable[[str, str], None]) -> None:
        self._count = count
        self._tell = tell
        self._in_a_row = 0

    @classmethod
    def counted(cls, registry: CollectorRegistry, tell: Callable[[str, str], None]) -> Self:
        """With a counter in `registry`; all outcomes are there from the start, so that rates are."""
        counter = Counter("truefall_embeddings", "Embeddings asked for", ("outcome",), registry=registry)
        children = {outcome: counter.labels(outcome) for outcome in Asked}
        return cls(lambda outcome: children[outcome].inc(), tell)

    def saw(self, outcome: Asked, why: str = "") -> None:
        """One more outcome; `why` says what was wrong with it."""
        self._count(outcome)
        if outcome is Asked.OK:
            if self._in_a_row >= _FAILING_AFTER:
                self._tell("embeddings_working", "questions are compared by the server's vectors again")
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if self._in_a_row == _FAILING_AFTER:
            self._tell("embeddings_failing", f"{why}; questions are compared by the built-in hashing until it answers")
