"""Splitting a sentence that is too long to keep or drop whole."""

import re
from collections.abc import Sequence

from gateway.prompt.anchors import Protected, Span, intent_anchors, negation_scopes

MOST_SENTENCE_CHARS = 600

_CLAUSE_MARK = re.compile(r"[,;:，、；：)）]\s*|\n\s*|\s[–—-]\s|\s+")


def split_long(text: str, cuts: Sequence[int], protected: Protected) -> list[Span]:
    """The spans between `cuts` (ascending, the last is the text's end), those over the limit split further."""
    pieces: list[Span] = []
    start = 0
    for cut in cuts:
        if pieces and text[start:cut].isspace():
            pieces[-1] = Span(pieces[-1].start, cut)
        elif cut - start > MOST_SENTENCE_CHARS:
            pieces += _clauses(text, start, cut, protected)
        else:
            pieces.append(Span(start, cut))
        start = cut
    return pieces


def _clauses(text: str, start: int, end: int, protected: Protected) -> list[Span]:
    """Never inside a negation's scope, an instruction's verb and object, or a protected span."""
    solid = protected.within(start, end)
    if any(span.start <= start and end <= span.end for span in solid):
        return [Span(start, end)]
    sentence = text[start:end]
    tied = [*negation_scopes(sentence), *(anchor.span for anchor in intent_anchors(sentence))]
    whole = Protected([*(Span(start + span.start, start + span.end) for span in tied), *solid])
    pieces: list[Span] = []
    while end - start > MOST_SENTENCE_CHARS:
        cut = _best_cut(text, start, end, whole)
        pieces.append(Span(start, cut))
        start = cut
    return [*pieces, Span(start, end)] if start < end else pieces


def _best_cut(text: str, start: int, end: int, whole: Protected) -> int:
    """The clause mark where punctuation is densest, else white space, else the next code point that is free."""
    middle, most = start + MOST_SENTENCE_CHARS // 2, start + MOST_SENTENCE_CHARS
    marks = [mark for mark in _CLAUSE_MARK.finditer(text, middle, most) if not whole.forbids(mark.end())]
    punctuated = [mark for mark in marks if not mark.group().isspace()]
    if punctuated:
        return max(punctuated, key=lambda mark: (_density(text, mark.start()), mark.end())).end()
    if marks:
        return marks[-1].end()
    return next((cut for cut in range(most, end) if not whole.forbids(cut) and not _joined(text, cut)), end)


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
