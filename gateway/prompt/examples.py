"""Few-shot examples of a prompt: runs of labelled lines that repeat ("Input: …", "Output: …")."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gateway.prompt.anchors import Protected, Span, intent_anchors, negation_scopes
from gateway.prompt.structure import code_blocks, json_values
from gateway.prompt.tables import tables

HIGH_ENTROPY = 0.85  # from here on an example is all content and no pattern: its form says as much
LEAST_EXAMPLES = 3
_MOST_LABELS, _MOST_LABEL_WORDS = 8, 4

_LABELLED = re.compile(r"[ \t]*(?P<label>[A-Za-z一-鿿][\w 一-鿿]{0,20}?)[ \t]*[:：][ \t]*(?P<value>\S[^\n]*)\n?")
_SKIPPED = re.compile(
    r"(?<![ \t])[ \t]*+(?:(?:example|示例|例子?|样例)[ \t]*+(?:\d++[ \t]*+)?(?:[:：.)][ \t]*+)?)?\n", re.IGNORECASE
)
_SKIPPED_WORD = re.compile(r"example|示例|例子|样例", re.IGNORECASE)
_CALLED = re.compile(  # at the end of a line: "our customers, for example Bob:" announces customers
    r"(?:\b(?:examples?|for instance|like this)|示例|例子|样例|例如)[ :.：。*_>]{0,5}$", re.IGNORECASE
)
_TOKEN = re.compile(r"[A-Za-z0-9'’]+|[一-鿿]")


class Example(NamedTuple):
    """Characters [start, end) of the text: one value for each label."""

    start: int
    end: int
    fields: tuple[tuple[str, str], ...]


def runs(text: str) -> list[list[Example]]:
    """Runs of LEAST_EXAMPLES examples or more with the same labels in the same order."""
    found: list[list[Example]] = []
    lines: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        line = _LABELLED.match(text, position)
        if line is not None:
            lines.append(line)
        elif lines and _SKIPPED.match(text, position) is None:
            found += _grouped(lines)
            lines = []
        newline = text.find("\n", position)
        position = len(text) if newline < 0 else newline + 1
    return found + _grouped(lines)


def entropy(text: str) -> float:
    """How little the words of a text repeat, in [0, 1]: 1 where each occurs once, 0 where there is only one."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    if len(words) < 2:
        return 0.0
    shares = [count / len(words) for count in Counter(words).values()]
    return -sum(share * math.log2(share) for share in shares) / math.log2(len(words))


def template(examples: Sequence[Example]) -> str:
    """One generic example in the place of many: the labels, and each value that is one of a few short ones."""
    lines = []
    for index, (label, _) in enumerate(examples[0].fields):
        values = list(dict.fromkeys(example.fields[index][1].strip() for example in examples))
        few = len(values) <= min(_MOST_LABELS, len(examples) - 1) or len(values) == 1
        short = all(len(_TOKEN.findall(value)) <= _MOST_LABEL_WORDS for value in values)
        lines.append(f"{label}: {' | '.join(values) if few and short else '[…]'}\n")
    return "".join(lines)


def shortened(text: str, final: Sequence[Span] = ()) -> str:
    """The text with the examples of high entropy, but for the first of each run, in one generic example.

    Only what shows itself to be an example is one. Those that hold an order or a negation stay, as do code, JSON,
    tables, and what touches the final instruction.
    """
    parts: list[str] = []
    position = 0
    last_line = _line_before(text, len(text))
    found = [run for run in runs(text) if _are_examples(text, run, last_line)]
    fixed = Protected([*final, *_blocks(text)]) if found else Protected([])
    for run in found:
        loud = [example for example in run[1:] if _is_loud(text, example) and not fixed.within(*example[:2])]
        if len(loud) < 2:
            continue
        for example in loud:
            between = text[position : example.start]
            if example is loud[0] or _SKIPPED.sub("", between).strip():
                parts.append(between)
            if example is loud[-1]:
                parts.append(template(loud))
            position = example.end
    return "".join([*parts, text[position:]])


def _is_loud(text: str, example: Example) -> bool:
    if any(negation_scopes(value) or intent_anchors(value) for _, value in example.fields):
        return False
    return entropy(text[example.start : example.end]) > HIGH_ENTROPY


def _are_examples(text: str, run: Sequence[Example], last_line: str) -> bool:
    """Whether they are called examples right before, or the text ends with one more of them that is left open.

    Records of the same form may be the very data that is asked about.
    """
    marked = _SKIPPED_WORD.search(text[run[0].end : run[1].start])
    if _CALLED.search(_line_before(text, run[0].start)) or marked:
        return True
    label, _ = run[0].fields[-1]
    return re.fullmatch(rf"[ \t]*+{re.escape(label)}[ \t]*+[:：]", last_line) is not None


def _line_before(text: str, end: int) -> str:
    """The last line before `end` that is not blank, without the blanks behind it."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return text[text.rfind("\n", 0, end) + 1 : end]


def _blocks(text: str) -> list[Span]:
    blocks = code_blocks(text)
    solid = sorted([*blocks, *json_values(text, blocks)])
    return [*solid, *(line for table in tables(text, solid) for line in table.lines)]


def _grouped(lines: Sequence[re.Match[str]]) -> list[list[Example]]:
    """Cut labelled lines into examples: the label of the first line opens each."""
    labels = [line["label"] for line in lines]
    if len(labels) < LEAST_EXAMPLES or labels[0] not in labels[1:]:
        return []
    width = labels.index(labels[0], 1)
    pattern, examples = labels[:width], []
    for first in range(0, len(lines) - width + 1, width):
        if labels[first : first + width] != pattern:
            break
        group = lines[first : first + width]
        fields = tuple((line["label"], line["value"]) for line in group)
        examples.append(Example(group[0].start(), group[-1].end(), fields))
    return [examples] if width > 1 and len(examples) >= LEAST_EXAMPLES else []
