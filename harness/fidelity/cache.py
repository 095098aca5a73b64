"""Encoded texts on disk: a bounded SQLite file, so that a second run does not encode the same references again."""

import hashlib
import io
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
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
COLUMNS = ("key", "used", "size_bytes", "data")
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REMEDIES = MappingProxyType(  # what to do where SQLite refuses a file that is whole
    {
        sqlite3.SQLITE_BUSY: "another process holds it: wait until that has ended, or name another folder",
        sqlite3.SQLITE_LOCKED: "another process holds it: wait until that has ended, or name another folder",
        sqlite3.SQLITE_FULL: "its disk is full: free some space, or name a folder on another disk",
        sqlite3.SQLITE_READONLY: "make the file and its folder writable, or name another folder",
        sqlite3.SQLITE_PERM: "make the file and its folder writable, or name another folder",
        sqlite3.SQLITE_CANTOPEN: "make the file and its folder readable and writable, or name another folder",
        sqlite3.SQLITE_IOERR: "its disk cannot be read or written: look after that, or name another folder",
    }
)
_ANY_REMEDY = "name another folder, or remove the file if nothing else needs it"


class OtherTableError(Exception):
    """The file is whole, but its table `encoded` has other columns than are written here."""


class EncodedCache:
    """Keyed by model revision, settings and text; the least recently used go first beyond `limit_bytes`.

    A file that SQLite calls damaged, or no database, is made anew whenever that shows; of one whose table has other
    columns, that table is. Where the file cannot be used for another reason, such as a full disk, missing rights or
    another process that locks it for longer than `busy_s`, it is left as it is and the rest goes on without it. Each
    is told on `err`, once. Raises ConfigError for a folder that cannot be made, and for a bound below 1.
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{folder} cannot be the folder of the cache: {error.strerror}; name another") from None
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
        if self._given_up:
            return otherwise
        try:
            if self._database is None:
                self._database = connected(self._path, self._busy_s)
            return use(self._database)
        except sqlite3.ProgrammingError as error:  # used as it must not be, as from another thread; it stays open
            self._give_up(error)
            return otherwise
        except (sqlite3.Error, OtherTableError) as error:
            self.close()
            if (damaged(error) or isinstance(error, OtherTableError)) and not self._mended:
                self._mend(error)
            else:
                self._give_up(error)
            return otherwise

    def _mend(self, error: Exception) -> None:
        """Make the file or its table anew: they hold nothing that cannot be computed again."""
        self._mended = True
        told = "its table" if isinstance(error, OtherTableError) else "it"
        try:
            if isinstance(error, OtherTableError):
                without_table(self._path, self._busy_s)
            else:
                self._remove()
            self._database = connected(self._path, self._busy_s)
        except (OSError, sqlite3.Error, OtherTableError) as fault:
            self._give_up(fault)
        else:
            print(f"{self._path}: damaged ({error}); {told} was made anew", file=self._err)

    def _remove(self) -> None:
        for end in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + end).unlink(missing_ok=True)

    def _give_up(self, error: Exception) -> None:
        self._given_up = True
        print(
            f"{self._path}: cannot be used ({error}); {remedy(error)}; going on without it, nothing is lost but time",
            file=self._err,
        )

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


def primary_code(error: Exception) -> int | None:
    """The number of SQLite's error, without what it adds to it; None where the error is not SQLite's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def damaged(error: Exception) -> bool:
    """Whether the file itself is at fault: malformed, or no database at all."""
    return primary_code(error) in _DAMAGE


def remedy(error: Exception) -> str:
    """What whoever runs this can do about a file that cannot be used."""
    if isinstance(error, sqlite3.ProgrammingError):
        return "use it in the thread that made it"
    code = primary_code(error)
    return _ANY_REMEDY if code is None else _REMEDIES.get(code, _ANY_REMEDY)


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
    """Raises sqlite3.Error, and OtherTableError for a table with other columns."""
    database = sqlite3.connect(path, timeout=busy_s)
    try:
        require_columns(database)
        database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {SCHEMA}")
    except (sqlite3.Error, OtherTableError):
        database.close()
        raise
    return database


def require_columns(database: sqlite3.Connection) -> None:
    """Raises OtherTableError where a table of that name is there and has other columns."""
    found = tuple(str(row[1]) for row in database.execute("PRAGMA table_info(encoded)"))
    if found and found != COLUMNS:
        raise OtherTableError(f"the columns of its table are {', '.join(found)}, and not {', '.join(COLUMNS)}")


def without_table(path: Path, busy_s: float) -> None:
    """Drop the table, and leave what else the file holds."""
    with closing(sqlite3.connect(path, timeout=busy_s)) as database:
        database.execute("DROP TABLE encoded")


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
