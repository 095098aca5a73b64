"""The answer cache on disk: a header line with the version, then one entry a line; replaced as a whole."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gateway.answers.cache import Entry
from gateway.damaged import DAMAGED, why
from gateway.errors import ConfigError

VERSION = 1


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    truefall_cache: int
    space: str  # the embedding that made the vectors
    wording: str  # of the lexicon that made the keys


def save(path: Path, entries: Iterable[Entry], *, space: str, wording: str) -> None:
    """Write all, then swap, so that a reader never sees half a file. Raises OSError; the old file then stays."""
    encode = msgspec.json.encode
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with partial.open("wb") as out:
            out.write(encode(Header(truefall_cache=VERSION, space=space, wording=wording)) + b"\n")
            for entry in entries:
                out.write(encode(entry) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        partial.chmod(0o600)  # answers are the tenants' own
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load(path: Path, *, space: str, wording: str) -> list[Entry]:
    """The entries, in the order they were written. Raises ConfigError for a file of another kind; OSError."""
    lines = path.read_bytes().splitlines()
    try:
        header = msgspec.json.decode(lines[0] if lines else b"", type=Header)
    except DAMAGED:
        raise ConfigError(f"{path}:1: not a file of kept answers") from None
    if header.truefall_cache != VERSION:
        raise ConfigError(f"{path}:1: version {header.truefall_cache} of kept answers, this gateway reads {VERSION}")
    for name, found, wanted in (("embedding", header.space, space), ("lexicon", header.wording, wording)):
        if found != wanted:
            raise ConfigError(f"{path}:1: kept with {name} {found!r}, this gateway uses {wanted!r}")
    entries = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            entries.append(msgspec.json.decode(line, type=Entry))
        except DAMAGED as error:
            raise ConfigError(f"{path}:{number}: not a kept answer: {why(error)}") from None
    return entries
