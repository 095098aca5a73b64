"""Encoded texts on disk: a bounded SQLite file, so that a second run does not encode the same references again."""

import hashlib
import io
import sqlite3
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from harness.errors import ConfigError
from harness.fidelity.encoder import Encoded

SCHEMA = """
CREATE TABLE IF NOT EXISTS encoded (
    key TEXT PRIMARY KEY, used INTEGER NOT NULL, size_bytes INTEGER NOT NULL, data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON encoded (used);
"""


class EncodedCache:
    """Keyed by model revision, settings and text; the least recently used go first beyond `limit_bytes`."""

    def __init__(self, folder: Path, *, settings: str, limit_bytes: int = 1 << 30) -> None:
        if limit_bytes < 1:
            raise ConfigError(f"limit_bytes is {limit_bytes}; it has to be at least 1")
        folder.mkdir(parents=True, exist_ok=True)
        self._settings, self._limit_bytes = settings, limit_bytes
        self._database = opened(folder / "encoded.sqlite")

    def get(self, texts: Iterable[str]) -> dict[str, Encoded]:
        """Those of `texts` that are there and readable."""
        found: dict[str, Encoded] = {}
        with self._database:
            turn = self._turn()
            for text in texts:
                key = self.key(text)
                row = self._database.execute("SELECT data FROM encoded WHERE key = ?", (key,)).fetchone()
                if row and (encoded := unpacked(row[0])) is not None:
                    found[text] = encoded
                    self._database.execute("UPDATE encoded SET used = ? WHERE key = ?", (turn, key))
        return found

    def put(self, entries: Mapping[str, Encoded]) -> None:
        with self._database:
            turn = self._turn()
            rows = [(self.key(text), turn, packed(encoded)) for text, encoded in entries.items()]
            self._database.executemany(
                "INSERT OR REPLACE INTO encoded VALUES (?, ?, ?, ?)",
                [(key, used, len(data), data) for key, used, data in rows],
            )
            self._evict()

    def key(self, text: str) -> str:
        return hashlib.sha256(f"{self._settings}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()

    def size_bytes(self) -> int:
        return int(self._database.execute("SELECT COALESCE(SUM(size_bytes), 0) FROM encoded").fetchone()[0])

    def close(self) -> None:
        self._database.close()

    def _turn(self) -> int:
        return int(self._database.execute("SELECT COALESCE(MAX(used), 0) + 1 FROM encoded").fetchone()[0])

    def _evict(self) -> None:
        excess = self.size_bytes() - self._limit_bytes
        if excess <= 0:
            return
        for key, size in self._database.execute("SELECT key, size_bytes FROM encoded ORDER BY used, key").fetchall():
            self._database.execute("DELETE FROM encoded WHERE key = ?", (key,))
            excess -= size
            if excess <= 0:
                return


def opened(path: Path) -> sqlite3.Connection:
    """The database, made anew when the file is damaged: it holds nothing that cannot be computed again."""
    try:
        return connected(path)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
        return connected(path)


def connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30.0)
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
