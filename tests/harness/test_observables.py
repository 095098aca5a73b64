"""The source's two figures, over rows made by hand: what is measured, what is not, and why."""

import dataclasses
import json

import pytest
from run_builder import Row, run_folder

from evalsets.item import Item
from harness.observables import (
    FILE,
    Sure,
    intent_confidence,
    throughput_variation,
    trained_classifier,
    under,
    units_of,
    write_observables,
)
from harness.report import write_report


def an_item(number: int, prompt: str = "You must list exactly three rules.") -> Item:
    return Item(
        id=f"set-en-{number:03d}", lang="en", system="", context="", prompt=prompt, reference="yes", must_keep=(),
        must_not=(), contract=None, tags=(), source="test", licence="Apache-2.0",
    )  # fmt: skip


ITEMS = [an_item(number) for number in range(5)]


def less_sure(text: str) -> Sure:
    return Sure("rules", 0.8) if "must" in text else Sure("other", 0.4)


def answered(fault: str, speeds: list[float]) -> list:
    """One answer of ten words each, at these words per second."""
    return [
        Row(item=an_item(number), fault=fault, answer=" ".join(["word"] * 10), latency_ms=10_000 / speed).trial
        for number, speed in enumerate(speeds)
    ]


def test_confidence_is_compared_before_and_after_the_blur_of_the_questions_that_were_sent():
    trials = [Row(item=item, fault="blur+latency").trial for item in ITEMS[:4]]
    found = intent_confidence(trials, ITEMS, less_sure)
    assert (found.before, found.after) == pytest.approx((0.8, 0.4))
    assert found.change is not None
    assert found.change.value == pytest.approx(-0.5)
    assert found.change.n == 4
    assert "4 of 4 are taken for another intent" in found.note


def test_a_request_of_an_experiment_with_phases_counts_for_the_faults_that_were_on():
    trials = [
        dataclasses.replace(Row(item=item, fault="blur+truncate_answer").trial, on=on)
        for item, on in zip(ITEMS[:3], ("", "blur", "truncate_answer"), strict=True)
    ]
    assert [[trial.on for trial in under(trials, fault)] for fault in ("blur", "truncate_answer")] == [
        ["blur"],
        ["truncate_answer"],
    ]


@pytest.mark.parametrize(
    ("fault", "prompt", "why"),
    [
        ("latency", "You must list three rules.", "no experiment with blur"),
        ("blur", "Why?", "blur changes 0 of 5 questions"),
    ],
)
def test_without_a_blurred_question_nothing_is_measured(fault, prompt, why):
    items = [an_item(number, prompt) for number in range(5)]
    found = intent_confidence([Row(item=item, fault=fault).trial for item in items], items, less_sure)
    assert found.change is None
    assert why in found.note


def test_throughput_that_varies_twice_as_much_is_a_change_of_one():
    calm, cut = [9.0, 10.0, 11.0] * 4, [8.0, 10.0, 12.0] * 4
    found = throughput_variation([*answered("none", calm), *answered("truncate_answer", cut)])
    assert found.change is not None
    assert found.change.value == pytest.approx(1.0)
    assert found.change.low < 1.0 < found.change.high
    again = throughput_variation([*answered("none", calm), *answered("truncate_answer", cut)])
    assert again.change == found.change


@pytest.mark.parametrize(
    ("calm", "cut", "why"),
    [
        ([9.0, 10.0, 11.0], [], "no experiment with truncate_answer"),
        ([9.0], [1.0, 2.0, 3.0], "1 answers without a fault"),
        ([10.0] * 4, [1.0, 2.0, 3.0], "do not vary"),
    ],
)
def test_too_few_answers_measure_no_variation(calm, cut, why):
    found = throughput_variation([*answered("none", calm), *answered("truncate_answer", cut)])
    assert found.change is None
    assert why in found.note


def test_units_are_words_and_chinese_characters():
    assert units_of("Opened software, no refund!") == 4
    assert units_of("不能退款。") == 4
    assert units_of("") == 0


def test_a_run_folder_gets_the_figures_and_its_report_shows_them_beside_the_sources(tmp_path):
    rows = [Row(item=item, fault="blur", label="faithful") for item in ITEMS]
    rows += [Row(item=item, latency_ms=100.0 + 10 * number) for number, item in enumerate(ITEMS)]
    run = run_folder(tmp_path / "run", rows).path
    write_observables(run, ITEMS, classify=lambda: less_sure)
    blur, cut = json.loads((run / FILE).read_text("utf-8"))["observables"]
    assert blur["change"]["value"] == pytest.approx(-0.5)
    assert cut["change"] is None
    page = write_report(run).read_text("utf-8")
    assert "<b>-50%</b>" in page
    assert "-32%" in page
    assert "+47%" in page


@pytest.mark.slow
def test_the_real_classifier_is_less_sure_of_nothing_than_of_a_refund():
    classify = trained_classifier(0)
    refund = classify("Can I get a refund for the jacket I returned?")
    assert refund.intent == "refund"
    assert 0 < classify("xyzzy").confidence < refund.confidence <= 1
