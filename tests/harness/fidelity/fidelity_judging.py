"""Judge one pair of texts without an encoder."""

from typing import Any

from harness.fidelity.case import Case, Judgement, Similarity
from harness.fidelity.verdict import judge

UNMEASURED = Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=None, cosine=None, composite=None)


def judged(reference: str, candidate: str, **fields: Any) -> Judgement:
    """The judgement, with no similarity measured."""
    case = Case(id="1", reference=reference, candidate=candidate, **fields)
    return judge([case], [UNMEASURED])[0]


def complaints(reference: str, candidate: str, check: str, **fields: Any) -> list[str]:
    """Reasons of the findings of `check` that count for something."""
    found = judged(reference, candidate, **fields).findings
    return [finding.reason for finding in found if finding.check == check and finding.severity >= 0.25]
