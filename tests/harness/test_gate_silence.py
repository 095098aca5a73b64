"""What was not judged, and what too few items say, proves nothing."""

from dataclasses import replace

import pytest
from gate_rows import CPU, check_of, decide, rows, steady

from harness.criteria import Pool
from harness.decision import Verdict
from harness.gate_looks import LACKS

LENIENT = replace(CPU, run=replace(CPU.run, min_coverage=0.5))
TINY = replace(
    CPU,
    classes=(
        replace(
            CPU.classes[1], min_n=1, misleading=1.0, misleading_margin=1.0, f1=0.72, f1_margin=0.05, pool=Pool.CLASS
        ),
    ),
)


@pytest.mark.parametrize(
    ("unjudged", "verdict"),
    [(0, Verdict.PASS), (1, Verdict.PASS), (3, Verdict.INCONCLUSIVE), (30, Verdict.INCONCLUSIVE)],
)
def test_answers_without_a_model_that_were_not_judged_are_taken_for_misleading(unjudged, verdict):
    found = rows("f" * 60, path="template") + rows("?" * unjudged, path="template", start=60)
    decision = decide(found, LENIENT)
    check = check_of(decision, "without-a-model: misleading rate")
    assert decision.verdict is check.verdict is verdict
    told = f"{unjudged} items have an answer that was not judged or measured: at its worst the bound would be"
    assert (told in check.reason) == (verdict is Verdict.INCONCLUSIVE)


def test_they_are_taken_for_misleading_against_the_healthy_path_too():
    for unjudged, verdict in ((0, Verdict.PASS), (5, Verdict.INCONCLUSIVE)):
        found = rows("f" * (40 - unjudged) + "?" * unjudged)
        check = check_of(decide(steady("f" * 40) + found, LENIENT), "misleading rate against healthy")
        assert check.verdict is verdict
    assert "were the 5 items with an answer that was not judged misleading, the upper bound would be" in check.reason
    under = rows("f" * 40) + rows("?" * 40, fault="hang")
    assert (
        check_of(decide(steady("f" * 40) + under, LENIENT), "misleading rate against").verdict is Verdict.INCONCLUSIVE
    )


def test_they_are_taken_for_abstained_and_for_an_f1_of_0():
    decision = decide(steady("f" * 40) + rows("f" * 10 + "?" * 30), LENIENT)
    limited = [check for check in decision.checks if "abstention rate" in check.name or "BERTScore F1" in check.name]
    assert [check.verdict for check in limited] == [Verdict.INCONCLUSIVE] * 3
    assert all("at its worst the bound would be" in check.reason for check in limited)
    assert decide(steady("f" * 40) + rows("f" * 40), LENIENT).verdict is Verdict.PASS


def test_an_unmeasured_healthy_counterpart_is_taken_for_a_perfect_one():
    blind = [replace(row, bertscore_f1=None) if k < 12 else row for k, row in enumerate(steady("f" * 40))]
    check = check_of(decide(blind + rows("f" * 40), LENIENT), "F1 against healthy")
    assert check.verdict is Verdict.PASS  # 12 of 40 could have fallen by 0.2: 0.06 at most
    check = check_of(decide(blind + rows("f" * 40, f1=0.7), LENIENT), "F1 against healthy")
    assert (check.verdict, "12 items have" in check.reason) == (Verdict.INCONCLUSIVE, True)


@pytest.mark.parametrize(("n", "verdict"), [(2, Verdict.INCONCLUSIVE), (9, Verdict.INCONCLUSIVE), (10, Verdict.PASS)])
def test_a_mean_over_a_few_items_that_are_alike_proves_nothing(n, verdict):
    decision = decide(steady("f" * n) + rows("f" * n), TINY)
    floor, fall = (check for check in decision.checks if "BERTScore F1" in check.name and check.name != LACKS)
    assert (floor.verdict, fall.verdict) == (verdict, verdict)
    if n < 10:
        assert (floor.needed_n, fall.needed_n) == (10, 10)
        assert "10 are needed" in floor.reason
        assert f"{n} of {n} items were answered on both sides; 10 are needed" in fall.reason


def test_nor_does_it_prove_that_they_are_worse():
    decision = decide(steady("f" * 9) + rows("f" * 9, f1=0.1), TINY)
    checks = [check for check in decision.checks if "F1" in check.name]
    assert Verdict.FAIL not in {check.verdict for check in checks}
    assert decide(steady("f" * 10) + rows("f" * 10, f1=0.1), TINY).verdict is Verdict.FAIL
