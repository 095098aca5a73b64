"""A text as the pieces that truncation keeps or drops whole: sentences, items, rows, blocks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.prompt.anchors import Protected, Span, denies, negation_scopes
from gateway.prompt.checkpoint import Checkpoint, nobody_leaves
from gateway.prompt.clauses import Piece, split_long
from gateway.prompt.structure import code_blocks, inline_spans, json_values
from gateway.prompt.tables import Table, tables


class Kind(StrEnum):
    """What a piece is."""

    SENTENCE = "sentence"
    HEADING = "heading"
    ITEM = "item"
    BLOCK = "block"  # code or JSON
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters [start, end) of a text, the white space after them included.

    `parent`: the segment without which this one misleads (heading, lead-in, table header), or None.
    `glued`: continues the segment before ("Except …", "但是…"), so that both stay or go.
    `heads`: of a part of a long sentence, the parts that hold the negation, or the verb, whose object goes on here.
    `goes_on`: the sentence began in the segment before.
    """

    start: int
    end: int
    kind: Kind
    parent: int | None = None
    glued: bool = False
    heads: tuple[int, ...] = ()
    goes_on: bool = False


_STOP = re.compile(
    r"(?P<strong>[。！？；]+|(?<![.!?…])[.!?…]++(?=[\"')\]”’」』）]*+(?:\s|$))|(?<![.!?])[.!?]++(?=[一-鿿]))"
    r"[\"')\]”’」』）]*+\s*+"
    r"|(?P<colon>[:：])[ \t]*+(?=\n)\s*+"
    r"|(?P<newline>(?<![ \t])[ \t]*+\n\s*+)"
)
_SHORT_FORMS = """
e.g i.e etc cf vs approx no nos fig figs eq sec ch vol p pp dr mr mrs ms prof st inc ltd co corp a.m p.m u.s u.k
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_ABBREVIATIONS = frozenset(_SHORT_FORMS.split())
_LINKING = re.compile(
    r"(?:[,，、–—-]|\b(?:a|an|the|of|to|in|on|at|by|for|from|with|without|and|or|nor|not|no|never|cannot|is|are|was|were|be|"
    r"been|has|have|had|will|would|can|could|may|must|should|that|which|who|than|as|if|unless|except|only))\s*$",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"(?:不[要得能可会应许]?|没有?|禁止|勿|未|除了|无法)$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•·]\s|\(?\d{1,3}[.)、]\s?|\(?[a-z][.)]\s|[（(]?[一二三四五六七八九十]{1,3}[、)）])")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})\s")
_CONTINUES = re.compile(
    r"\s*(?:(?:except|unless|however|but|otherwise|nevertheless|nonetheless|only then|in that case|in this case|"
    r"if so|if not|exceptions?|this (?:does|is|was|will|cannot|can)|these (?:do|are|were|will|cannot)|that (?:does|is)|"
    r"it (?:does|is|was|will|cannot) not|it cannot|they (?:do|are|were|will|cannot) not|they cannot|neither|nor|"
    r"and not|not (?:if|for|when)|on the contrary|instead)\b"
    r"|(?:a|answer)[:：]|答[:：]|除非|除此|除外|但|不过|然而|否则|反之|可是|例外|其中不|这不|此[项条]不|上述|以上|若不|如不|也不|仍不|同时不)",
    re.IGNORECASE,
)
_MOST_GLUED = 4
_ONE_SENTENCE = re.compile(r"[^\W\d][\w ,'’-]{0,199}[.!?。！？]?")  # no sign ends a sentence in it, or opens more


def is_one_sentence(text: str) -> bool:
    """Whether a look at its signs shows that it is one sentence, as most short messages are; False tells nothing."""
    return _ONE_SENTENCE.fullmatch(text) is not None


def segments(text: str, checkpoint: Checkpoint = nobody_leaves) -> list[Segment]:
    """Cut a text into segments that together are the text, in order; `checkpoint` is called now and then."""
    if is_one_sentence(text):
        return [Segment(0, len(text), Kind.SENTENCE)]
    blocks = code_blocks(text)
    checkpoint()
    values = json_values(text, blocks)
    solid = sorted([*blocks, *values])
    grids = tables(text, solid)
    rows = [span for table in grids for span in (table.header, *table.rows)]
    protected = Protected([*solid, *rows, *inline_spans(text)])
    edges = {edge for span in (*blocks, *rows) for edge in span}
    cuts = sorted({*_sentence_ends(text, protected, checkpoint), *edges, len(text)} - {0})
    checkpoint()
    return _described(text, split_long(text, cuts, protected), solid, grids, checkpoint)


def _sentence_ends(text: str, protected: Protected, checkpoint: Checkpoint) -> list[int]:
    """Where sentences end; not at a Chinese semicolon behind a negation: its list may go on."""
    ends = []
    denied, seen = False, 0
    for stop in _STOP.finditer(text):
        checkpoint()
        if protected.forbids(stop.end()) or not _ends_here(text, stop):
            continue
        denied = denied or denies(text[seen : stop.start()])
        seen = stop.end()
        if denied and stop["strong"] == "；":
            continue
        ends.append(stop.end())
        denied = False
    return ends


def _ends_here(text: str, stop: re.Match[str]) -> bool:
    after = text[stop.end() : stop.end() + 40]
    if not after or stop["colon"]:
        return True
    before = text[max(0, stop.start() - 24) : stop.start()]
    if stop["strong"]:
        if stop["strong"] != ".":
            return _closes_nothing(stop) or not (after[0].islower() and after[0].isascii())
        if _is_abbreviation(before):
            return "\n" in stop.group() and not _numbered(before)
        return not (after[0].islower() and after[0].isascii())
    if stop.group().count("\n") > 1 or _ITEM.match(after) or _HEADING.match(after):
        return True
    return not _wraps(text, stop, before, after)


def _closes_nothing(stop: re.Match[str]) -> bool:
    """Whether no quote and no bracket ends with the sentence; where one does, the one around it may go on."""
    return stop.group().rstrip() == stop["strong"]


def _is_abbreviation(before: str) -> bool:
    """Whether the word before a full stop is short for something, an initial, or a number that opens an item."""
    word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :].lstrip("(\"'")
    return (
        word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper()) or (len(word) <= 3 and word.isdecimal())
    )


def _numbered(before: str) -> bool:
    return re.search(r"(?:^|\n)\s*\d{1,3}$", before) is not None


def _wraps(text: str, stop: re.Match[str], before: str, after: str) -> bool:
    """Whether a line break is only the end of a full line, in the middle of a sentence."""
    line_start = text.rfind("\n", 0, stop.start()) + 1
    if _HEADING.match(text[line_start : line_start + 8]):
        return False
    length = stop.start() - line_start
    if _is_han(after[0]):
        full = length > 10 and bool(before) and (_is_han(before[-1]) or before[-1] in "，、")
        return full or _DANGLING.search(before) is not None
    if after[0].isascii() and after[0].islower() and (length > 30 or _denies_on(text[line_start : stop.start()])):
        return True
    return length > 10 and _LINKING.search(before) is not None


def _denies_on(line: str) -> bool:
    """Whether a negation's scope reaches the end of the line."""
    scopes = negation_scopes(line)
    return bool(scopes) and scopes[-1].end == len(line)


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"


def _described(
    text: str, pieces: Sequence[Piece], solid: Sequence[Span], grids: Sequence[Table], checkpoint: Checkpoint
) -> list[Segment]:
    """Say of each piece what it is and which piece it cannot do without."""
    headers = {row.start: table.header.start for table in grids for row in table.rows}
    rows = {*headers, *(table.header.start for table in grids)}
    blocks = {span.start for span in solid}
    outline = _Outline()
    described: list[Segment] = []
    for index, piece in enumerate(pieces):
        checkpoint()
        opening = text[piece.start : min(piece.end, piece.start + 60)]
        line_goes_on = piece.start > 0 and "\n" not in text[max(0, piece.start - 3) : piece.start]
        kind = _kind(opening, piece.start, rows, blocks)
        if kind is Kind.ITEM and line_goes_on:
            kind = Kind.SENTENCE
        glued = (
            bool(described)
            and described[-1].kind is not Kind.HEADING
            and kind is not Kind.HEADING
            and _CONTINUES.match(opening) is not None
            and not all(segment.glued for segment in described[-_MOST_GLUED:])
        )
        parent = outline.parent(kind, headers.get(piece.start), line_goes_on=line_goes_on)
        described.append(Segment(piece.start, piece.end, kind, parent, glued, piece.heads, piece.goes_on))
        outline.note(text[piece.start : piece.end], kind, index, piece.start)
    return described


def _kind(opening: str, start: int, rows: set[int], blocks: set[int]) -> Kind:
    if start in blocks:
        return Kind.BLOCK
    if start in rows:
        return Kind.ROW
    if _HEADING.match(opening):
        return Kind.HEADING
    return Kind.ITEM if _ITEM.match(opening) else Kind.SENTENCE


class _Outline:
    """While reading a text from top to bottom: the open headings, lead-in, list item and table header."""

    def __init__(self) -> None:
        self._headings: list[tuple[int, int]] = []  # (level, index)
        self._lead_in: int | None = None
        self._lead_used = False
        self._lead_denies = False  # then it holds for each line of the paragraph under it
        self._denial: int | None = None  # the sentence right before, where it denies something
        self._item: int | None = None
        self._new_paragraph = False  # whether the next piece begins one
        self._index_at: dict[int, int] = {}

    def parent(self, kind: Kind, header: int | None, *, line_goes_on: bool) -> int | None:
        heading = self._headings[-1][1] if self._headings else None
        if header is not None:
            return self._index_at.get(header, heading)
        if kind is Kind.HEADING:
            return None
        if kind is Kind.SENTENCE and line_goes_on and self._item is not None:
            return self._item
        if kind is Kind.SENTENCE and self._new_paragraph and self._lead_used:
            self._lead_in = None
        if kind is not Kind.SENTENCE and self._lead_in is None and self._denial is not None:
            self._lead_in, self._lead_used, self._lead_denies = self._denial, False, True
        if kind is Kind.SENTENCE and (self._lead_in is None or (self._lead_used and not self._lead_denies)):
            return heading
        return self._lead_in if self._lead_in is not None else heading

    def note(self, text: str, kind: Kind, index: int, start: int) -> None:
        if kind is Kind.HEADING:
            level = len(text.split(None, 1)[0])
            self._headings = [*(entry for entry in self._headings if entry[0] < level), (level, index)]
            self._lead_in = self._item = None
        if kind is Kind.ROW:
            self._index_at[start] = index
        self._new_paragraph = _ends_paragraph(text)
        in_item = self._item is not None
        if kind is Kind.ITEM:
            self._item = index
        if text.endswith("\n"):
            self._item = None
        negative = kind is Kind.SENTENCE and denies(text)
        self._denial = index if negative else None
        if text.rstrip().endswith((":", "：")):
            self._lead_in, self._lead_used, self._lead_denies = index, False, negative
        elif kind is Kind.SENTENCE and not in_item and self._lead_is_over(text):
            self._lead_in = None
        elif self._lead_in is not None and not in_item:
            self._lead_used = True

    def _lead_is_over(self, text: str) -> bool:
        """Whether `text`, a sentence under the lead-in, is the last one that it holds for."""
        return _ends_paragraph(text) if self._lead_denies else self._lead_used


def _ends_paragraph(text: str) -> bool:
    return text[len(text.rstrip()) :].count("\n") > 1
