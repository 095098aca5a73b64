"""The judge of a run, measured: every set, language and judge is in the table, and nothing of it gets worse unseen."""

import json
from collections.abc import Iterator, Sequence

import pytest

from harness.fidelity.case import Case, Judgement, Label, Similarity
from harness.fidelity.clustered import Range
from harness.fidelity.judge_the_judge import Measured
from harness.fidelity.reliability import from_plain
from harness.fidelity.scorer import Scorer
from harness.judge import verdict_of
from harness.judge_table import JudgedSet, as_json, frozen_sets, judged_set

SETS = ("short answers", "semantic collapse", "generated")
FLOORS = {  # least AUROC, most lies accepted, most truths rejected: a little below what is measured today
    "short answers": (0.995, 3, 4),
    "semantic collapse": (0.9, 9, 23),
    "generated": (0.995, 12, 8),
}


@pytest.fixture(scope="module")
def judged() -> Iterator[dict[str, JudgedSet]]:
    """Each set, read once by the packaged encoder and by the verdict as every command has it."""
    scorer = Scorer()
    yield {name: judged_set(rows, scorer, verdict_of()) for name, rows in frozen_sets().items()}
    scorer.close()


def of(one: JudgedSet, judge: str, group: str = "all") -> Measured:
    return next(m for m in one.measured if (m.judge, m.group) == (judge, group))


def told(figure: Range | None) -> float:
    assert figure is not None
    return figure.value


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("name", FLOORS)
def test_the_verdict_gets_no_worse_on_answers_that_nothing_was_fitted_to(
    judged: dict[str, JudgedSet], name: str
) -> None:
    least_auroc, most_lies, most_truths = FLOORS[name]
    ours = of(judged[name], "truefall")
    assert told(ours.auroc) >= least_auroc
    assert round(told(ours.accepted) * ours.n_misleading) <= most_lies
    assert round(told(ours.rejected) * ours.n_faithful) <= most_truths


@pytest.mark.slow
@pytest.mark.models
def test_every_abstention_of_the_frozen_half_is_recognised(judged: dict[str, JudgedSet]) -> None:
    ours = of(judged["short answers"], "truefall")
    assert (ours.n_abstained, told(ours.recognised)) == (16, 1.0)


@pytest.mark.slow
@pytest.mark.models
def test_all_four_judges_stand_side_by_side_on_each_set_in_both_languages(judged: dict[str, JudgedSet]) -> None:
    assert tuple(judged) == SETS
    for one in judged.values():
        assert {(m.judge, m.group) for m in one.measured} == {
            (judge, group)
            for judge in ("bertscore_f1", "cosine", "composite", "truefall")
            for group in ("all", "en", "zh")
        }
        assert told(of(one, "truefall").auroc) > told(of(one, "bertscore_f1").auroc)


class Same:
    """Stands for the encoder: every pair scores alike."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Similarity]:
        return [Similarity(bertscore_p=0.9, bertscore_r=0.9, bertscore_f1=0.9, cosine=0.9, composite=0.9)] * len(pairs)


def trusting(cases: Sequence[Case], similarities: Sequence[Similarity]) -> list[Judgement]:
    """Stands for the verdict: whatever is said is faithful."""
    return [
        Judgement(id=case.id, label=Label.FAITHFUL, risk=0.1, reasons=(), similarity=one)
        for case, one in zip(cases, similarities, strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "modes"),
    [
        (
            "semantic collapse",
            {"context-stripping", "state-coupling", "inversion", "value-distortion", "hollow-output"},
        ),
        ("generated", {"number", "negation"}),
    ],
)
def test_each_mode_of_collapse_and_kind_of_perturbation_ships_with_a_run_apart_from_the_languages(
    name: str, modes: set[str]
) -> None:
    one = judged_set(frozen_sets()[name], Same(), trusting)
    assert {m.group for m in one.measured} == {"all", "en", "zh"}
    assert modes <= {m.group for m in one.by_mode}
    assert all(m.n_misleading and told(m.accepted) == 1.0 for m in one.by_mode)
    rows = as_json({name: one})["modes"]
    assert {(row["group"], row["judge"]) for row in rows} >= {(mode, "this verdict") for mode in modes}


@pytest.mark.slow
@pytest.mark.models
def test_what_is_measured_comes_back_from_the_file_that_the_report_reads(judged: dict[str, JudgedSet]) -> None:
    written = json.loads(json.dumps(as_json(judged)))
    assert {row["judge"] for row in written["judges"]} == {"this verdict", "BERTScore F1", "cosine", "composite"}
    assert {row["set"] for row in written["judges"]} == {*SETS}
    assert [one["set"] for one in written["reliability"]] == [*SETS]
    assert [from_plain(one) for one in written["reliability"]] == [one.reliability for one in judged.values()]
