"""What the question names itself: an answer need not tell it again."""

import re

from harness.fidelity.reading.fact import Fact, same
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


def asked_by_name(name: str, both: Pair) -> bool:
    """Whether the question says the name, and does not ask which it is."""
    prompt = both.case.prompt
    return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", prompt, re.IGNORECASE)) and not (
        _CHOICE.search(prompt) or _WHICH.search(prompt)
    )
