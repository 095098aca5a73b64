"""Encoded texts on disk: a bounded SQLite file, so that a second run does not encode the same references again."""

import hashlib
import io
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO, TypeVar

import numpy as np

from harness.errors import ConfigError
from harness.fidelity.encoder import Encoded

T = TypeVar("T")
SCHEMA = """
CREATE TABLE IF NOT EXISTS encoded (
    key TEXT PRIMARY KEY, used INTEGER NOT NULL, size_bytes INTEGER NOT NULL, data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON encoded (used);
"""


class EncodedCache:
    """Keyed by model revision, settings and text; the least recently used go first beyond `limit_bytes`.

    A damaged file is made anew, whenever the damage shows. Where the file cannot be used at all, such as while another
    process locks it for longer than `busy_s`, the rest goes on without it. Either is told on `err`, once.
    """

    def __init__(
        self,
        folder: Path,
        *,
        settings: str,
        limit_bytes: int = 1 << 30,
        busy_s: float = 30.0,
        err: TextIO | None = None,
    ) -> None:
        if limit_bytes < 1:
            raise ConfigError(f"limit_bytes is {limit_bytes}; it has to be at least 1")
        folder.mkdir(parents=True, exist_ok=True)
        self._settings, self._limit_bytes, self._busy_s = settings, limit_bytes, busy_s
        self._path, self._err = folder / "encoded.sqlite", err or sys.stderr
        self._mended = self._given_up = False
        self._database: sqlite3.Connection | None = None
        self._tried(size_bytes, 0)

    def get(self, texts: Iterable[str]) -> dict[str, Encoded]:
        """Those of `texts` that are there and readable."""
        wanted = list(texts)
        return self._tried(lambda database: self._get(database, wanted), {})

    def put(self, entries: Mapping[str, Encoded]) -> None:
        self._tried(lambda database: self._put(database, entries), None)

    def key(self, text: str) -> str:
        return hashlib.sha256(f"{self._settings}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def size_bytes(self) -> int:
        return self._tried(size_bytes, 0)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _tried(self, use: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What `use` gives; `otherwise` where the file is damaged, and so made anew, or cannot be used."""
        try:
            if self._database is None and not self._given_up:
                self._database = connected(self._path, self._busy_s)
            return otherwise if self._database is None else use(self._database)
        except sqlite3.DatabaseError as error:
            self.close()
            if damaged(error) and not self._mended:
                self._mend(error)
            else:
                self._give_up(error)
            return otherwise

    def _mend(self, error: sqlite3.Error) -> None:
        """Make the file anew: it holds nothing that cannot be computed again."""
        self._mended = True
        print(f"{self._path}: damaged ({error}); it was made anew", file=self._err)
        try:
            for end in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + end).unlink(missing_ok=True)
            self._database = connected(self._path, self._busy_s)
        except (OSError, sqlite3.DatabaseError) as fault:
            self._give_up(fault)

    def _give_up(self, error: Exception) -> None:
        self._given_up = True
        print(f"{self._path}: cannot be used ({error}); going on without it, nothing is lost but time", file=self._err)

    def _get(self, database: sqlite3.Connection, texts: Iterable[str]) -> dict[str, Encoded]:
        found: dict[str, Encoded] = {}
        with database:
            turn = next_turn(database)
            for text in texts:
                key = self.key(text)
                row = database.execute("SELECT data FROM encoded WHERE key = ?", (key,)).fetchone()
                if row and (encoded := unpacked(row[0])) is not None:
                    found[text] = encoded
                    database.execute("UPDATE encoded SET used = ? WHERE key = ?", (turn, key))
        return found

    def _put(self, database: sqlite3.Connection, entries: Mapping[str, Encoded]) -> None:
        with database:
            turn = next_turn(database)
            rows = [(self.key(text), turn, packed(encoded)) for text, encoded in entries.items()]
            database.executemany(
                "INSERT OR REPLACE INTO encoded VALUES (?, ?, ?, ?)",
                [(key, used, len(data), data) for key, used, data in rows],
            )
            evict(database, self._limit_bytes)


def damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is at fault, and not who else uses it, its rights or the disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def size_bytes(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT COALESCE(SUM(size_bytes), 0) FROM encoded").fetchone()[0])


def next_turn(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT COALESCE(MAX(used), 0) + 1 FROM encoded").fetchone()[0])


def evict(database: sqlite3.Connection, limit_bytes: int) -> None:
    """Drop the least recently used entries beyond `limit_bytes`."""
    excess = size_bytes(database) - limit_bytes
    if excess <= 0:
        return
    for key, size in database.execute("SELECT key, size_bytes FROM encoded ORDER BY used, key").fetchall():
        database.execute("DELETE FROM encoded WHERE key = ?", (key,))
        excess -= size
        if excess <= 0:
            return


def connected(path: Path, busy_s: float) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=busy_s)
    try:
        database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {SCHEMA}")
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database


def packed(encoded: Encoded) -> bytes:
    out = io.BytesIO()
    np.savez(
        out,
        ids=encoded.ids,
        spans=encoded.spans,
        content=encoded.content,
        tokens=encoded.tokens,
        sentence=encoded.sentence,
        unknown=np.array(encoded.unknown, dtype=np.str_),
        flags=np.array(encoded.flags, dtype=np.str_),
    )
    return out.getvalue()


def unpacked(data: bytes) -> Encoded | None:
    """None when the bytes are damaged."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("ids", "spans", "content", "tokens", "sentence")}
            unknown, flags = (tuple(str(word) for word in file[name]) for name in ("unknown", "flags"))
            return Encoded(**arrays, unknown=unknown, flags=flags)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
