"""CARD.md: what a set holds, where it comes from, under which licence, and the sha256 of its file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from evalsets.errors import FileError

CARD_FILE = "CARD.md"
_BEGIN = "<!-- facts: written by evalsets.card, do not edit -->"
_END = "<!-- /facts -->"
_SHA = re.compile(r"\| sha256 \| `([0-9a-f]{64})` \|")


def file_sha256(path: Path) -> str:
    """The sha256 of the bytes of `path`, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def card_sha256(card: Path) -> str | None:
    """The sha256 that `card` states, or None where there is no card or none is stated."""
    if not card.is_file():
        return None
    found = _SHA.search(card.read_text(encoding="utf-8"))
    return found.group(1) if found else None


def write_card(records: Path, rows: Iterable[tuple[str, str]]) -> Path:
    """Bring the facts in the CARD.md beside `records` up to date; the prose around them stays.

    `rows` are (name, value) pairs for the table, before the sha256. Raises FileError where the card has
    no place for the facts.
    """
    card = records.parent / CARD_FILE
    text = card.read_text(encoding="utf-8") if card.is_file() else f"# {records.parent.name}\n\n{_BEGIN}\n{_END}\n"
    head, begin, rest = text.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        raise FileError(card, 0, "no place for the facts", f"a line {_BEGIN!r} and a later line {_END!r}")
    table = [*rows, ("file", f"`{records.name}`"), ("sha256", f"`{file_sha256(records)}`")]
    lines = ["| what | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in table)]
    card.write_text(head + "\n".join([_BEGIN, *lines, _END]) + tail, encoding="utf-8")
    return card


def counted(values: Iterable[str]) -> str:
    """Counts in one line, most frequent first: "en 44, zh 28"."""
    ranked = sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked)
