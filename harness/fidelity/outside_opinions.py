"""What models that the user named (an inference model, a language model) change about the verdict.

The verdict stands by itself first. What such a model has against an answer then raises the risk as far as it is
trusted, whatever the label was; nothing that it says lowers it.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from harness.fidelity.case import Finding, Judgement, Label
from harness.fidelity.llm_judge import notes

NOTHING_FOUND = "nothing in it contradicts the reference"


def with_opinions(judgement: Judgement, opinions: Sequence[Finding], *, threshold: float) -> Judgement:
    """The judgement with these findings, each of the severity that its model is trusted for."""
    against = [finding for finding in opinions if finding.severity > 0]
    risk = 1.0 - (1.0 - judgement.risk) * math.prod(1.0 - finding.severity for finding in against)
    label = Label.MISLEADING if against and risk >= threshold else judgement.label
    own = tuple(reason for reason in judgement.reasons if not (against and reason == NOTHING_FOUND))
    told = tuple(f"{finding.check}: {finding.reason}" for finding in against)
    reasons = (*own, *told) if label is judgement.label else (*told, *own)
    return replace(
        judgement,
        label=label,
        risk=risk if against else judgement.risk,
        reasons=(*reasons, *notes(opinions)),
        findings=(*judgement.findings, *opinions),
    )
