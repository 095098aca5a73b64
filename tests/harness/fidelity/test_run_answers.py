"""Answers of real models, labelled by a reader: the verdict agrees with as many as docs/design/chaos-run.md tells."""

from collections.abc import Iterator

import pytest

from harness.fidelity.case import Judgement, Label
from harness.fidelity.labelled import DATA, Labelled, load_labelled
from harness.fidelity.scorer import Scorer
from harness.judge import verdict_of

pytestmark = [pytest.mark.slow, pytest.mark.models]

CUT = {"run-011", "run-040"}  # complete, then cut: the reader spares them, the verdict does not
DEMANDED = {"run-045"}  # without what its item demands and its question does not ask for
LET_THROUGH = "run-042"  # says that it can and that it cannot be returned
Judged = dict[str, tuple[Labelled, Judgement]]


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    rows, scorer = load_labelled(str(DATA / "run.jsonl")), Scorer()
    found = verdict_of()([row.case for row in rows], scorer.score([(r.case.reference, r.case.candidate) for r in rows]))
    yield {row.case.id: (row, judgement) for row, judgement in zip(rows, found, strict=True)}
    scorer.close()


def wrong(judged: Judged, label: Label) -> set[str]:
    return {name for name, (row, said) in judged.items() if row.label is label and said.label is not label}


def test_the_rows_are_those_that_the_rates_are_told_of(judged: Judged) -> None:
    labels = [row.label for row, _ in judged.values()]
    assert [labels.count(label) for label in (Label.MISLEADING, Label.FAITHFUL, Label.ABSTAINED)] == [44, 5, 2]


def test_no_truth_is_rejected_but_the_three_that_are_told(judged: Judged) -> None:
    assert wrong(judged, Label.FAITHFUL) <= CUT | DEMANDED


def test_no_lie_is_accepted_but_the_one_that_is_told_and_every_abstention_is_recognised(judged: Judged) -> None:
    assert wrong(judged, Label.MISLEADING) <= {LET_THROUGH}
    assert not wrong(judged, Label.ABSTAINED)


@pytest.mark.xfail(strict=True, reason="its denial is taken for the reference's: docs/design/chaos-run.md")
def test_an_answer_that_grants_and_denies_the_same_is_misleading(judged: Judged) -> None:
    assert judged[LET_THROUGH][1].label is Label.MISLEADING
