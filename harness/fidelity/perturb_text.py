"""A text as the generator of perturbations sees it: a string and a language."""

import re
from collections.abc import Mapping
from random import Random
from typing import NamedTuple

_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")


class Perturbed(NamedTuple):
    """A changed text and how it was changed."""

    kind: str
    text: str


class Plain(NamedTuple):
    """A text and its language, "en" or "zh"."""

    text: str
    lang: str


def language_of(text: str, lang: str | None = None) -> str:
    """`lang`, or what most of the letters say."""
    return lang if lang in ("en", "zh") else "zh" if len(_IDEOGRAPH.findall(text)) * 3 >= len(text) else "en"


def replaced(text: str, start: int, end: int, instead: str) -> str:
    return text[:start] + instead + text[end:]


def one_of(pattern: re.Pattern[str], text: str, rng: Random) -> re.Match[str] | None:
    """A match at random."""
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def any_of(known: Mapping[str, str]) -> str:
    """A pattern for one of these words, the longest first."""
    return "|".join(sorted(map(re.escape, known), key=len, reverse=True))
