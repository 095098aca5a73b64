"""The parts of a text that are one thing: code blocks, JSON values, inline code."""

import json
import re
from collections.abc import Iterator

from gateway.prompt.anchors import Protected, Span
from gateway.prompt.blocks import unfenced_blocks

_FENCE = re.compile(r"(?:`{3,}|~{3,})")
_QUOTED = re.compile(
    r"(?<![\w\"])\"(?=\S)[^\"\n]{1,200}\"(?!\w)|“[^“”\n]{1,200}”|「[^「」\n]{1,200}」"
    r"|\([^()\n]{1,200}\)|（[^（）\n]{1,200}）"
)
_INLINE_CODE = re.compile(r"(?<!`)`[^`\n]{1,400}`(?!`)")
_LINK = re.compile(r"\bhttps?://[^\s<>\"'，。；）】]+")
_JSON_OPEN = re.compile(r"[{\[]")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)  # a string that nothing closes is the rest
_ELEMENT = re.compile(
    r"<(?P<tag>[A-Za-z][\w.:-]{0,40})(?:\s[^<>\n]{0,200})?>[^<>\n]{0,400}</(?P=tag)\s*>|</?[A-Za-z!?][^<>\n]{0,200}>"
)
_FORMULA = re.compile(
    r"\$\$[^$]{1,1000}\$\$|\\\((?:[^\\\n]|\\(?![()])){1,400}\\\)|\\\[(?:[^\\]|\\(?![\[\]])){1,1000}\\\]"
)


def code_blocks(text: str) -> list[Span]:
    """Blocks of code, whole lines, in order: fenced ones with their fences, and those that no fence encloses."""
    fenced = _fenced(text)
    unfenced = unfenced_blocks(text, fenced)
    if not unfenced:
        return fenced
    values = Protected(json_values(text, fenced))
    return sorted([*fenced, *(block for block in unfenced if _holds_values_whole(text, block, values))])


def _holds_values_whole(text: str, block: Span, values: Protected) -> bool:
    """Whether each JSON value that it touches is a part of it; a value with its own layout is no code."""
    inner = text[slice(*block)]
    start = block.start + len(inner) - len(inner.lstrip())
    end = block.start + len(inner.rstrip())
    return all(
        start <= value.start and value.end <= end and (value.start, value.end) != (start, end)
        for value in values.within(*block)
    )


def _fenced(text: str) -> list[Span]:
    """An open block runs to the end of the text."""
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


def inline_spans(text: str) -> list[Span]:
    """Inline code, web addresses, tags, short elements, formulas, and what stands in quotes or brackets on one line."""
    patterns = (_INLINE_CODE, _LINK, _QUOTED, _ELEMENT, _FORMULA)
    return [Span(match.start(), match.end()) for pattern in patterns for match in pattern.finditer(text)]


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
