"""Find pieces of code and comparisons by signs, in which the signs carry the meaning: `x[1:]`, a < b, i += 1."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPERATOR = r"(?:[<>=!+*/%|^~-]|:=)+"
_SPACED = rf"(?<![A-Za-z0-9_])\w+(?: {_OPERATOR} -?[A-Za-z0-9_.]+%?)+"
_PIECE = re.compile(rf"{_SPACED}|[!-~]+", re.ASCII)
_SIGN = re.compile(r"[\[\]{}<>=~^|]|\*\*| [+*/-] ")
_DRESS = re.compile(r"\*\*(?=\S)([^*\n]{1,400}?)(?<=\S)\*\*|<(https?://[^<>\s]+)>")  # bold, and a link in brackets
_ALIKE = (  # signs that are written in several ways, or say nothing
    ("≤", "<="), ("≥", ">="), ("≠", "!="), ("==", "="), ("=>", ">"), ("->", ">"), ("→", ">"), ("<-", "<"), ("←", "<"),
    ('"', ""), ("'", ""), ("“", ""), ("”", ""), ("`", ""), ("\\", ""),
)  # fmt: skip
_EDGES = " .,;:!?()*_%"
_ONE_PAIR = re.compile(r"[\[{<]+[^\[\]{}<>=~^|]*[\]}>]+")  # a placeholder, however it is bracketed


class Piece(NamedTuple):
    """`words` are its letters and digits, in order; `signs` all that stands before, between and behind them."""

    words: tuple[str, ...]
    signs: tuple[str, ...]
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """All of a text that hold a word, in order."""
    text = _DRESS.sub(r"\1\2", text)
    for one, other in _ALIKE:
        text = text.replace(one, other)
    if not _SIGN.search(text):
        return
    for match in _PIECE.finditer(text):
        found = match[0].strip(_EDGES)
        if _SIGN.search(found) and not _ONE_PAIR.fullmatch(found):
            parts = re.split(r"([A-Za-z0-9_]+)", re.sub(r"\s+", "", found))
            if parts[1::2]:
                yield Piece(tuple(part.casefold() for part in parts[1::2]), tuple(parts[::2]), found)
