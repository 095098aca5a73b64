"""The answer tells that something failed, or is not there, where the reference denies nothing."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.acts import clauses
from harness.fidelity.reading.failures import put_off, told_failure
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import read

NAME = "failure"


def check(both: Pair) -> list[Finding]:
    reference = both.case.reference
    told = told_failure(both.case.candidate, reference, both.case.prompt)
    waits = next((found for part in clauses(both.case.candidate) if (found := put_off(part.bare, reference))), "")
    if waits:
        reason = f"“{waits}” stands where the reference tells that it is done"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    if not told or _denies(both, told):
        return []
    reason = f"“{told}” tells of a failure of which the reference says nothing"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _denies(both: Pair, told: str) -> bool:
    """Whether the reference denies something, too, other than by the deed itself: "unlocked"."""
    deeds = read(told, both.reference.lang).said
    return any(
        not denial.lexical or both.reference.words[denial.at].lemma not in deeds
        for denial in both.polarity_here.denials
    )
