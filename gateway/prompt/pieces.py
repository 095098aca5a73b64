"""Token counts put together from words that were counted before, where a tokenizer never looks past a word's end."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_MOST_PIECES = 16_384  # remembered at a time; all are forgotten when there are more
_MOST_PIECE_CHARS = 48  # of one that is remembered
_MOST_NEW = 16  # of one text that are learnt; a text with more of them is counted whole
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


class PieceCounts:
    """Counts a text by its pieces: what ends where a space follows something that is none.

    None of the patterns in `CUTTING` matches across such a place, and none looks behind or, but within white space,
    ahead. So the tokens of the whole are those of the pieces, one after the other.
    """

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        """`count`: the tokenizer's own count of each text."""
        self._count = count
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """As many tokens as `count` says."""
        if len(text) > _MOST_CHARS:
            return self._count([text])[0]
        pieces = pieces_of(text)
        try:
            return sum(map(self._known.__getitem__, pieces))
        except KeyError:
            return self._learn(text, pieces)

    def _learn(self, text: str, pieces: Sequence[str]) -> int:
        if len(self._known) > _MOST_PIECES:
            self._known = {}
        known = self._known  # another thread may begin a new one
        new = [*dict.fromkeys([piece for piece in pieces if piece not in known])]
        counts = dict(zip(new[:_MOST_NEW], self._count(new[:_MOST_NEW]), strict=True))
        short = {piece: count for piece, count in counts.items() if len(piece) <= _MOST_PIECE_CHARS}
        known.update(short)
        if len(new) > _MOST_NEW:
            return self._count([text])[0]
        if len(short) == len(new):
            return sum(map(known.__getitem__, pieces))
        return sum(counts[piece] if piece in counts else known[piece] for piece in pieces)


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
        and any(map(_cuts, steps))
        and not any(map(_reaches_out, tokenizer.get("added_tokens") or ()))
    )


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
