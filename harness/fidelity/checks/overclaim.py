"""A plain claim where the reference says that it does not know: a failed look-up told as a state of the business."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.abstention import admission, cue
from harness.fidelity.reading.pair import Pair

NAME = "overclaim"


def check(both: Pair) -> list[Finding]:
    admitted = admission(both.case.reference)
    if not admitted or cue(both.case.candidate):
        return []
    reason = f"the reference admits “{admitted}”, the answer claims to know"
    return [Finding(check=NAME, severity=0.9, reason=reason)]
