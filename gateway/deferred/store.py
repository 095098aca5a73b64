"""Accepted requests and their answers, in one SQLite file that several gateways may share."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from gateway.deferred.exposed import AsyncEvent
from gateway.errors import ConfigError, GatewayError

_VERSION = 1
_SCHEMA = """
CREATE TABLE job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, status TEXT NOT NULL,
    accepted_unix_s REAL NOT NULL, settled_unix_s REAL, lease_unix_s REAL NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0, request BLOB, answer BLOB, answer_status INTEGER
)
"""
_BUSY_S = 2.0
_OWNER_ONLY = 0o600
MOST_TRIES = 2  # a request during which the gateway died is tried once more, and then never again


def _nothing(_what: AsyncEvent, _count: int) -> None:
    """Nobody counts."""


class StoreError(GatewayError):
    """The file cannot be read or written, or is full."""


class Status(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    LOST = "lost"  # the gateway died while it ran, twice


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it is kept: nothing that proves who asks."""

    body: dict[str, object]
    caller: tuple[str, str, str]
    forward: dict[str, str]


class Claimed(NamedTuple):
    """A job that this gateway works on until its lease is over."""

    id: str
    tenant: str
    asked: Asked


class Found(NamedTuple):
    """A job as its owner sees it; `answer` is the body to send with `answer_status`, once there is one."""

    status: Status
    age_s: float
    answer: bytes | None
    answer_status: int | None


class Standing(NamedTuple):
    """What the file holds: jobs by status, and the age of the oldest that is queued or runs (0 where none is)."""

    jobs: dict[Status, int]
    oldest_s: float


class JobStore:
    """Every call opens and closes its own connection, so it may run in any thread and process.

    `ended` is told, in that thread, of jobs that end without anybody who works on them: LOST or EXPIRED, and how many.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_pending: int,
        max_bytes: int,
        ttl_s: float,
        now_unix_s: Callable[[], float],
        ended: Callable[[AsyncEvent, int], None] = _nothing,
    ) -> None:
        self._path = path
        self._max_pending = max_pending
        self._max_bytes = max_bytes
        self._ttl_s = ttl_s
        self._now_unix_s = now_unix_s
        self._ended = ended

    def prepare(self) -> None:
        """Make the file, readable by its owner only. Raises ConfigError when it cannot be used."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=_OWNER_ONLY)
            with self._open() as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version not in (0, _VERSION):
                    raise ConfigError(f"{self._path}: asynchronous answers of version {version}, this reads {_VERSION}")
                if version == 0:
                    db.execute(_SCHEMA)
                    db.execute(f"PRAGMA user_version = {_VERSION}")
        except (StoreError, OSError) as error:
            raise ConfigError(f"{self._path}: {error}") from None

    def put(self, asked: Asked, *, tenant: str) -> str | None:
        """Keep it on disk before returning its id; None when too many wait. Raises StoreError."""
        identity = f"async-{uuid4().hex}"
        with self._open() as db:
            pending = db.execute("SELECT count(*) FROM job WHERE status IN ('queued', 'running')").fetchone()[0]
            if pending >= self._max_pending:
                return None
            db.execute(
                "INSERT INTO job (id, tenant, status, accepted_unix_s, request) VALUES (?, ?, 'queued', ?, ?)",
                (identity, tenant, self._now_unix_s(), msgspec.json.encode(asked)),
            )
        return identity

    def claim(self, *, lease_s: float) -> Claimed | None:
        """The oldest job that nobody works on."""
        now_s = self._now_unix_s()
        with self._open() as db:
            lost = db.execute(
                "UPDATE job SET status = 'lost', settled_unix_s = ?, request = NULL"
                " WHERE status = 'running' AND lease_unix_s < ? AND tries >= ?",
                (now_s, now_s, MOST_TRIES),
            ).rowcount
            row = db.execute(
                "UPDATE job SET status = 'running', tries = tries + 1, lease_unix_s = ? WHERE number = (SELECT number"
                " FROM job WHERE status = 'queued' OR (status = 'running' AND lease_unix_s < ?) ORDER BY number"
                " LIMIT 1) RETURNING id, tenant, request",
                (now_s + lease_s, now_s),
            ).fetchone()
        self._ended(AsyncEvent.LOST, lost)
        return None if row is None else Claimed(row[0], row[1], msgspec.json.decode(row[2], type=Asked))

    def renew(self, identity: str, *, lease_s: float) -> None:
        """Still at it."""
        with self._open() as db:
            db.execute("UPDATE job SET lease_unix_s = ? WHERE id = ?", (self._now_unix_s() + lease_s, identity))

    def give_back(self, identity: str) -> None:
        """Not done, and not by the job's fault."""
        with self._open() as db:
            db.execute(
                "UPDATE job SET status = 'queued', tries = tries - 1 WHERE id = ? AND status = 'running'", (identity,)
            )

    def finish(self, identity: str, *, status: int, answer: bytes) -> None:
        """Keep the answer, and the request no longer."""
        with self._open() as db:
            db.execute(
                "UPDATE job SET status = 'done', settled_unix_s = ?, answer_status = ?, answer = ?, request = NULL"
                " WHERE id = ?",
                (self._now_unix_s(), status, answer, identity),
            )

    def find(self, identity: str, *, tenant: str) -> Found | None:
        """None when there is none such of this tenant's."""
        with self._open() as db:
            row = db.execute(
                "SELECT status, accepted_unix_s, answer, answer_status FROM job WHERE id = ? AND tenant = ?",
                (identity, tenant),
            ).fetchone()
        return None if row is None else Found(Status(row[0]), max(0.0, self._now_unix_s() - row[1]), row[2], row[3])

    def remove(self, identity: str, *, tenant: str) -> bool:
        """Forget it; False when there is none such. A job that runs ends, and its answer is not kept."""
        with self._open() as db:
            return bool(db.execute("DELETE FROM job WHERE id = ? AND tenant = ?", (identity, tenant)).rowcount)

    def tidy(self) -> None:
        """Forget what was settled longer ago than the time to live, and what waited that long."""
        oldest_s = self._now_unix_s() - self._ttl_s
        with self._open() as db:
            db.execute("DELETE FROM job WHERE settled_unix_s < ?", (oldest_s,))
            expired = db.execute(
                "DELETE FROM job WHERE settled_unix_s IS NULL AND accepted_unix_s < ?", (oldest_s,)
            ).rowcount
        self._ended(AsyncEvent.EXPIRED, expired)

    def standing(self) -> Standing:
        """Raises StoreError."""
        with self._open() as db:
            found = dict(db.execute("SELECT status, count(*) FROM job GROUP BY status").fetchall())
            oldest_unix_s = db.execute("SELECT min(accepted_unix_s) FROM job WHERE settled_unix_s IS NULL").fetchone()[
                0
            ]
        oldest_s = 0.0 if oldest_unix_s is None else max(0.0, self._now_unix_s() - oldest_unix_s)
        return Standing({status: int(found.get(status.value, 0)) for status in Status}, oldest_s)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection in one transaction that writes, committed at the end of the block."""
        try:
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)) as db:
                page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
                db.execute(f"PRAGMA max_page_count = {max(16, self._max_bytes // page_bytes)}")
                db.execute("PRAGMA secure_delete = ON")  # a request that is forgotten is gone from the file, too
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from None
