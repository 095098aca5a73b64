"""Yes for no, allowed for forbidden, "go ahead" for "not yet", where both texts begin with it."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.plain_yes import answers_the_opposite
from harness.fidelity.reading.stance import OPPOSITES, opening

NAME = "stance"


def check(both: Pair) -> list[Finding]:
    if answers_the_opposite(both.case):
        reason = f"the answer says “{both.case.candidate.strip()}” to the question, the reference the opposite"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    here, there = opening(both.case.reference), opening(both.case.candidate)
    if here is None or there is None:
        return []
    if not {(here.stance, there.stance), (there.stance, here.stance)} & OPPOSITES:
        return []
    reason = f"the answer begins with “{there.text}”, the reference with “{here.text}”"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
