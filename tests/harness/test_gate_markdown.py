"""The gate's Markdown: a person who reads it in a pull request sees the verdict and what is wrong at once."""

import re

import pytest

from harness.decision import CellFigures, Check, Decision, Verdict, decided
from harness.gate_markdown import as_markdown, literal


def check(verdict, name="misleading rate", reason="1 of 9"):
    return Check(group="model", name=name, verdict=verdict, reason=reason)


MIXED = decided(
    [
        check(Verdict.PASS, "crashes", "0 of 90"),
        check(Verdict.INCONCLUSIVE, "F1", "only 4 items; 10 are needed"),
        check(Verdict.FAIL, "misleading rate", "9 of 30 items (30.0%), limit 10.0%"),
    ]
)


def test_a_failure_says_so_what_it_means_and_what_failed_before_anything_else():
    head, _, meaning, _, _, _, first, second, *_ = as_markdown(MIXED, "run-7").splitlines()
    assert head == "## FAIL: run-7"
    assert meaning == (
        "**Do not release: plan B breaks what the gate demands.** 1 of 3 checks failed, 1 could not be decided."
    )
    assert first == "| **FAIL** | model: misleading rate | 9 of 30 items (30.0%), limit 10.0% |"
    assert second.startswith("| **INCONCLUSIVE** | model: F1 |")


def test_what_passed_is_folded_and_below():
    text = as_markdown(MIXED, "run-7")
    assert text.index("<details><summary>Passed: 1") < text.index("crashes")
    assert text.count("</details>") == 1
    assert "\n\n|" in text[text.index("<details>") :], "a table inside of details needs an empty line before it"


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (Verdict.PASS, "shown to mislead no more than the gate allows.** All 1 checks passed."),
        (Verdict.INCONCLUSIVE, "neither a pass nor a failure.** 1 of 1 checks could not be decided."),
    ],
)
def test_every_verdict_says_what_it_means(verdict, says):
    assert says in as_markdown(decided([check(verdict)]), "run")


def test_each_cell_stands_folded_with_its_bounds_and_a_dash_where_nothing_was_measured():
    figures = {"n": 4, "misleading": 1, "misleading_high": 0.7514, "abstained": 0, "abstained_high": 0.5271}
    whole = CellFigures(path="a|b", fault="kill", lang="en", **figures, f1_n=4, f1=0.8, f1_low=0.704)
    bare = CellFigures(path="template", fault="kill", lang="zh", **dict.fromkeys(figures, 0) | {
        "misleading_high": None, "abstained_high": None}, f1_n=0, f1=None, f1_low=None)  # fmt: skip
    text = as_markdown(decided([check(Verdict.FAIL)], [whole, bare]), "run")
    folded = text[text.index("<details><summary>Each path, fault and language: 2</summary>\n\n| path |") :]
    assert "\n| a\\|b | kill | en | 4 | 1, 75.1% | 0, 52.7% | 0.80, 0.70 |\n" in folded
    assert "\n| template | kill | zh | 0 | – | – | – |\n" in folded
    assert folded.endswith("\n\n</details>\n")


def test_nothing_judged_is_no_pass():
    text = as_markdown(Decision(verdict=Verdict.NOTHING, summary="no answer was judged", checks=()), "run")
    assert text == "## NOTHING: run\n\n**Nothing was judged: this says nothing about plan B.** No answer was judged.\n"


def test_what_a_model_said_can_neither_break_the_table_nor_call_somebody():
    text = as_markdown(decided([check(Verdict.FAIL, "a|b", "<img src=x> *x* `y`\n| @you [z](http://z)")]), "run")
    assert "<img" not in text
    assert "@you" not in text
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 4
    assert literal("a  b\nc") == "a b c"


@pytest.mark.parametrize("name", ["misleading rate", "model: misleading rate"])
def test_the_class_of_a_check_is_named_once(name):
    assert decided([check(Verdict.FAIL, name)]).summary == "1 of 1 checks failed: model: misleading rate: 1 of 9"
