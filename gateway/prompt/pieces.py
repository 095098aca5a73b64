"""Token counts put together from words that were counted before, where a tokenizer never looks past a word's end."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

_MOST_PIECES = 16_384  # remembered at a time; all are forgotten when there are more
_MOST_PIECE_CHARS = 48  # of one that is remembered
_FEW = 3  # new pieces, under which each is counted by itself
_MOST_CHARS = 16_384  # of a text: cutting one up keeps other threads waiting
_ODD = re.compile(r"\s ")
_ODD_ASCII = ("  ", "\n ", "\t ", "\r ", "\v ", "\f ")
_MARK = "\0"
_CUT = re.compile(r"(?<=[!-~])(?= )")
_GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CUTTING = frozenset({_GPT_2, _LLAMA_3, _LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}")})  # the last is Qwen's


class Starts(Protocol):
    """A tokenizer, as far as its counts are looked at here."""

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        ...

    def starts(self, text: str) -> list[int]:
        """Where each token of the text starts, in order; white space at a token's beginning may be left out."""
        ...


class PieceCounts:
    """Counts a text by its pieces: what ends where a space follows something that is none.

    None of the patterns in `CUTTING` matches across such a place, and none looks behind or, but within white space,
    ahead. So the tokens of the whole are those of the pieces, one after the other. Texts with new pieces cost what
    those cost: all that are new are counted in one go, and learnt by where their tokens start.
    """

    def __init__(self, tokenizer: Starts) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """As many tokens as the tokenizer counts in the whole."""
        if len(text) > _MOST_CHARS:
            return self._tokenizer.count_texts([text])[0]
        pieces = pieces_of(text)
        try:
            return sum(map(self._known.__getitem__, pieces))
        except KeyError:
            return self._learn(pieces)

    def _learn(self, pieces: Sequence[str]) -> int:
        if len(self._known) > _MOST_PIECES:
            self._known = {}
        known = self._known  # another thread may begin a new one
        new = dict.fromkeys([piece for piece in pieces if piece not in known])
        short = [piece for piece in new if len(piece) <= _MOST_PIECE_CHARS]
        known.update(self._counted(short))
        if len(short) == len(new):
            return sum(map(known.__getitem__, pieces))
        long = [piece for piece in new if len(piece) > _MOST_PIECE_CHARS]
        counts = dict(zip(long, self._tokenizer.count_texts(long), strict=True))
        return sum(counts[piece] if piece in counts else known[piece] for piece in pieces)

    def _counted(self, pieces: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Each piece with its count; they come in the order of one text."""
        if len(pieces) < _FEW:
            yield from zip(pieces, self._tokenizer.count_texts(pieces) if pieces else (), strict=True)
            return
        starts = self._tokenizer.starts("".join(pieces))
        end = before = 0
        for piece in pieces[:-1]:
            end += len(piece)
            upto = bisect_left(starts, end, before)
            yield piece, upto - before
            before = upto
        yield pieces[-1], len(starts) - before


def pieces_of(text: str) -> list[str]:
    """The text, cut before single spaces; where white space comes in runs, before those that follow a visible sign."""
    odd = any(map(text.__contains__, _ODD_ASCII)) if text.isascii() else _ODD.search(text) is not None
    if odd or _MARK in text:
        return _CUT.split(text)
    return text.replace(" ", f"{_MARK} ").split(_MARK)


def counts_by_pieces(tokenizer: Mapping[str, Any]) -> bool:
    """Whether a declared tokenizer is one whose tokens never depend on what is beyond a piece's ends."""
    model = tokenizer.get("model") or {}
    normalizer = (tokenizer.get("normalizer") or {}).get("type")
    first = tokenizer.get("pre_tokenizer") or {}
    steps = first.get("pretokenizers") or [first]
    return (
        model.get("type") == "BPE"
        and not model.get("dropout")
        and normalizer in (None, "NFC")
        and all(map(_keeps_pieces, steps))
        and _cuts_text(steps)
        and not any(map(_reaches_out, tokenizer.get("added_tokens") or ()))
    )


def _cuts_text(steps: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of the steps cuts while a space is one: bytes spelled as letters make a letter of it as well."""
    for step in steps:
        if _cuts(step):
            return True
        if step.get("type") == "ByteLevel":
            return False
    return False


def _cuts(step: Mapping[str, Any]) -> bool:
    if step.get("type") == "ByteLevel":
        return bool(step.get("use_regex", True))
    pattern = step.get("pattern") or {}
    isolated = step.get("behavior") == "Isolated" and not step.get("invert")
    return step.get("type") == "Split" and isolated and pattern.get("Regex") in CUTTING


def _keeps_pieces(step: Mapping[str, Any]) -> bool:
    """Whether a step of the pre-tokenizer leaves a piece's tokens to the piece: it cuts there, or only at digits."""
    if step.get("type") == "ByteLevel":
        return not step.get("add_prefix_space")
    return step.get("type") == "Digits" or _cuts(step)


def _reaches_out(token: Mapping[str, Any]) -> bool:
    """Whether an added token could lie across a cut, or depend on what stands beside it."""
    alone = not any(token.get(flag) for flag in ("lstrip", "rstrip", "single_word"))
    return not alone or " " in str(token.get("content"))
