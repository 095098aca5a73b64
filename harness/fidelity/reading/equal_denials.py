"""A denial that the other text says by a rule of the language: "no heavier than" by "at most", 不收费 by 免费."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Callable

from harness.fidelity.reading.equal_demands import (
    all_of_them,
    excepted,
    needed,
    nobody_else,
    not_needed,
    or_else,
    other_means,
)
from harness.fidelity.reading.fact import Fact, same
from harness.fidelity.reading.least_or_most import edge
from harness.fidelity.reading.outcomes import costless
from harness.fidelity.reading.pair import alike
from harness.fidelity.reading.polarity import Denial, polarity
from harness.fidelity.reading.text import Text, Word

Rule = Callable[[Denial, Text, Text], bool]


def equally_said(denial: Denial, own: Text, other: Text) -> bool:
    """Whether `other` says what `own` denies, in a wording that a rule of the language makes equal."""
    return any(rule(denial, own, other) for rule in _RULES)


def _set_aside(denial: Denial, own: Text, other: Text) -> bool:
    """ "€92 rather than €85" where the other text names €85 as what it was: "from 85 to 92 euros"."""
    if not _sets_aside(denial, own):
        return False
    aside = _aside(denial, own)
    places = [i for i, word in enumerate(other.words) if any(alike(word, gone) for gone in aside)]
    return bool(places) and all(_former(i, other) for i in places)


def _sets_aside(denial: Denial, text: Text) -> bool:
    """Whether a denial only sets a thing apart from the one told before it: "14, not 20", 而不是."""
    word, before = text.words[denial.at], text.words[max(0, denial.at - 1) : denial.at]
    if word.lemma in _RATHER:
        return True
    led = bool(before) and (before[0].mark or before[0].text in ("而", "再"))
    return led and word.text.casefold() in ("not", "不", "不是", "不再") and len(denial.reach) <= SHORT


def _aside(denial: Denial, text: Text) -> list[Word]:
    """The words set aside: values, where there are any."""
    reach = [text.words[i] for i in denial.reach]
    return [w for w in reach if w.fact] or reach[:1]


def _former(at: int, text: Text) -> bool:
    """Whether the word at `at` is told as what something was before: "from 85", "instead of timber", 从300元."""
    for word in reversed(text.words[max(0, at - 3) : at]):
        if word.lemma in _FORMERLY or word.text.casefold() in _FORMERLY:
            return True
        if word.text.casefold() in _OUT_OF:
            return any(
                w.text.casefold() in _BECAME or w.text[:1] in _CHANGES for w in text.words[at + 1 : at + 1 + SHORT]
            )
        if word.mark or word.text.casefold() in _BECAME:
            return False
    return False


SHORT = 3  # content words of what is set aside, at most
_RATHER = frozenset(["rather than", "instead of", "in place of"])
_BECAME = frozenset(
    ["to", "into", "by", "with", "到", "至", "为", "成", "改为", "改成", "换成", "变成", "涨到", "降到"]
)
_OUT_OF = frozenset(["from", "从", "由"])
_CHANGES = frozenset("改换变调涨降升增减提")
_FORMERLY = frozenset(
    ["instead of", "in place of", "rather than", "previously", "formerly", "replace", "replacing", "no longer",
     "原", "原来", "原先", "原本", "以前", "此前", "不再", "代替", "取代"]
)  # fmt: skip


def _same_edge(denial: Denial, own: Text, other: Text) -> bool:
    """ "not before 7" is "at 7 at the earliest"."""
    denied = {other.words[i].fact for d in polarity(other).denials for i in d.clause}
    for at in denial.clause:
        fact = own.words[at].fact
        if fact is None or edge(fact, own.plain) <= 0 or not _before(fact, own.plain):
            continue
        if any(same(fact, f) and edge(f, other.plain) > 0 and f not in denied for f in other.facts):
            return True
    return False


def _before(fact: Fact, plain: str) -> bool:
    """Whether what comes before a moment is spoken of, and so denied."""
    return bool(_BEFORE.search(plain, max(0, fact.start - 16), fact.start) or _BEFORE_ZH.match(plain, fact.end))


_BEFORE = re.compile(r"\b(?:before|earlier than|prior to|ahead of)\s+(?:the )?$", re.IGNORECASE)
_BEFORE_ZH = re.compile(r"之前|以前|前")


def _undone_there(denial: Denial, _own: Text, other: Text) -> bool:
    """ "unbroken" is "not broken", where the "not" and the "broken" cancel out."""
    said = polarity(other).undone
    return denial.lexical and any(
        base in (other.words[i].lemma, other.words[i].text.casefold()) for i in said for base in denial.bases
    )


def _costless(denial: Denial, own: Text, other: Text) -> bool:
    """不收费 is 一分钱不用付 and 免费, "free" is "at our expense"."""
    place = own.words[denial.at]
    within = any(start <= place.start < end for start, end in costless(own))
    return (within or place.lemma in _FREE) and bool(costless(other))


_FREE = frozenset(["free", "complimentary", "免费"])


def _once_at_most(denial: Denial, own: Text, other: Text) -> bool:
    """ "not more than once" is "only once"."""
    after = own.plain[own.words[denial.at].start :]
    bound = _MORE_THAN.match(after)
    if bound is None:
        return False
    often = (bound["often"] or bound["oft"]).casefold()
    return any((m["often"] or m["oft"] or m["off"] or "").casefold() == often for m in _NO_MORE.finditer(other.plain))


_OFTEN = r"once|twice|one|two|three|four|five|six|\d+"
_OFT = r"[一二两三四五六\d]+[次遍回]"
_MORE_THAN = re.compile(
    rf"(?:not|never|no)\b[^.;!?]{{0,80}}? more than (?P<often>{_OFTEN})\b|不[^，。；]{{0,8}}(?:超过|多于)(?P<oft>{_OFT})",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    rf"\b(?:only|just|at most|up to|a maximum of|a single|no more than) (?P<often>{_OFTEN})\b|(?:只|仅|最多|至多)[^，。；]{{0,8}}(?P<oft>{_OFT})"
    rf"|\b(?P<off>{_OFTEN}) (?:only|at most|at the most)\b",
    re.IGNORECASE,
)


def _left_out(denial: Denial, own: Text, other: Text) -> bool:
    """ "without the olives" is "with the olives left out": what is lacking is told as left out, excluded or kept back."""
    lacking = [own.words[i] for i in denial.reach[:2]]
    plain = own.words[denial.at].lemma in ("without", "no", "but")
    return plain and any(
        any(alike(word, other.words[i]) for word in lacking for i in rival.clause)
        for rival in polarity(other).denials
        if rival.lexical and "include" in rival.bases
    )


_RULES: tuple[Rule, ...] = (
    _set_aside,
    _same_edge,
    _undone_there,
    _costless,
    needed,
    excepted,
    nobody_else,
    other_means,
    or_else,
    all_of_them,
    _once_at_most,
    _left_out,
    not_needed,
)
