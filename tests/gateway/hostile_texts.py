"""Texts that make a pattern or a function slow that looks at a place more than a few times, and what runs over them.

`python -m tests.gateway.hostile_texts NAME` runs all of them: NAME is a module, for its patterns, or one of READINGS.
"""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path

from gateway.answers import courtesy, embedding, grounding, language, lexis, number_words, wording
from gateway.answers.word_pattern import folded_tokens
from gateway.prompt import anchors, examples, relevance, repeats, structure, tables
from gateway.prompt.compress import tightened
from gateway.prompt.segments import segments

_ROOT = Path(__file__).parents[2]
PATTERN_CHARS = 150_000  # squared, that is minutes for one pattern and one text
READING_CHARS = 60_000
UNITS = (
    *" \t\n.1a-_'\"(`|,?…!“「一万不请。，#>~{[",
    *(" \n", ". ", "a-", "1 a-", "a_", "a1-é", "1.", "1,", "a ", "A b ", '"\\', "`a ", "| a |\n", "a,b,c\n", "- a\n"),
    *("can you please ", "please\n", "then\n", "you must ", "not ", "don't ", "summar", "list all ", "input: x\n"),
    *(
        "http://",
        "if not, ",
        "at most 5 words ",
        "hi! ",
        "thanks, ",
        "谢谢你",
        "请问",
        "不可以，",
        "在前",
        "A: x\nB: y\n",
    ),
    *(
        "The order was not refunded. ",
        "Answer in one short sentence now. ",
        "退款需要三天。",
        "example 1:\n",
        "[1,",
        '{"a":',
    ),
)
BESIDES = {  # a beginning, what is repeated, an end
    "a string that nothing closes": ("{", '"\\', ""),
    "an example that has no end": ("A: x\nexample", " ", "x\n"),
    "a question that goes on": ("what?", " ", "x"),
    "a row that is none": ("| a |\n|", "-", "x|\n"),
    "blanks in a sentence": ("Paris", " ", "is it."),
    "hyphens": ("1 ", "a-", ""),
}
SEARCHING = frozenset(["search", "finditer", "findall", "split", "sub", "subn"])
READINGS: dict[str, Callable[[str], object]] = {
    "identifiers": lexis.identifiers,
    "numbers": lexis.numbers,
    "words": lexis.words,
    "sentences": lexis.sentences,
    "is_negated": lexis.is_negated,
    "split": lambda text: lexis.split([{"role": "user", "content": text}]),
    "loops": grounding.loops,
    "flips": lambda text: grounding.flips(text, [text]),
    "unheard_of": lambda text: grounding.unheard_of(text, ["", text]),
    "support": lambda text: grounding.support(text, [text]),
    "spelled_numbers": number_words.spelled_numbers,
    "language": lambda text: language.language_of([text]),
    "bare": courtesy.bare,
    "wording": lambda text: wording.Lexicon().wording(text),
    "depends_on_now": wording.depends_on_now,
    "folded_tokens": folded_tokens,
    "embed": embedding.embed,
    "segments": segments,
    "code_blocks": structure.code_blocks,
    "json_values": lambda text: structure.json_values(text, []),
    "tables": lambda text: tables.tables(text, []),
    "inline_spans": structure.inline_spans,
    "negation_scopes": anchors.negation_scopes,
    "intent_anchors": anchors.intent_anchors,
    "is_instruction": anchors.is_instruction,
    "merged": repeats.merged,
    "said_again": lambda text: repeats.said_again(text, [anchors.Span(len(text) // 2, len(text))]),
    "shortened": examples.shortened,
    "tightened": tightened,
    "relevance": lambda text: relevance.scores(lexis.sentences(text) or [text], text[:2000]),
}


def texts(chars: int) -> Iterator[str]:
    """Each about `chars` long."""
    for unit in UNITS:
        yield unit * (chars // len(unit)) + "\0a!"  # so that what is looked for to the end fails there
    for begin, unit, end in BESIDES.values():
        yield begin + unit * (chars // len(unit)) + end


def modules(*packages: str) -> list[str]:
    """The modules that have patterns of their own."""
    files = sorted(file for package in packages for file in (_ROOT / package).rglob("*.py"))
    names = {file: ".".join(file.relative_to(_ROOT).with_suffix("").parts) for file in files}
    return [names[file] for file in files if "re.compile(" in file.read_text("utf-8")]


def patterns(module: str) -> dict[str, list[re.Pattern[str]]]:
    """The compiled patterns that a module's own names hold, also in tuples, tables and dataclasses."""
    held = vars(importlib.import_module(module))
    own = _assigned(module)
    return {name: found for name, value in held.items() if name in own and (found := list(_patterns_in(value)))}


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _patterns_in(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _patterns_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _patterns_in(getattr(value, field.name))


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def _assigned(module: str) -> set[str]:
    found = set()
    for node in _tree(module).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def _only_matched(module: str) -> set[str]:
    """Names of patterns that are tried where a text or a line begins, and looked for nowhere else."""
    calls: dict[str, set[str]] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            calls.setdefault(node.value.id, set()).add(node.attr)
    return {name for name, methods in calls.items() if name.startswith("_") and not methods & SEARCHING}


def _ways(module: str) -> Iterator[Callable[[str], object]]:
    matched = _only_matched(module)
    for name, found in patterns(module).items():
        for pattern in found:
            if name in matched:
                yield pattern.match
                yield pattern.fullmatch
            else:
                yield partial(_found, pattern)


def _found(pattern: re.Pattern[str], text: str) -> None:
    for _ in pattern.finditer(text):
        pass


def main(name: str) -> None:
    """Run every hostile text through a reading, or through the patterns of a module."""
    if name in READINGS:
        for text in texts(READING_CHARS):
            READINGS[name](text)
        return
    ways = list(_ways(name))
    for text in texts(PATTERN_CHARS):
        for way in ways:
            way(text)


if __name__ == "__main__":
    main(sys.argv[1])
