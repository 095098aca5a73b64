"""Splitting a sentence that is too long to keep or drop whole."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gateway.prompt.anchors import MOST_SCOPE_CHARS, Protected, Span, intent_anchors, negation_scopes

MOST_SENTENCE_CHARS = 600
_MOST_PIECE_CHARS = 240  # of a longer one; small, so that what is asked about fits beside the negation above it
_MOST_HAN_PIECE_CHARS = 100  # a Chinese character says as much as two or three letters
_LEAST_LISTED_CHARS = 40  # of a negation's scope before its first member may end: "不要打开、损坏封条" has one object

_CLAUSE_MARK = re.compile(r"[,;:，、；：)）]\s*|\n\s*|\s[–—-]\s|\s+")
_FIRST_MARK = re.compile(r"[,;:，、；：]")
_PUNCTUATION = re.compile(r"[,;:，、；：]|\s[–—-]\s")
_JOINING_WORD = re.compile(r"\b(?:and|or|nor)\b|和|与|或|及", re.IGNORECASE)
_MOST_MEMBER_CHARS = 60  # of what stands between two joining words of one list
_EXCEPTS = re.compile(
    r"(?:except|unless|excluding|barring|but not|other than|apart from|save for)\b|除|但|不包括", re.IGNORECASE
)


class Piece(NamedTuple):
    """Characters [start, end) of a text.

    `heads`: indexes of the pieces that hold a negation, or a verb that gives an order, whose object goes on here.
    `goes_on`: whether the sentence began in the piece before.
    """

    start: int
    end: int
    heads: tuple[int, ...] = ()
    goes_on: bool = False


def split_long(text: str, cuts: Sequence[int], protected: Protected) -> list[Piece]:
    """The pieces between `cuts` (ascending, the last is the text's end), those over the limit split further."""
    pieces: list[Piece] = []
    start = 0
    for cut in cuts:
        if pieces and text[start:cut].isspace():
            pieces[-1] = pieces[-1]._replace(end=cut)
        elif cut - start > MOST_SENTENCE_CHARS:
            pieces += _clauses(text, Span(start, cut), protected, first=len(pieces))
        else:
            pieces.append(Piece(start, cut))
        start = cut
    return pieces


def _clauses(text: str, sentence: Span, protected: Protected, *, first: int) -> list[Piece]:
    """Never inside a negation's scope, an instruction's verb and object, or a protected span. `first`: its index."""
    solid = protected.within(*sentence)
    if any(span.start <= sentence.start and sentence.end <= span.end for span in solid):
        return [Piece(*sentence)]
    denied = [_listed(text, _moved(span, sentence.start)) for span in negation_scopes(text[slice(*sentence)])]
    ordered = [_order(text, _moved(one.span, sentence.start)) for one in intent_anchors(text[slice(*sentence)])]
    spans = _cut_up(text, sentence, Protected([*denied, *ordered, *solid]))
    reach = _Reach(text, sentence)
    heads = _heads(spans, sorted({*denied, *ordered}), denied, reach)
    return [
        Piece(*span, tuple(first + head for head in sorted(above)), goes_on=index > 0)
        for index, (span, above) in enumerate(zip(spans, heads, strict=True))
    ]


def _moved(span: Span, by: int) -> Span:
    return Span(by + span.start, by + span.end)


def _listed(text: str, scope: Span) -> Span:
    """A negation's scope, of a long Chinese list the first members only."""
    stop = text.find("、", scope.start + _LEAST_LISTED_CHARS, scope.end)
    return scope if stop < 0 else Span(scope.start, stop + 1)


def _order(text: str, whole: Span) -> Span:
    """The verb with its object, as far as a negation would reach: what follows may be a list without end."""
    most = min(whole.end, whole.start + MOST_SCOPE_CHARS)
    stop = _FIRST_MARK.search(text, whole.start, most)
    return Span(whole.start, stop.start() if stop else most)


def _cut_up(text: str, sentence: Span, whole: Protected) -> list[Span]:
    spans: list[Span] = []
    start, end = sentence
    while end - start > (most := _most_chars(text, start)):
        cut = _best_cut(text, Span(start, end), most, whole)
        if end - cut <= most and not any(character.isalnum() for character in text[cut:end]):
            break
        spans.append(Span(start, cut))
        start = cut
    return [*spans, Span(start, end)]


def _most_chars(text: str, start: int) -> int:
    ahead = text[start : start + _MOST_HAN_PIECE_CHARS]
    return _MOST_PIECE_CHARS if sum(map(str.isascii, ahead)) > len(ahead) // 2 else _MOST_HAN_PIECE_CHARS


class _Reach:
    """How far the members of a list are joined to each other: by punctuation, or by words such as "or" close by."""

    def __init__(self, text: str, sentence: Span) -> None:
        self._rows = [
            (_marks(_PUNCTUATION, text, sentence), MOST_SENTENCE_CHARS),
            (_marks(_JOINING_WORD, text, sentence), _MOST_MEMBER_CHARS),
        ]
        self._gaps = [
            [Span(a, b) for a, b in pairwise([sentence.start, *marks, sentence.end]) if b - a > most]
            for marks, most in self._rows
        ]

    def joins(self, start: int, end: int) -> bool:
        """Whether a list runs on from `start` to `end`: one mark at least, and no long stretch without any."""
        return any(
            bisect_left(marks, start) < bisect_right(marks, end) and not _parted(gaps, start, end, most)
            for (marks, most), gaps in zip(self._rows, self._gaps, strict=True)
        )


def _marks(pattern: re.Pattern[str], text: str, sentence: Span) -> list[int]:
    return [mark.start() for mark in pattern.finditer(text, *sentence)]


def _parted(gaps: Sequence[Span], start: int, end: int, most: int) -> bool:
    """Whether more than `most` characters of one gap lie between."""
    near = max(0, bisect_right(gaps, Span(start, start)) - 1)
    return any(min(gap.end, end) - max(gap.start, start) > most for gap in gaps[near : near + 3])


def _heads(spans: Sequence[Span], governing: Sequence[Span], denied: Sequence[Span], reach: _Reach) -> list[set[int]]:
    """For each span the spans without which it would say something else.

    They hold the last negation or order before it, as far as its list goes on, and for a span that holds none of its
    own the next negation behind it ("A, B and C must not be paid"). Each of those has its own before it.
    """
    starts = [span.start for span in spans]
    before, behind = [span.start for span in governing], [span.start for span in denied]
    needed: list[set[int]] = []
    for index, (start, end) in enumerate(spans):
        found: set[int] = set()
        last, following = bisect_left(before, start) - 1, bisect_left(behind, start)
        if last >= 0 and reach.joins(before[last], start):
            found.add(bisect_right(starts, before[last]) - 1)
        if following < len(behind) and behind[following] >= end and reach.joins(start, behind[following]):
            found.add(bisect_right(starts, behind[following]) - 1)
        needed.append(found - {index})
    return needed


def _best_cut(text: str, sentence: Span, most_chars: int, whole: Protected) -> int:
    """The clause mark where punctuation is densest, else before "or", else white space, else what is free."""
    start, end = sentence
    most = start + most_chars
    marks = _free_marks(text, start + most_chars // 2, most, whole)
    punctuated = [mark for mark in marks if not mark.group().isspace()]
    if punctuated:
        return max(punctuated, key=lambda mark: (_density(text, mark.start()), mark.end())).end()
    joining = [mark for mark in marks if _JOINING_WORD.match(text, mark.end())]
    if marks:
        return (joining or marks)[-1].end()
    later = _free_marks(text, most, min(end, start + MOST_SENTENCE_CHARS), whole)
    if later:
        return later[0].end()
    return next((cut for cut in range(most, end) if not whole.forbids(cut) and not _joined(text, cut)), end)


def _free_marks(text: str, start: int, end: int, whole: Protected) -> list[re.Match[str]]:
    """Where the text may be cut: outside of what is whole, and not right before an exception."""
    return [
        mark
        for mark in _CLAUSE_MARK.finditer(text, start, end)
        if not whole.forbids(mark.end()) and _EXCEPTS.match(text, mark.end()) is None
    ]


def _density(text: str, position: int) -> int:
    """Punctuation marks within 30 characters on either side."""
    return sum(mark in ",;:，、；：" for mark in text[max(0, position - 30) : position + 30])


def _joined(text: str, cut: int) -> bool:
    """Whether a cut would split what is seen as one character: marks, joiners, skin tones, flags, surrogates."""
    before, after = text[cut - 1], text[cut]
    return (
        "\u200d" in (before, after)
        or "\ufe00" <= after <= "\ufe0f"
        or "\u0300" <= after <= "\u036f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U0001f1e6" <= after <= "\U0001f1ff"
        or "\ud800" <= before <= "\udbff"
    )
