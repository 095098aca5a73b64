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

    def count_word(self, text: str) -> int:
        """Tokens of a text of a few characters; other threads may have to wait."""
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
        self._forget()

    def __call__(self, text: str) -> int:
        """As many tokens as the tokenizer counts in the whole."""
        if len(text) > _MOST_CHARS:
            return self._tokenizer.count_texts([text])[0]
        first, *words = text.split(" ")
        if words and first and not first[-1].isspace():
            known, inner, last = self._known, self._inner, words.pop()
            inner.may_ask = _FEW - 1
            try:
                return known[first] + sum(map(inner.__getitem__, words)) + known[f" {last}"]
            except KeyError:
                pass  # a new piece, or white space before a space
        return self._learn(pieces_of(text))

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._inner = _Words(self._known, self._tokenizer)

    def _learn(self, pieces: Sequence[str]) -> int:
        if len(self._known) > _MOST_PIECES:
            self._forget()
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
            yield from ((piece, self._tokenizer.count_word(piece)) for piece in pieces)
            return
        starts = self._tokenizer.starts("".join(pieces))
        end = before = 0
        for piece in pieces[:-1]:
            end += len(piece)
            upto = bisect_left(starts, end, before)
            yield piece, upto - before
            before = upto
        yield pieces[-1], len(starts) - before


class _Words(dict[str, int]):
    """Tokens of a space and the word after it, by the word: of words that end where the next space is a cut.

    Looking one up is therefore the check that it may be counted by itself. A few that are new are counted at once.
    """

    def __init__(self, known: dict[str, int], tokenizer: Starts) -> None:
        self._known = known
        self._tokenizer = tokenizer
        self.may_ask = 0

    def __missing__(self, word: str) -> int:
        """Raises KeyError where the text has to be looked at as a whole."""
        if not word or word[-1].isspace():
            raise KeyError(word)
        piece = f" {word}"
        count = self._known.get(piece)
        if count is None:
            if self.may_ask <= 0 or len(piece) > _MOST_PIECE_CHARS or len(self._known) > _MOST_PIECES:
                raise KeyError(word)
            self.may_ask -= 1
            count = self._known[piece] = self._tokenizer.count_word(piece)
        self[word] = count
        return count


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
