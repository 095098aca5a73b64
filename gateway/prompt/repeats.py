"""Leaving out the sentences of a text that another one of it makes unnecessary."""

import re
from collections.abc import Collection, Sequence

from gateway.prompt.anchors import Protected, Span
from gateway.prompt.constraints import Sentence, leans, spare
from gateway.prompt.segments import Kind, Segment, segments

_LABELLED = re.compile(r"[\w*_][\w *_.-]{0,30}[:：]")
_ENDED = re.compile(r"""[.!?…。！？；;]["')\]”’」』）]*\s*$""")
_FINAL = -1  # a heading of its own: an order under a title may be for that part alone


def said_again(text: str, final: Sequence[Span]) -> str:
    """Without sentences that the final instruction says again."""
    found, spared = _spared(text, final)
    return _without(text, found, {index for index, other in spared.items() if other.final})


def merged(text: str, final: Sequence[Span] = ()) -> str:
    """Without sentences that are said again later, word for word, and bounds that a stricter one keeps in any case."""
    found, spared = _spared(text, final)
    return _without(text, found, spared.keys())


def _spared(text: str, final: Sequence[Span]) -> tuple[list[Segment], dict[int, Sentence]]:
    """The segments, and for each that may go the sentence that stands for it."""
    found = segments(text)
    sentences = _sentences(text, found, final)
    return found, {index: sentences[other] for index, other in spare(sentences).items()}


def _without(text: str, found: Sequence[Segment], gone: Collection[int]) -> str:
    """The text without some segments; where one goes, the line or the paragraph still ends as it did."""
    kept: list[str] = []
    blanks = ""  # behind what is kept
    for index, one in enumerate(found):
        part = text[one.start : one.end]
        body = part.rstrip()
        after = part[len(body) :]
        if index not in gone and body:
            kept += [blanks, body]
            blanks = after
        elif index not in gone:
            blanks += after
        elif kept and after.count("\n") > blanks.count("\n"):
            blanks = after
    return "".join([*kept, blanks])


def _sentences(text: str, found: Sequence[Segment], final: Sequence[Span]) -> list[Sentence]:
    tied = (
        {one.parent for one in found}
        | {head for one in found for head in one.heads}
        | {index - 1 for index, one in enumerate(found) if one.glued}
    )
    fixed = Protected(final)
    sentences: list[Sentence] = []
    title: int | None = None
    for index, one in enumerate(found):
        whole = text[one.start : one.end]
        is_final = any(one.end <= span.end for span in fixed.within(one.start, one.end))
        if _is_title(text, one):
            title = index
        follower = found[index + 1] if index + 1 < len(found) else None
        under = tuple(place for place in (one.parent, title) if place is not None)
        sentences.append(
            Sentence(
                whole,
                under=(_FINAL, *under) if is_final and under else under,
                alone=one.kind in (Kind.SENTENCE, Kind.ITEM)
                and not one.glued
                and not one.goes_on
                and index not in tied
                and not _indent(text, one.start),
                final=is_final,
                leant_on=follower is not None and leans(text[follower.start : follower.end]),
            )
        )
    return sentences


def _is_title(text: str, one: Segment) -> bool:
    """Whether what follows stands under it, though no mark says so: a line without a full stop, or one with a label."""
    if one.kind is not Kind.SENTENCE or not _opens_line(text, one.start):
        return False
    whole = text[one.start : one.end]
    return _LABELLED.match(whole) is not None or (whole.endswith("\n") and _ENDED.search(whole) is None)


def _opens_line(text: str, start: int) -> bool:
    while start > 0 and text[start - 1] != "\n" and text[start - 1].isspace():
        start -= 1
    return start == 0 or text[start - 1] == "\n"


def _indent(text: str, start: int) -> bool:
    """Whether it opens a line that is indented: a list in a list, or code."""
    return start > 0 and text[start - 1] != "\n" and _opens_line(text, start)
