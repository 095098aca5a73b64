"""Degraded answers that were held back, in a durable queue until a person has decided."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from uuid import uuid4

import msgspec

from gateway.errors import GatewayError

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS review (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, queued_unix_s REAL NOT NULL,
    path TEXT NOT NULL, task TEXT NOT NULL, delta REAL, entropy REAL NOT NULL,
    question TEXT NOT NULL, answer TEXT NOT NULL, stands_for TEXT,
    settled_unix_s REAL, note TEXT NOT NULL DEFAULT ''
)
"""
_COLUMNS = "id, status, queued_unix_s, path, task, delta, entropy, question, answer, stands_for, settled_unix_s, note"
_BUSY_S = 2.0  # how long to wait for another process that writes


class ReviewError(GatewayError):
    """The queue cannot be read or written, or has no such entry."""


class Status(StrEnum):
    """Where an entry stands."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """An answer on its way into the queue; `delta` None: not measured."""

    path: str
    task: str
    delta: float | None
    entropy: float
    question: str
    answer: str
    stands_for: str | None


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the queue."""

    id: str
    status: Status
    queued_unix_s: float
    path: str
    task: str
    delta: float | None
    entropy: float
    question: str
    answer: str
    stands_for: str | None
    settled_unix_s: float | None
    note: str


class ReviewQueue:
    """One SQLite file. Every call opens and closes its own connection, so it may run in any thread and process."""

    def __init__(self, path: Path, *, max_bytes: int, now_unix_s: Callable[[], float]) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._now_unix_s = now_unix_s

    def put(self, held: Held) -> str:
        """Keep it on disk before returning its id. Raises ReviewError, also when the disk or the queue is full."""
        identity = f"rev-{uuid4().hex[:12]}"
        values = (identity, Status.WAITING.value, self._now_unix_s(), held.path, held.task, held.delta, held.entropy)
        texts = (held.question, held.answer, held.stands_for)
        with self._open(create=True) as db:
            db.execute(
                "INSERT INTO review"
                " (id, status, queued_unix_s, path, task, delta, entropy, question, answer, stands_for)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*values, *texts),
            )
        return identity

    def entries(self, status: Status | None = Status.WAITING) -> list[Review]:
        """Oldest first; None: of every status."""
        with self._open() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM review WHERE ? IS NULL OR status = ? ORDER BY number", (status, status)
            )
            return [_review(row) for row in rows]

    def entry(self, identity: str) -> Review:
        """Raises ReviewError when there is no such entry."""
        with self._open() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM review WHERE id = ?", (identity,)).fetchone()
        if row is None:
            raise ReviewError(f"{self._path}: no entry {identity!r}; `truefall review list` names those that wait")
        return _review(row)

    def settle(self, identity: str, status: Status, *, note: str = "") -> Review:
        """Decide once. Raises ReviewError when there is no such entry, or it is decided already."""
        before = self.entry(identity)
        with self._open() as db:
            changed = db.execute(
                "UPDATE review SET status = ?, settled_unix_s = ?, note = ? WHERE id = ? AND status = ?",
                (status.value, self._now_unix_s(), note, identity, Status.WAITING.value),
            ).rowcount
        if not changed:
            raise ReviewError(f"{identity} is {before.status} already; an entry is decided once")
        return self.entry(identity)

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection in one transaction, committed at the end of the block."""
        if not create and not self._path.is_file():
            raise ReviewError(f"{self._path}: no such review queue")
        try:
            if create:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self._path, timeout=_BUSY_S)
            try:
                self._prepare(db)
                with db:
                    yield db
            finally:
                db.close()
        except (sqlite3.Error, OSError) as error:
            raise ReviewError(f"{self._path}: {error}") from None

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise ReviewError(f"{self._path}: review queue of version {version}, this one reads {_VERSION}")
        page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {max(8, self._max_bytes // page_bytes)}")
        db.execute("PRAGMA synchronous = FULL")
        if version == 0:
            db.execute(_SCHEMA)
            db.execute(f"PRAGMA user_version = {_VERSION}")
            db.commit()


def _review(row: tuple[object, ...]) -> Review:
    names = [name.strip() for name in _COLUMNS.split(",")]
    return msgspec.convert(dict(zip(names, row, strict=True)), Review)
