"""Degraded answers that call themselves healthy, and degraded answers without any fault."""

from dataclasses import replace

import pytest
from gate_rows import CPU, FIRED, check_of, decide, rows, steady

from harness.decision import Verdict
from harness.gate_marks import ALLEGED, Undisturbed, more_misleading_p
from harness.stats import PairedCounts, tango_above_p

FAULTS = ("kill", "hang", "latency")
BLOCKS = [replace(FIRED, id=f"{fault}#0", fault=fault) for fault in FAULTS]
WHOLE = steady("f" * 40) + rows("f" * 40) + rows("f" * 40, path="template")  # passes by itself


def alleged(labels, answer="altered", fault="hang", **more):
    return [replace(row, **more) for row in rows(labels, healthy=True, answer=answer, fault=fault)]


def judged(found):
    decision = decide(found, blocks=BLOCKS)
    return decision, check_of(decision, ALLEGED)


def test_answers_marked_healthy_that_a_fault_is_shown_to_have_made_misleading_fail():
    decision, check = judged(WHOLE + alleged("m" * 30 + "f" * 10))
    assert decision.verdict is check.verdict is Verdict.FAIL
    assert "they are degraded, and do not say so" in check.reason


@pytest.mark.parametrize("lies", ["m", "mm"])
def test_a_few_of_them_neither_fail_nor_pass_and_are_named(lies):
    decision, check = judged(WHOLE + alleged(lies + "f" * (40 - len(lies))))
    assert decision.verdict is check.verdict is Verdict.INCONCLUSIVE
    assert "(hang/secondary/i0" in check.reason
    assert "too few to show it" in check.reason


def test_the_same_answer_or_one_that_misled_undisturbed_is_not_suspect():
    same = alleged("m" + "f" * 39, answer="x")
    misled = steady("m" + "f" * 39) + rows("m" + "f" * 39) + rows("f" * 40, path="template")
    for extra in (same, alleged("m" + "f" * 39)):
        decision, check = judged(misled + extra)
        assert decision.verdict is check.verdict is Verdict.PASS


def test_one_odd_item_under_many_faults_is_one_item():
    often = [row for fault in FAULTS for row in alleged("m" + "f" * 39, fault=fault)]
    assert judged(WHOLE + often)[1].verdict is Verdict.INCONCLUSIVE
    two = [row for fault in FAULTS for row in alleged("mm", fault=fault)]
    spread = [replace(row, item_id=f"i{at}") for at, row in enumerate(two)]
    assert judged(WHOLE + spread)[1].verdict is Verdict.FAIL


def test_with_one_answer_to_an_item_the_test_is_tango_s_at_margin_0():
    undisturbed = Undisturbed.of(steady("mm" + "f" * 28))
    found = more_misleading_p(alleged("ff" + "m" * 5 + "f" * 23), undisturbed)
    assert found == pytest.approx(tango_above_p(PairedCounts(5, 2, 0, 23), 0.0))


@pytest.mark.parametrize("more", [{"model": "small"}, {"served": "secondary"}])
@pytest.mark.parametrize("label", ["f", "m"])
def test_marked_healthy_by_a_path_or_model_that_no_undisturbed_answer_has_is_unmarked(more, label):
    known = [replace(row, model="big", served="primary") if row.healthy else row for row in WHOLE]
    same = alleged(label, answer="x", **{"model": "big", "served": "primary"})
    other = alleged(label, answer="x", **{"model": "big", "served": "primary", **more})
    assert decide(known + same, blocks=BLOCKS).verdict is Verdict.PASS
    check = check_of(decide(known + other, blocks=BLOCKS), "is marked")
    assert (check.verdict, "1 are marked healthy, by a path or a model" in check.reason) == (Verdict.FAIL, True)


def test_what_undisturbed_answers_do_not_tell_is_not_held_against_others():
    decision, check = judged(WHOLE + alleged("f" * 40, model="small"))
    assert decision.verdict is check.verdict is Verdict.PASS


@pytest.mark.parametrize("known", [WHOLE, [row for row in WHOLE if not row.healthy]])
def test_misleading_answers_marked_healthy_without_an_undisturbed_one_beside_them_are_undecided(known):
    lies = [replace(row, item_id=f"j{at}") for at, row in enumerate(alleged("mmm"))]
    decision, check = judged(known + lies)
    assert decision.verdict is check.verdict is Verdict.INCONCLUSIVE
    assert "3 mislead and have no judged undisturbed answer" in check.reason
    assert "chaos.steady()" in check.reason


def test_what_the_criteria_allow_to_be_unmarked_covers_what_is_suspect():
    lax = replace(CPU, run=replace(CPU.run, max_unmarked=2))
    for lies, verdict in (("mm", Verdict.PASS), ("mmm", Verdict.FAIL), ("m" * 30, Verdict.FAIL)):
        found = WHOLE + alleged(lies + "f" * (40 - len(lies)))
        assert check_of(decide(found, lax, BLOCKS), ALLEGED).verdict is verdict


def test_a_run_without_answers_marked_healthy_under_a_fault_has_no_such_check():
    assert ALLEGED not in [check.name for check in decide(WHOLE).checks]


def test_degraded_answers_of_the_steady_state_belong_to_their_class_and_are_listed():
    lies = rows("m" * 30, fault="none", path="truncation", start=40)
    decision = decide(WHOLE + lies)
    assert decision.verdict is not Verdict.PASS
    cell = next(cell for cell in decision.cells if cell.fault == "none")
    assert (cell.path, cell.n, cell.misleading) == ("truncation", 30, 30)
    quoted = decide(WHOLE + [replace(row, path="extract") for row in lies])
    assert check_of(quoted, "without-a-model: misleading rate").verdict is Verdict.FAIL
    assert decide(WHOLE + rows("f" * 30, fault="none", path="truncation")).verdict is Verdict.PASS


def test_a_steady_answer_that_is_degraded_since_the_baseline_is_compared():
    then = WHOLE + steady("f" * 30, start=40)
    now = WHOLE + [replace(row, healthy=False, path="truncation") for row in steady("m" * 30, start=40)]
    check = check_of(decide(now, baseline=then), "misleading rate against the baseline")
    assert check.verdict is Verdict.FAIL


def test_a_path_is_named_only_where_something_was_degraded():
    unnamed = alleged("f", answer="x", served="secondary")
    assert check_of(decide(WHOLE + unnamed, blocks=BLOCKS), "is marked").verdict is Verdict.FAIL
    without_steady = [row for row in WHOLE if not row.healthy]
    assert check_of(decide(without_steady + unnamed, blocks=BLOCKS), "is marked").verdict is Verdict.PASS
