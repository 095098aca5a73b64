"""What the file does not know yet: jobs that this gateway works on, and answers that a full disk did not take."""

from threading import Lock
from typing import NamedTuple

import msgspec


class Answer(NamedTuple):
    """What its owner fetches."""

    status: int
    body: bytes
    settled_unix_s: float


class Held:
    """Safe in any thread. No more answers than jobs were accepted, so the queue's bounds are its bounds."""

    def __init__(self) -> None:
        self.lock = Lock()  # of whoever claims: two must not take one job that cannot be marked in the file
        self.at_work: set[str] = set()
        self._answers: dict[str, Answer] = {}

    def names(self) -> str:
        """Every job that is in hand, as a JSON list."""
        return msgspec.json.encode([*self.at_work, *self._answers]).decode()

    def keep(self, identity: str, answer: Answer) -> None:
        with self.lock:
            self._answers[identity] = answer
            self.at_work.discard(identity)

    def answer(self, identity: str) -> Answer | None:
        return self._answers.get(identity)

    def answers(self) -> tuple[tuple[str, Answer], ...]:
        with self.lock:
            return tuple(self._answers.items())

    def forget(self, identity: str) -> None:
        with self.lock:
            self.at_work.discard(identity)
            self._answers.pop(identity, None)

    def expire(self, oldest_unix_s: float) -> None:
        """Forget the answers that were given before that."""
        for identity, kept in self.answers():
            if kept.settled_unix_s < oldest_unix_s:
                self.forget(identity)
