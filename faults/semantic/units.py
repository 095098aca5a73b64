"""Cutting text into words and tokens, so that a stream gives the same cuts as the whole text."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from faults.errors import BadFault

CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = rf"(?:(?![{CJK}])\w)+(?:['’](?:(?![{CJK}])\w)+)*"
_IS_CJK = re.compile(rf"[{CJK}]")
Pieces = Callable[[str], list[str]]


class Splitter:
    """Cuts text into units: a word, a CJK character or a known CJK word, or a symbol, each with the blanks before it.

    >>> Splitter([]).split("Pay 5 USD.")
    ['Pay', ' 5', ' USD', '.']
    """

    def __init__(self, cjk_words: Iterable[str]) -> None:
        words = sorted({word for word in cjk_words if _IS_CJK.search(word)}, key=lambda word: (-len(word), word))
        known = "".join(f"{re.escape(word)}|" for word in words)
        self._pattern = re.compile(rf"\s*(?:{known}[{CJK}]|{_WORD}|[^\w\s])|\s+")
        self._lookahead = max((len(word) for word in words), default=1)

    def split(self, text: str) -> list[str]:
        """Units whose concatenation is `text`."""
        return self._pattern.findall(text)

    def split_certain(self, text: str) -> tuple[list[str], str]:
        """Units that no further text can change, and the rest that must wait."""
        done: list[str] = []
        end = 0
        for match in self._pattern.finditer(text):
            wait = self._lookahead - 1 if _IS_CJK.match(match.group()[-1]) else 2
            if match.group().isspace() or len(text) - match.end() < wait:
                break
            done.append(match.group())
            end = match.end()
        return done, text[end:]


def has_word(unit: str) -> bool:
    return any(char.isalnum() for char in unit)


def one_piece(unit: str) -> list[str]:
    """Word level: the unit is the token."""
    return [unit]


class _Encoding(Protocol):
    @property
    def offsets(self) -> list[tuple[int, int]]: ...


class _Encoder(Protocol):
    def encode(self, sequence: str, *, add_special_tokens: bool) -> _Encoding: ...


def model_pieces(folder: Path) -> Pieces:
    """The tokens of the model whose tokenizer.json lies in `folder`; raises BadFault."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    try:
        tokenizer: _Encoder = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise BadFault(f"{path}: not a tokenizer file: {error}") from None
    return lambda text: cut_at_offsets(text, tokenizer.encode(text, add_special_tokens=False).offsets)


def cut_at_offsets(text: str, offsets: Iterable[tuple[int, int]]) -> list[str]:
    """Cut `text` where tokens end; tokens that share a character (byte-level BPE) stay one piece.

    What lies between two tokens (blanks that the tokenizer drops) goes with the later one.
    """
    starts = [0]
    reached = 0
    for start, end in offsets:
        if start >= reached > starts[-1]:
            starts.append(reached)
        reached = max(reached, end)
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True) if end > start]
