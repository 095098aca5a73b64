"""The word lists in `faults/data`: synonyms, blurred phrases, and a glossary between the two languages."""

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from random import Random

from faults.semantic.units import Splitter


def _rows(name: str) -> list[tuple[str, list[str]]]:
    """Lines of `key <tab> a|b|c`; `#` begins a comment."""
    text = (files("faults") / "data" / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pairs = [line.partition("\t") for line in lines]
    return [(key, value.split("|")) for key, _, value in pairs]


@dataclass(frozen=True)
class WordTable:
    """Word → words that may stand in its place. Lower case; looked up without regard to case."""

    words: dict[str, list[str]]

    @cached_property
    def splitter(self) -> Splitter:
        return Splitter(self.words)

    def swap(self, unit: str, rng: Random) -> str | None:
        """Another word for the unit, with its blanks and its capital; None: the table has none."""
        core = unit.lstrip()
        choices = self.words.get(core.lower())
        if not choices:
            return None
        word = choices[rng.randrange(len(choices))]
        if core.isupper() and len(core) > 1:
            word = word.upper()
        elif core[:1].isupper():
            word = word[:1].upper() + word[1:]
        return unit[: len(unit) - len(core)] + word


@dataclass(frozen=True)
class Phrases:
    """Phrases of instructions and what is left of them when they are blurred."""

    rows: list[tuple[re.Pattern[str], str]]


def load_synonyms() -> WordTable:
    return WordTable(dict(_rows("synonyms_en.tsv") + _rows("synonyms_zh.tsv")))


def load_glossary() -> WordTable:
    """English word → Chinese word, and back."""
    rows = _rows("glossary.tsv")
    back = {chinese: [english] for english, (chinese, *_) in rows}
    return WordTable({**dict(rows), **back})


def load_blur() -> Phrases:
    """Word-bounded for Latin script, as written for Chinese; the longest phrase first."""
    rows = sorted(_rows("blur_en.tsv") + _rows("blur_zh.tsv"), key=lambda row: (-len(row[0]), row[0]))
    return Phrases([(_phrase(key), values[0]) for key, values in rows])


def _phrase(key: str) -> re.Pattern[str]:
    bounded = rf"(?<!\w){key}(?!\w)" if key.isascii() else key
    return re.compile(bounded, re.IGNORECASE)
