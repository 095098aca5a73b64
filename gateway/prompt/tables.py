"""The tables of a text: between bars, tabs, commas or semicolons, in columns, as a grid, in HTML."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gateway.prompt.anchors import Protected, Span

_RULE = re.compile(r"(?=[\s|:+]*[-=])[\s|:\-+=]++\Z")
_MAYBE_ROW = re.compile(r"^(?=[^\n|,;\t]*[|,;\t]|[ \t]*\+[-=]|[ ]*\S[^\n]*?\S {2,}\S)[^\n]*\n?", re.MULTILINE)
_GRID_RULE = re.compile(r"\s*\+[-=+]+\+\s*\Z")
_QUOTED_CELL = re.compile(r'"(?:[^"\n]|"")*"')
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_GAP = re.compile(r"(?<=[^\s.!?:,;。！？]) {2,}(?=\S)")
_HTML_TAG = re.compile(r"<(?P<close>/?)(?P<name>table|tr)\b[^<>]{0,400}>", re.IGNORECASE)


class Table(NamedTuple):
    """A header (with its rules, where there are any) and the rows under it."""

    header: Span
    rows: list[Span]

    @property
    def lines(self) -> list[Span]:
        """All of it, in order."""
        return [self.header, *self.rows]


class Cells(NamedTuple):
    """What rows of one table share: what parts their cells, and how often where that tells a row from prose."""

    mark: str
    times: int = 0


_BARS, _BAR, _TABS, _COLUMNS = Cells("bars"), Cells("bar"), Cells("tabs"), Cells("columns")
_EVIDENT = (_BARS, _TABS)  # one such line is a row


def tables(text: str, outside: Sequence[Span]) -> list[Table]:
    """Rows of HTML, and runs of lines with the same kind of cells; `outside`: code and values, in order, disjoint."""
    html = _html_tables(text, outside)
    rows = [row for table in html for row in table.lines]
    return sorted([*html, *_line_tables(text, _without_inner([*outside, *rows]))])


def _without_inner(spans: Sequence[Span]) -> list[Span]:
    """In order, without those that lie in another one."""
    outer: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not outer or span.end > outer[-1].end:
            outer.append(span)
    return outer


def _line_tables(text: str, outside: Sequence[Span]) -> list[Table]:
    found: list[Table] = []
    run: list[Span] = []
    kind: Cells | None = None
    covered = iter([*outside, Span(len(text) + 1, len(text) + 1)])
    block = next(covered)
    for line in _MAYBE_ROW.finditer(text):
        span = Span(line.start(), line.end())
        while block.end <= span.start:
            block = next(covered)
        parts: list[str] = []
        position = span.start
        while span.start < block.start and block.end < span.end:  # a value in a cell
            parts += [text[position : block.start], "x" * (block.end - block.start)]
            position = block.end
            block = next(covered)
        cells = None if block.start < span.end else _cells("".join([*parts, text[position : span.end]]))
        if parts and cells not in (*_EVIDENT, _BAR):
            cells = None
        if cells is None or cells != kind or (run and run[-1].end != span.start):
            found += _table(text, run, kind)
            run = []
        kind = cells
        if cells is not None:
            run.append(span)
    return found + _table(text, run, kind)


def _cells(line: str) -> Cells | None:
    """None for a line of prose."""
    inner = line.strip()
    if inner.startswith("|") or inner.count("|") >= 2 or _GRID_RULE.match(line):
        return _BARS
    if "\t" in inner:
        return _TABS
    if "|" in inner:
        return _BAR
    bare = _QUOTED_CELL.sub("q", inner)
    for mark in (",", ";"):
        times = bare.count(mark)
        if times and f"{mark} " not in bare and (times > 1 or _parts_in_two(bare, mark)):
            return Cells(mark, times)
    return _COLUMNS if len(_GAP.findall(inner)) >= 2 else None


def _parts_in_two(line: str, mark: str) -> bool:
    return not line.startswith(mark) and not line.endswith(mark) and _THOUSANDS.search(line) is None


def _table(text: str, lines: Sequence[Span], kind: Cells | None) -> list[Table]:
    least = 2 if kind in (*_EVIDENT, _BAR) else 3
    if len(lines) < least:
        return [Table(line, []) for line in lines] if kind in _EVIDENT else []
    rules = [_RULE.match(text[slice(*line)]) is not None for line in lines[:3]]
    if kind == _BAR and not rules[1]:
        return []  # bars in prose
    edge = int(rules[0])  # of a grid
    head = edge + (2 if rules[edge + 1 : edge + 2] == [True] else 1)
    return [Table(Span(lines[0].start, lines[head - 1].end), list(lines[head:]))]


def _html_tables(text: str, outside: Sequence[Span]) -> list[Table]:
    """The rows of the outermost tables, each from <tr> to </tr>; not those that a block of code or a value parts."""
    taken = Protected(outside)
    found: list[Table] = []
    rows: list[Span] = []
    start: int | None = None
    depth = 0
    for tag in _HTML_TAG.finditer(text):
        closes = bool(tag["close"])
        if tag["name"].lower() == "table":
            depth = max(0, depth + (-1 if closes else 1))
        if depth > 1:
            continue
        if start is not None and (closes or depth == 1):
            rows.append(Span(start, tag.end() if closes and tag["name"].lower() == "tr" else tag.start()))
            start = None
        if tag["name"].lower() == "tr" and not closes:
            start = tag.start()
        if depth == 0 and rows:
            found += _html_table(text, rows, taken)
            rows = []
    return found + _html_table(text, rows, taken)


def _html_table(text: str, rows: Sequence[Span], taken: Protected) -> list[Table]:
    whole = [row for row in rows if all(_is_in_a_cell(text, one, row) for one in taken.within(*row))]
    return [Table(whole[0], whole[1:])] if whole else []


def _is_in_a_cell(text: str, span: Span, row: Span) -> bool:
    return row.start < span.start and span.end < row.end and "\n" not in text[slice(*span)]
