"""The ids of a file's rows: each may stand once, and a billion of them need no more memory than a thousand."""

import hashlib
import sqlite3
from typing import Self

from harness.errors import ConfigError
from harness.fidelity.pairs import Row, RowError, shown

MEMORY_BYTES = 16 << 20  # beyond it SQLite writes to a temporary file, about 40 bytes an id
SCHEMA = "CREATE TABLE ids (digest BLOB PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID"


class Ids:
    """A private SQLite table of 16 bytes of hash and a line each; no file while it fits into `memory_bytes`."""

    def __init__(self, *, memory_bytes: int = MEMORY_BYTES) -> None:
        self._database = sqlite3.connect("", isolation_level=None)  # "": a temporary file that SQLite deletes itself
        for setting in (f"cache_size = -{memory_bytes >> 10}", "journal_mode = OFF", "synchronous = OFF"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute(SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, row: Row) -> None:
        """Raises RowError when an earlier row has the same id (7 and "7" are the same), ConfigError on a full disk."""
        digest = hashlib.blake2b(row.case.id.encode(), digest_size=16).digest()
        try:
            new = self._database.execute("INSERT OR IGNORE INTO ids VALUES (?, ?)", (digest, row.line)).rowcount
        except sqlite3.OperationalError as error:
            raise ConfigError(
                f"the temporary file for the ids cannot be written: {error}; free some space or set TMPDIR"
            ) from None
        if not new:
            raise RowError(f"id {shown(row.id)} stands in line {self._line_of(digest)} too; every row needs its own")

    def _line_of(self, digest: bytes) -> int:
        return int(self._database.execute("SELECT line FROM ids WHERE digest = ?", (digest,)).fetchone()[0])
