"""What the case demands: facts that have to be said (`must_keep`), claims that must not be made (`must_not`)."""

from evalsets.item import alternatives, mentions
from harness.fidelity.case import Finding
from harness.fidelity.reading.denied_claims import denied
from harness.fidelity.reading.mention import mentioned
from harness.fidelity.reading.pair import Pair

NAME = "must_keep"


def check(both: Pair) -> list[Finding]:
    found = [
        Finding(check=NAME, severity=1.0, reason=f"“{fact.split(' | ')[0]}” has to be said and is not")
        for fact in both.case.must_keep
        if not mentioned(both.candidate, fact)
    ]
    for claim in both.case.must_not:
        wording = _claimed(both, claim)
        if wording:
            found.append(Finding(check=NAME, severity=1.0, reason=f"“{wording}” must not be claimed"))
    return found


def _claimed(both: Pair, claim: str) -> str:
    """The wording of `claim` that the candidate makes and the reference does not; "" where it makes or denies none."""
    said, told = both.candidate.plain, both.reference.plain
    made = (w for w in alternatives(claim) if w and mentions(said, w) and not mentions(told, w))
    return next((wording for wording in made if not denied(said, wording)), "")
