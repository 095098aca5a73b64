"""Accepted requests and their answers, in one SQLite file that several gateways may share."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from gateway.deferred.config import MOST_LEASE_S
from gateway.deferred.exposed import AsyncEvent
from gateway.deferred.held import Answer, Held
from gateway.deferred.job import Asked, Claimed, Found, Standing, Status, StoreError
from gateway.errors import ConfigError

_VERSION = 1
_SCHEMA = """
CREATE TABLE job (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, status TEXT NOT NULL,
    accepted_unix_s REAL NOT NULL, settled_unix_s REAL, lease_unix_s REAL NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0, request BLOB, answer BLOB, answer_status INTEGER
)
"""
_OTHERS = "id NOT IN (SELECT value FROM json_each(?))"
_OVER = "(lease_unix_s < ? OR lease_unix_s > ?)"  # run out, or so far ahead that the clock was set back since
_FREE = f"(status = 'queued' OR (status = 'running' AND {_OVER})) AND {_OTHERS}"
_FARTHEST_S = 4 * MOST_LEASE_S  # how far ahead a lease may end, whatever the gateway that took it has set
_BUSY_S = 2.0
_OWNER_ONLY = 0o600
_UNWRITABLE = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
MOST_TRIES = 2  # a request during which the gateway died is tried once more, and then never again


def _nothing(_what: AsyncEvent, _count: int) -> None:
    """Nobody counts."""


class JobStore:
    """Every call opens and closes its own connection, so it may run in any thread and process.

    `ended` is told, in that thread, of jobs that end without anybody who works on them: LOST or EXPIRED, and how many.
    While the disk is full, what was accepted is worked on all the same, and its answers wait in memory to be written.
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
        self._held = Held()

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
        """The oldest job that nobody works on. Raises StoreError where there is none that can be worked on."""
        self.settle()
        with self._held.lock:
            try:
                row = self._claim(lease_s)
            except StoreError as error:
                row = self._oldest() if error.unwritable else None
                if row is None:
                    raise
            if row is None:
                return None
            self._held.at_work.add(row[0])
        return Claimed(row[0], row[1], msgspec.json.decode(row[2], type=Asked))

    def _claim(self, lease_s: float) -> tuple[str, str, bytes] | None:
        now_s, ours = self._now_unix_s(), self._held.names()
        farthest_s = now_s + _FARTHEST_S
        with self._open() as db:
            lost = db.execute(
                "UPDATE job SET status = 'lost', settled_unix_s = ?, request = NULL WHERE status = 'running'"
                f" AND {_OVER} AND tries >= ? AND {_OTHERS}",
                (now_s, now_s, farthest_s, MOST_TRIES, ours),
            ).rowcount
            row: tuple[str, str, bytes] | None = db.execute(
                "UPDATE job SET status = 'running', tries = tries + 1, lease_unix_s = ? WHERE number = (SELECT number"
                f" FROM job WHERE {_FREE} ORDER BY number LIMIT 1) RETURNING id, tenant, request",
                (now_s + lease_s, now_s, farthest_s, ours),
            ).fetchone()
        self._ended(AsyncEvent.LOST, lost)
        return row

    def _oldest(self) -> tuple[str, str, bytes] | None:
        """The same without a word to the file, which cannot be written."""
        now_s = self._now_unix_s()
        with self._open() as db:
            row: tuple[str, str, bytes] | None = db.execute(
                f"SELECT id, tenant, request FROM job WHERE {_FREE} AND tries < ? ORDER BY number LIMIT 1",
                (now_s, now_s + _FARTHEST_S, self._held.names(), MOST_TRIES),
            ).fetchone()
        return row

    def renew(self, identity: str, *, lease_s: float) -> None:
        """Still at it."""
        with self._open() as db:
            db.execute("UPDATE job SET lease_unix_s = ? WHERE id = ?", (self._now_unix_s() + lease_s, identity))

    def give_back(self, identity: str) -> None:
        """Not done, and not by the job's fault."""
        self._held.forget(identity)
        with self._open() as db:
            db.execute(
                "UPDATE job SET status = 'queued', tries = tries - 1 WHERE id = ? AND status = 'running'", (identity,)
            )

    def finish(self, identity: str, *, status: int, answer: bytes) -> None:
        """Keep the answer, and the request no longer; in memory until the file takes it."""
        self._held.keep(identity, Answer(status, answer, self._now_unix_s()))
        self.settle()

    @property
    def unsaved(self) -> int:
        """Answers that only memory holds."""
        return len(self._held.answers())

    def settle(self) -> None:
        """Write the answers that wait for it, as far as the file takes them now."""
        for identity, kept in self._held.answers():
            try:
                with self._open() as db:
                    db.execute(
                        "UPDATE job SET status = 'done', settled_unix_s = ?, answer_status = ?, answer = ?,"
                        " request = NULL WHERE id = ?",
                        (kept.settled_unix_s, kept.status, kept.body, identity),
                    )
            except StoreError:
                return
            self._held.forget(identity)

    def find(self, identity: str, *, tenant: str) -> Found | None:
        """None when there is none such of this tenant's."""
        with self._open() as db:
            row = db.execute(
                "SELECT status, accepted_unix_s, answer, answer_status FROM job WHERE id = ? AND tenant = ?",
                (identity, tenant),
            ).fetchone()
        if row is None:
            return None
        age_s = max(0.0, self._now_unix_s() - row[1])
        kept = self._held.answer(identity)
        if kept is not None:
            return Found(Status.DONE, age_s, kept.body, kept.status)
        return Found(Status(row[0]), age_s, row[2], row[3])

    def remove(self, identity: str, *, tenant: str) -> bool:
        """Forget it; False when there is none such. A job that runs ends, and its answer is not kept."""
        with self._open() as db:
            removed = bool(db.execute("DELETE FROM job WHERE id = ? AND tenant = ?", (identity, tenant)).rowcount)
        if removed and self._held.answer(identity) is not None:
            self._held.forget(identity)
        return removed

    def tidy(self) -> None:
        """Forget what was settled longer ago than the time to live, and what waited that long.

        What is dated in the future is dated now: the clock was set back since, and its time to live begins again.
        """
        now_s = self._now_unix_s()
        oldest_s = now_s - self._ttl_s
        self._held.expire(oldest_s)
        with self._open() as db:
            for column in ("accepted_unix_s", "settled_unix_s"):
                db.execute(f"UPDATE job SET {column} = ? WHERE {column} > ?", (now_s, now_s))
            db.execute("DELETE FROM job WHERE settled_unix_s < ?", (oldest_s,))
            expired = db.execute(
                "DELETE FROM job WHERE settled_unix_s IS NULL AND accepted_unix_s < ?", (oldest_s,)
            ).rowcount
        self._ended(AsyncEvent.EXPIRED, expired)

    def standing(self) -> Standing:
        """Raises StoreError."""
        kept = [identity for identity, _ in self._held.answers()]
        names = msgspec.json.encode(kept).decode()
        with self._open() as db:
            found = dict(db.execute(f"SELECT status, count(*) FROM job WHERE {_OTHERS} GROUP BY status", (names,)))
            oldest_unix_s = db.execute(
                f"SELECT min(accepted_unix_s) FROM job WHERE settled_unix_s IS NULL AND {_OTHERS}", (names,)
            ).fetchone()[0]
        found[Status.DONE.value] = found.get(Status.DONE.value, 0) + len(kept)
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
                    if db.in_transaction:  # a full disk may have ended it
                        db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite adds to it
            raise StoreError(f"{self._path}: {error}", unwritable=code in _UNWRITABLE) from None
