"""The answer tells that something failed, or is not there, where the reference denies nothing."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.acts import clauses
from harness.fidelity.reading.failures import failure
from harness.fidelity.reading.pair import Pair

NAME = "failure"


def check(both: Pair) -> list[Finding]:
    if both.polarity_here.denials:
        return []
    reference = both.case.reference
    told = next((found for part in clauses(both.case.candidate) if (found := failure(part.text, reference))), "")
    if not told:
        return []
    reason = f"“{told}” tells of a failure of which the reference says nothing"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
