"""The answer is in the language of the reference."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import language

NAME = "language"


def check(both: Pair) -> list[Finding]:
    wanted = both.case.lang if both.case.lang in ("en", "zh") else language(both.case.reference)
    got = language(both.case.candidate)
    if wanted is None or got is None or wanted == got or len(both.candidate.content) < 2:
        return []
    named = {"en": "English", "zh": "Chinese"}
    return [
        Finding(check=NAME, severity=1.0, reason=f"the answer is in {named[got]}, the reference in {named[wanted]}")
    ]
