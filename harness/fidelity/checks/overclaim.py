"""A plain claim where the reference says that it does not know: a failed look-up told as a state of the business."""

import re

from harness.fidelity.case import Finding
from harness.fidelity.checks.abstention import admission, cue
from harness.fidelity.reading.pair import Pair

NAME = "overclaim"
_CONDITION = re.compile(
    r"\b(?:unless|if|when|whenever|without|until|before|once)\b", re.IGNORECASE
)  # what happens then is an answer
CLOSE = 0.35  # share of words in the same order from which a text says the rest of the reference


def check(both: Pair) -> list[Finding]:
    admitted = admission(both.case.reference)
    if not admitted or cue(both.case.candidate) or _CONDITION.search(both.reference.plain):
        return []
    severity = 0.9 if both.closeness > CLOSE else 0.4  # far from it, other words may admit the same
    reason = f"the reference admits “{admitted}”, the answer claims to know"
    return [Finding(check=NAME, severity=severity, reason=reason)]
