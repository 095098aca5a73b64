"""Which of two things has more, lies east or lends: "A is faster than B" told as "B is faster than A"."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.comparisons import compares, comparison, same_order
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import joined

NAME = "comparison"


def check(both: Pair) -> list[Finding]:
    if same_order(both.reference, both.candidate) is not False:
        return []
    here, there = comparison(both.reference), comparison(both.candidate)
    denied_here, denied_there = _denials(both)
    if here is None or there is None or denied_here != denied_there:
        return []
    told = " … ".join(joined(side, 4) for side in (there.one, there.two) if side)
    reason = f"“{told}” are related in the answer the other way round than in the reference"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _denials(both: Pair) -> tuple[int, int]:
    """How often each text denies, what the comparisons deny by themselves left out."""
    here = sum(not compares(both.reference, denial.at) for denial in both.polarity_here.denials)
    return here, sum(not compares(both.candidate, denial.at) for denial in both.polarity_there.denials)
