"""Abbreviations that the other text writes out, told by the first letters: HR and "Human Resources"; codes: KR204 and "KR 204"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

from harness.fidelity.reading.lexicon import lexicon

_ABBREVIATION = re.compile(r"(?<![\w.-])(?:[A-Z]{2,6}|(?:[A-Z]\.){2,6})(?![\w-])")
_CODE = re.compile(r"(?<![\w-])(?P<letters>[A-Z]{1,4})[ -]?(?P<digits>\d{1,5})(?![\w-])")
_WORD = re.compile(r"[A-Za-z]+")
_GAP = re.compile(r"[\s-]+(?:(?:of|and|the|for|in)\s+)?")
_NEVER = frozenset(["AM", "PM", "OK", "NO", "IT", "US", "OR", "AND", "NOT", "IF"])


def written_out(candidate: str, reference: str) -> str:
    """The candidate with every abbreviation that only one of the texts uses, and every code, as the reference has it."""
    codes = {m["letters"] + m["digits"]: m[0] for m in _CODE.finditer(reference)}
    candidate = _CODE.sub(lambda m: codes.get(m["letters"] + m["digits"], m[0]), candidate)
    for short, full in _pairs(candidate, reference):
        candidate = _replaced(candidate, short, full)
    for short, full in _pairs(reference, candidate):
        candidate = _replaced(candidate, full, short)
    return candidate


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text, flags=0 if old.isupper() else re.IGNORECASE)


def _pairs(text: str, other: str) -> Iterator[tuple[str, str]]:
    """(abbreviation of `text`, words of `other` that it stands for)."""
    for short in {match[0] for match in _ABBREVIATION.finditer(text)}:
        letters = short.replace(".", "")
        if letters in _NEVER or re.search(rf"\b{re.escape(letters)}\b", other):
            continue
        full = _with_initials(letters.casefold(), other)
        if full:
            yield short, full


def _with_initials(letters: str, text: str) -> str:
    """The words of `text` that begin with those letters, one after the other; "" where there are none."""
    functions = lexicon("en").functions
    words = list(_WORD.finditer(text))
    for at in range(len(words)):
        here, taken = at, 0
        while taken < len(letters):
            word = words[here][0].casefold() if here < len(words) else ""
            if word[:1] != letters[taken] or word in functions:
                break
            taken += 1
            if taken == len(letters):
                return text[words[at].start() : words[here].end()]
            gap = _GAP.match(text, words[here].end())
            following = [k for k in (here + 1, here + 2) if k < len(words) and gap and words[k].start() == gap.end()]
            if not following:
                break
            here = following[0]
    return ""
