"""What the question names itself: an answer need not tell it again."""

import re

from harness.fidelity.reading.fact import Fact, Kind, same
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import read

_CHOICE = re.compile(r"\b(?:or|versus|vs|between)\b|还是|或", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:which|who|whom|whose)\b|哪|谁", re.IGNORECASE)


def asked_about(fact: Fact, both: Pair) -> bool:
    """Whether the question names the value, no other one of its kind, and does not ask which it is."""
    prompt = both.case.prompt
    if fact.bound or not prompt or _CHOICE.search(prompt):
        return False
    named = [other for other in read(prompt, both.reference.lang).facts if other.kind is fact.kind]
    return bool(named) and all(same(fact, other) for other in named)


def told_again(fact: Fact, both: Pair) -> bool:
    """Whether a moment is one of the question that the answer only takes up: "02:30 is skipped".

    It does so where the answer denies something of it, or the question tells it without asking of it while the answer
    gives a value of the reference, too. In a near copy it stands where the reference has another.
    """
    if fact.bound or both.closeness > NEAR_COPY or fact.kind not in _MOMENTS or _CHOICE.search(both.case.prompt):
        return False
    sentences = [read(part, both.reference.lang) for part in _SENTENCE.findall(both.case.prompt)]
    named = [text for text in sentences if any(same(fact, other) for other in text.facts if other.kind is fact.kind)]
    if not named or any(same(fact, other) for other in both.reference.facts):
        return False
    return _denied(fact, both) or (not any(_ASKS.search(text.plain) for text in named) and _answered(fact.kind, both))


def _denied(fact: Fact, both: Pair) -> bool:
    """Whether the answer denies something in the clause of the value."""
    words = both.candidate.words
    return any(
        any(words[i].fact is fact for i in (*denial.reach, *denial.clause)) for denial in both.polarity_there.denials
    )


def _answered(kind: Kind, both: Pair) -> bool:
    """Whether the answer gives a value of this kind that the reference gives."""
    return any(one.kind is kind for one, _ in both.same_facts)


NEAR_COPY = 0.7  # closeness from which another value stands in the place of the reference's
_MOMENTS = frozenset({Kind.TIME, Kind.DATE, Kind.WEEKDAY, Kind.DAY})
_SENTENCE = re.compile(r"[^.!?。！？]+(?:[.](?=\d)[^.!?。！？]+)*[.!?。！？]*")
_ASKS = re.compile(r"[?？]|[吗呢]\s*$")


def asked_by_name(name: str, both: Pair) -> bool:
    """Whether the question says the name, and does not ask which it is."""
    prompt = both.case.prompt
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", prompt, re.IGNORECASE)) and not (
        _CHOICE.search(prompt) or _WHICH.search(prompt)
    )
