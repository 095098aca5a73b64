"""The parts of a text that are one thing: code blocks, JSON values, table rows, inline code."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.prompt.anchors import Protected, Span

_FENCE = re.compile(r"(?:`{3,}|~{3,})")
_QUOTED = re.compile(
    r"(?<![\w\"])\"(?=\S)[^\"\n]{1,200}\"(?!\w)|“[^“”\n]{1,200}”|「[^「」\n]{1,200}」"
    r"|\([^()\n]{1,200}\)|（[^（）\n]{1,200}）"
)
_INLINE_CODE = re.compile(r"(?<!`)`[^`\n]{1,400}`(?!`)")
_LINK = re.compile(r"\bhttps?://[^\s<>\"'，。；）】]+")
_JSON_OPEN = re.compile(r"[{\[]")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)  # a string that nothing closes is the rest
_TABLE_RULE = re.compile(r"^[\s|:+]*+-[\s|:\-+]*+$")
_MAYBE_ROW = re.compile(r"^(?=[^\n|]*\||[^\n\t]*\t|[^\n,]*,[^\n,]*,)[^\n]*\n?", re.MULTILINE)


class Table(NamedTuple):
    """A header (with its rule, where there is one) and the rows under it."""

    header: Span
    rows: list[Span]

    @property
    def lines(self) -> list[Span]:
        """All of it, in order."""
        return [self.header, *self.rows]


def code_blocks(text: str) -> list[Span]:
    """Fenced blocks with their fences, whole lines; an open one runs to the end of the text."""
    blocks: list[Span] = []
    strings = Protected(json_values(text, []) if _FENCE.search(text) else [])
    alone: dict[str, Iterator[re.Match[str]]] = {}
    position = 0
    while (fence := _FENCE.search(text, position)) is not None:
        start = text.rfind("\n", 0, fence.start()) + 1
        if fence.group()[0] == "~" and text[start : fence.start()].strip():
            position = fence.end()  # ~~~ opens a block only where the line starts
            continue
        if strings.forbids(fence.start()):
            position = fence.end()  # in a string of a JSON value
            continue
        end = _closing_end(text, fence, alone)
        blocks.append(Span(max(start, blocks[-1].end if blocks else 0), end))
        position = end
    return blocks


def _closing_end(text: str, fence: re.Match[str], alone: dict[str, Iterator[re.Match[str]]]) -> int:
    """Where the block ends: on its line, after a line that holds a fence only, after any fence, or with the text.

    `alone` keeps how far such lines were looked through, so that each is looked at once for a mark.
    """
    mark, line_end = fence.group(), _line_end(text, fence.end())
    if mark in text[fence.end() : line_end]:
        return line_end
    if mark not in alone:
        alone[mark] = re.finditer(rf"^[ \t>]*{re.escape(mark)}{mark[0]}*[ \t]*$", text, re.MULTILINE)
    line = next((one for one in alone[mark] if one.start() >= line_end), None)
    close = line.end() if line is not None else text.find(mark, line_end)
    return len(text) if close < 0 else _line_end(text, close)


def json_values(text: str, outside: list[Span]) -> list[Span]:
    """Objects and arrays of valid JSON outside of `outside`; looks at each character a few times at most."""
    values: list[Span] = []
    allowance = 4 * len(text) + 1000
    position, blocks = 0, iter(outside)
    block = next(blocks, None)
    while allowance > 0 and (opening := _JSON_OPEN.search(text, position)) is not None:
        while block is not None and block.end <= opening.start():
            block = next(blocks, None)
        if block is not None and block.start <= opening.start():
            position = block.end
            continue
        end = _balanced_end(text, opening.start(), allowance)
        allowance -= (end or len(text)) - opening.start()
        if end is not None and _is_json(text[opening.start() : end]):
            values.append(Span(opening.start(), end))
            position = end
        else:
            position = opening.end()
    return values


def tables(text: str, outside: list[Span]) -> list[Table]:
    """Runs of two lines or more that hold cells between bars or tabs, or equally many commas."""
    found: list[Table] = []
    run: list[Span] = []
    width: object = None
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
        if parts and cells not in ("bars", "tabs"):
            cells = None
        if cells is None or cells != width or (run and run[-1].end != span.start):
            found += _table(text, run, width)
            run = []
        width = cells
        if cells is not None:
            run.append(span)
    return found + _table(text, run, width)


def inline_spans(text: str) -> list[Span]:
    """Inline code, web addresses, and what stands in quotes or brackets on one line."""
    patterns = (_INLINE_CODE, _LINK, _QUOTED)
    return [Span(match.start(), match.end()) for pattern in patterns for match in pattern.finditer(text)]


def _cells(line: str) -> object:
    """What rows of one table have in common: "bars", "tabs", a number of commas; None for a line of prose."""
    if line.lstrip().startswith("|") or line.count("|") >= 2:
        return "bars"
    if "\t" in line.strip():
        return "tabs"
    commas = line.count(",")
    return commas if commas >= 2 and ", " not in line else None


def _table(text: str, lines: list[Span], width: object) -> list[Table]:
    least = 3 if isinstance(width, int) else 2
    if len(lines) < least:
        return [Table(line, []) for line in lines] if width in ("bars", "tabs") else []
    ruled = _TABLE_RULE.match(text[lines[1].start : lines[1].end]) is not None
    head = Span(lines[0].start, lines[1].end if ruled else lines[0].end)
    return [Table(head, lines[2:] if ruled else lines[1:])]


def _line_end(text: str, position: int) -> int:
    newline = text.find("\n", position)
    return len(text) if newline < 0 else newline + 1


def _balanced_end(text: str, start: int, allowance: int) -> int | None:
    """Where the bracket at `start` closes, strings skipped; None when it does not within `allowance`."""
    depth = 0
    for token in _BRACKETS.finditer(text, start, min(len(text), start + allowance)):
        mark = token.group()
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _is_json(text: str) -> bool:
    if len(text) < 3:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
