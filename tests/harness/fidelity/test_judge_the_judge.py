"""Measuring a judge: its figures are right on made-up judges, and a bad file is refused with its line and field."""

import json
from pathlib import Path

import numpy as np
import pytest
from fidelity_judging import UNMEASURED

from harness.commands.judge import named_apart
from harness.commands.judge_lines import ablation_table, short_table, table
from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Case, Label, Similarity
from harness.fidelity.clustered import auroc
from harness.fidelity.generated import generated
from harness.fidelity.judge_the_judge import (
    Measured,
    Verdicts,
    ablated,
    by_score,
    judges_of,
    measure,
)
from harness.fidelity.labelled import DATA, Labelled, load_labelled
from harness.fidelity.learned import told
from harness.fidelity.verdict import judge, see


def row(number: int, label: Label, candidate: str = "The shop is open.", mode: str = "") -> Labelled:
    case = Case(id=str(number), reference="The shop is closed.", candidate=candidate, lang="en")
    return Labelled(case=case, label=label, mode=mode)


def test_a_perfect_order_has_an_auroc_of_one_and_a_reversed_one_of_zero() -> None:
    high, low = np.array([0.8, 0.9]), np.array([0.1, 0.2])
    best, worst = auroc(high, low, "ab", "ab"), auroc(low, high, "ab", "ab")
    assert best is not None
    assert worst is not None
    assert (best.value, worst.value) == (1.0, 0.0)
    assert auroc(high, np.array([]), "ab", "") is None


def test_ties_count_half() -> None:
    tied = auroc(np.array([0.5]), np.array([0.5]), "a", "a")
    assert tied is not None
    assert tied.value == 0.5


def measured_of(rows: list[Labelled], called: list[Label], risks: list[float] | None = None) -> list[Measured]:
    """The figures of a judge that calls the rows so."""
    said = Verdicts(np.array(risks or [0.5] * len(rows)), np.array([one.value for one in called]), abstains=True)
    return measure(rows, {"judge": said})


def shares(rows: list[Labelled], called: list[Label]) -> tuple[float | None, ...]:
    """Lies accepted, truths rejected, abstentions recognised."""
    m = measured_of(rows, called)[0]
    return tuple(None if figure is None else figure.value for figure in (m.accepted, m.rejected, m.recognised))


LIE, TRUTH, NONE = Label.MISLEADING, Label.FAITHFUL, Label.ABSTAINED


def test_shares_are_counted_per_label() -> None:
    rows = [row(1, LIE), row(2, LIE), row(3, TRUTH), row(4, NONE)]
    assert shares(rows, [LIE, TRUTH, TRUTH, NONE]) == (0.5, 0.0, 1.0)
    assert shares(rows, [LIE, LIE, LIE, TRUTH]) == (0.0, 1.0, 0.0)


def test_a_truth_called_abstained_is_rejected() -> None:
    assert shares([row(1, TRUTH), row(2, TRUTH)], [NONE, TRUTH]) == (None, 0.5, None)


def test_a_lie_called_abstained_is_accepted() -> None:
    assert shares([row(1, LIE), row(2, LIE)], [NONE, LIE]) == (0.5, None, None)


def test_an_abstention_called_faithful_or_misleading_is_not_recognised() -> None:
    assert shares([row(1, NONE), row(2, NONE), row(3, NONE), row(4, NONE)], [NONE, TRUTH, LIE, NONE]) == (
        None,
        None,
        0.5,
    )


def test_the_judges_stand_side_by_side_per_language_and_mode_in_a_hundred_columns() -> None:
    rows = [
        row(1, LIE, mode="context-stripping"),
        row(2, LIE, mode="a mode with a very long name"),
        row(3, TRUTH),
        row(4, NONE),
    ]
    said = Verdicts(
        np.array([0.9, 0.1, 0.2, 0.1]), np.array([LIE.value, TRUTH.value, TRUTH.value, NONE.value]), abstains=True
    )
    score = by_score([UNMEASURED] * 4, "cosine")
    names = ("bertscore_f1", "cosine", "composite")
    lines = table(measure(rows, dict.fromkeys(names, score) | {"truefall": said}))
    assert max(map(len, lines)) <= 100
    assert lines[0].split()[:3] == ["AUROC", "lies", "BERTScore"]
    accepted = lines[lines.index(next(line for line in lines if line.startswith("lies accepted"))) :]
    assert [line[:19].rstrip() for line in accepted[1:5]] == [
        "all",
        "  en",
        "  context-stripping",
        "  a mode with a ve…",
    ]
    assert accepted[1].endswith("1  50% (0–100)")
    assert sum(line.startswith("abst. recognised") for line in lines) == 1
    assert "for want of their own" in lines[-1]


def test_the_short_table_has_a_line_per_judge() -> None:
    rows = [row(1, LIE, mode="m"), row(2, TRUTH)]
    lines = short_table(measured_of(rows, [LIE, TRUTH], [0.9, 0.1]))
    assert lines[0] == "1 lies, 1 truths, 0 abstentions"
    assert len(lines) == 3
    assert "1.000 (0.00–1.00)    0   0%" in lines[2]


def test_a_score_that_was_not_measured_never_passes() -> None:
    half = Similarity(bertscore_p=0.9, bertscore_r=0.9, bertscore_f1=0.72, cosine=None, composite=0.9)
    assert by_score([half, UNMEASURED], "bertscore_f1").called.tolist() == ["faithful", "misleading"]
    assert by_score([half], "cosine").called.tolist() == ["misleading"]


def test_leaving_out_the_check_that_sees_a_lie_lowers_its_risk() -> None:
    rows = [row(1, Label.MISLEADING, "The shop is not closed."), row(2, Label.FAITHFUL, "The shop is shut.")]
    seen = see([one.case for one in rows])
    found = ablated(seen, [UNMEASURED] * 2)
    assert found["negation"].risk[0] < found["all checks"].risk[0]
    judged = judge([one.case for one in rows], [UNMEASURED] * 2)
    assert set(judges_of([UNMEASURED] * 2, judged)) == {"bertscore_f1", "cosine", "composite", "truefall"}


def test_the_generated_set_is_the_same_each_time_and_has_two_splits() -> None:
    references = [row(1, Label.FAITHFUL), row(2, Label.MISLEADING)]
    made = [*generated(references, "test")]
    assert made == [*generated(references, "test")]
    assert {one.label for one in made} == {Label.MISLEADING, Label.FAITHFUL}
    assert all(one.case.candidate != one.case.reference for one in made)
    assert len({one.case.id for one in made}) == len(made)


def test_an_ablation_is_told_per_set_and_says_where_nothing_changes() -> None:
    rows = [row(1, Label.MISLEADING, "The shop is not closed."), row(2, Label.FAITHFUL, "The shop is shut.")]
    measured = measure(rows, ablated(see([one.case for one in rows]), [UNMEASURED] * 2))
    lines = ablation_table({"mine": measured})
    assert lines[0] == "| without | mine |"
    assert "| nothing | 1.000, 0/1 lies, 0/1 truths |" in lines
    assert "| transport | – |" in lines


def test_what_a_check_costs_in_truths_stands_in_the_ablation() -> None:
    rows = [row(1, TRUTH, "The shop is not closed."), row(2, LIE, "The shop is not closed.")]  # a check in the wrong
    lines = ablation_table({"mine": measure(rows, ablated(see([one.case for one in rows]), [UNMEASURED] * 2))})
    assert "| nothing | 0.500, 0/1 lies, 1/1 truths |" in lines
    assert "| negation | 0.500, 1/1 lies, 0/1 truths |" in lines


def test_the_counterexamples_load_as_pairs_of_a_lie_and_a_truth() -> None:
    rows = load_labelled("collapse")
    assert len(rows) == 2 * 127
    assert {r.split for r in rows} == {"dev", "test"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": "wrong"}, "'label' is \"wrong\"; known are"),
        ({"label": None}, "'label' has to be a text, got null"),
        ({"split": 3}, "'split' has to be a text, got 3"),
        ({"candidate": 5}, "'candidate' has to be a text, got 5"),
        ({"context": 7}, "'context' has to be a text, got 7"),
        ({"must_keep": 5}, "'must_keep' has to be a text or a list of texts"),
        ({"id": True}, "'id' has to be"),
        ({"reference": ""}, "'reference' is blank"),
        ({"lang": "xx"}, "'lang' has to be en or zh"),
        ({"candidate": "\ud800"}, "'candidate' holds half a surrogate pair"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_field(tmp_path: Path, change: dict[str, object], said: str) -> None:
    good = {"id": "1", "reference": "a", "candidate": "b", "label": "faithful"}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(good | {"id": "2"} | change) + "\n", "utf-8")
    with pytest.raises(ConfigError, match=rf"rows.jsonl:2: field ({said})"):
        load_labelled(str(path))


def test_an_id_stands_once_and_an_empty_file_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "1", "reference": "a", "candidate": "b", "label": "faithful"}\n' * 2, "utf-8")
    with pytest.raises(ConfigError, match='id "1" stands in line 1 too'):
        load_labelled(str(path))
    path.write_text("\n", "utf-8")
    with pytest.raises(NothingJudged):
        load_labelled(str(path))


def test_a_line_ends_where_a_new_line_begins_and_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "1", "reference": "a\u2028b", "candidate": "b", "label": "faithful"}\n', "utf-8")
    assert [row.case.reference for row in load_labelled(str(path))] == ["a\u2028b"]
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(ConfigError, match=r"rows\.jsonl:1: not UTF-8 at byte 8"):
        load_labelled(str(path))


def counted(rows: list[Labelled]) -> dict[str, tuple[int, int]]:
    """Lies and truths of each group."""
    found = measured_of(rows, [TRUTH] * len(rows))
    return {m.group: (m.n_misleading, m.n_faithful) for m in found}


@pytest.mark.parametrize("mode", ["en", "zh", "all"])
def test_a_mode_called_as_a_group_is_one_of_its_own(mode: str) -> None:
    rows = [row(1, LIE, mode=mode), row(2, LIE), row(3, TRUTH), row(4, TRUTH, mode=mode)]
    rows.append(Labelled(case=Case(id="5", reference="店关了。", candidate="店开了。", lang="zh"), label=LIE))
    assert counted(rows) == {"all": (3, 2), "en": (2, 2), "zh": (1, 0), f"mode {mode}": (1, 1)}


def test_a_row_without_a_language_is_in_the_group_of_the_one_that_is_detected() -> None:
    texts = (("The shop is closed.", "It is shut."), ("商店关门了。", "商店没开。"), ("12", "12"))
    rows = [
        Labelled(case=Case(id=one, reference=one, candidate=other), label=label)
        for one, other in texts
        for label in (LIE, TRUTH)
    ]
    assert counted(rows) == {"all": (3, 3), "en": (1, 1), "zh": (1, 1)}


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        (["a/dev.jsonl", "collapse"], ["dev", "collapse"]),
        (["a/dev.jsonl", "b/dev.jsonl"], ["a/dev.jsonl", "b/dev.jsonl"]),
        (["collapse", "mine/collapse.jsonl", "x.jsonl"], ["collapse", "mine/collapse.jsonl", "x"]),
        (["a/dev.jsonl", "a/dev.jsonl"], ["dev"]),
        (["a/x", "b/x", "y/a/x.jsonl"], ["a/x", "b/x", "y/a/x.jsonl"]),
    ],
)
def test_no_input_takes_the_place_of_another_of_the_same_name(inputs: list[str], names: list[str]) -> None:
    found = named_apart(inputs)
    assert list(found) == names
    assert set(found.values()) == set(inputs)


@pytest.mark.slow
def test_what_was_learned_from_is_told_of_every_set() -> None:
    collapse = load_labelled("collapse")
    halves = {split: [row for row in collapse if row.split == split] for split in ("dev", "test")}
    assert told(collapse).startswith(f"learned from: {len(halves['dev'])} of these {len(collapse)} rows (split dev)")
    assert told(collapse).endswith("--split test leaves them out")
    assert "leaves" not in told(halves["dev"])
    assert told(halves["test"]) == f"learned from: none of these {len(halves['test'])} rows"
    for name, learned in (("dev", True), ("joined", True), ("test", False)):
        rows = load_labelled(str(DATA / f"{name}.jsonl"))
        assert told(rows).startswith(f"learned from: {len(rows)} of" if learned else "learned from: none")
