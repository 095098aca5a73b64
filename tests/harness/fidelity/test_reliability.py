"""The reliability of the risk: right on made-up risks, and drawn to a file."""

from pathlib import Path

import pytest
from fidelity_judging import UNMEASURED

from harness.errors import NothingJudged
from harness.fidelity.case import Case, Judgement, Label
from harness.fidelity.labelled import Labelled
from harness.fidelity.reliability import plot, reliability


def told(risks: list[float], labels: list[Label]) -> tuple[list[Labelled], list[Judgement]]:
    """Rows with these labels, and judgements with these risks."""
    rows = [Labelled(case=Case(id=str(i), reference="a", candidate="b"), label=label) for i, label in enumerate(labels)]
    judged = [
        Judgement(id=str(i), label=labels[i], risk=risk, reasons=(), similarity=UNMEASURED)
        for i, risk in enumerate(risks)
    ]
    return rows, judged


def test_risks_that_come_true_are_not_off() -> None:
    found = reliability(*told([0.0, 0.0, 1.0, 1.0], [Label.FAITHFUL] * 2 + [Label.MISLEADING] * 2))
    assert (found.ece, found.brier) == (0.0, 0.0)
    assert [b.count for b in found.bins] == [2, 2]


def test_risks_that_never_come_true_are_off_by_themselves() -> None:
    found = reliability(*told([0.85, 0.85, 0.25, 0.05], [Label.FAITHFUL] * 3 + [Label.ABSTAINED]))
    assert found.ece == pytest.approx((0.85 * 2 + 0.25) / 3)


def test_abstentions_alone_have_no_reliability() -> None:
    with pytest.raises(NothingJudged, match="abstentions only"):
        reliability(*told([0.1], [Label.ABSTAINED]))


@pytest.mark.slow
def test_the_plot_is_a_picture(tmp_path: Path) -> None:
    found = reliability(*told([0.1, 0.9], [Label.FAITHFUL, Label.MISLEADING]))
    plot(found, tmp_path / "risk.png", "Risk")
    assert (tmp_path / "risk.png").read_bytes().startswith(b"\x89PNG")
