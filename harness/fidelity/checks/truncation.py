"""An answer cut in mid-sentence, in the middle of a list, or inside brackets, quotes and code."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import CJK, normalised

NAME = "truncation"
_END = frozenset(".!?。！？…)）]】}”\"'’`*")
_OPEN_ENDED = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "and",
        "or",
        "but",
        "nor",
        "if",
        "when",
        "while",
        "because",
        "since",
        "until",
        "unless",
        "although",
        "than",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "has",
        "have",
        "had",
        "will",
        "would",
        "can",
        "could",
        "may",
        "must",
        "should",
        "not",
        "that",
        "which",
        "who",
        "whose",
        "this",
        "these",
        "your",
        "our",
        "their",
        "its",
        "about",
        "between",
        "within",
        "during",
        "only",
        "except",
        "including",
        "per",
        "via",
        "into",
        "no",
        "any",
        "every",
        "each",
        "very",
        "so",
        "both",
        "either",
    ]
)
_OPEN_ENDED_ZH = ("的", "和", "与", "及", "或", "在", "从", "到", "把", "被", "将", "是", "为", "但", "而", "因为", "如果", "请", "需", "需要", "可以", "必须", "不", "对", "由", "以及", "并", "则")  # fmt: skip
_WHOLE = frozenset(["no", "any", "every", "this", "that", "必须", "需要", "不需要", "可以", "不可以", "不", "对", "不对", "是", "不是"])  # alone, an answer  # fmt: skip
_PAIRS = (("(", ")"), ("（", "）"), ("[", "]"), ("{", "}"), ("“", "”"), ("「", "」"))


def check(both: Pair) -> list[Finding]:
    text, reference = both.case.candidate.rstrip(), both.case.reference.rstrip()
    if not text:
        return []
    found = []
    last = re.findall(r"[A-Za-z']+|\S", text)[-1:]
    ends_open = (
        bool(last)
        and (last[0].lower() in _OPEN_ENDED or last[0] in ",，、;；:：-–—(（/+=")
        and last[0] not in reference[-1:]
    )
    if ends_open and both.candidate.lang == "en":
        ends_open = not (last[0].isupper() and len(last[0]) == 1)
    if not ends_open and both.candidate.lang == "zh":
        ends_open = text.endswith(_OPEN_ENDED_ZH) and not reference.endswith(text[-2:])
    if ends_open and text.casefold() not in _WHOLE:
        found.append(Finding(check=NAME, severity=1.0, reason=f"the answer stops at “{text[-24:]}”"))
    for left, right in _PAIRS:
        if text.count(left) > text.count(right) and reference.count(left) == reference.count(right):
            found.append(Finding(check=NAME, severity=0.8, reason=f"“{left}” is opened and never closed"))
    if text.count("```") % 2:
        found.append(Finding(check=NAME, severity=0.9, reason="a block of code is opened and never closed"))
    cut = _prefix(text, reference) or _continued(both)
    if not found and cut:
        found.append(Finding(check=NAME, severity=0.9, reason=f"the answer breaks off before “{cut[:40]}”"))
    if not found and text[-1] not in _END and reference[-1:] in ".。!?！？":
        found.append(Finding(check=NAME, severity=0.25, reason="the last sentence has no end"))
    return found


def _continued(both: Pair) -> str:
    """The word that follows in the reference, where the answer stops without a mark in the middle of a name for a thing."""
    words = both.candidate.words
    at = both.partner[-1] if words and not words[-1].mark and words[-1].content else None
    following = both.reference.words[at + 1 :] if at is not None else ()
    if not following or both.case.reference.rstrip()[-1:] not in _END:
        return ""
    named = following[0].content and following[0].clause == both.reference.words[at or 0].clause
    said = {w.lemma for w in words}
    return following[0].text if named and following[0].lemma not in said and following[0].text.isascii() else ""


def _prefix(text: str, reference: str) -> str:
    """What of the reference follows, where the answer is its beginning and no more."""
    text, reference = normalised(text), normalised(reference)
    bare = text.rstrip(".。!！ …,")
    if len(bare) >= 4 and reference.casefold().startswith(bare.casefold()):
        rest = reference[len(bare) :].strip(" .。!！…")
        return rest if len(rest) > 2 or CJK.search(rest) else ""
    return ""
