"""Against an earlier run: every path, fault and language by itself, and what the earlier run is worth."""

from dataclasses import replace

import pytest
from gate_rows import CPU, FIRED, GPU, decide, rows, steady

from harness.criteria import Pool
from harness.decision import Verdict
from harness.gate_baseline import Injections
from harness.gate_baseline_pairs import LOWER

FAULTS = ("kill", "hang", "latency", "reset", "oom", "tokens")
BLOCKS = [replace(FIRED, id=f"{fault}#0", experiment=fault, fault=fault) for fault in FAULTS]
LOOKS = "single paths, faults and languages"


def against(now, then, criteria=CPU):
    return decide(steady("m" * 30) + now, criteria, BLOCKS, baseline=steady("m" * 30) + then)


def of_baseline(decision, part):
    (found,) = [check for check in decision.checks if check.group == "baseline" and part in check.name]
    return found


def test_a_path_that_is_worse_under_one_fault_fails_though_each_item_misled_under_another_before():
    then = rows("m" * 30) + rows("f" * 30, fault="latency")
    now = rows("m" * 30) + rows("m" * 30, fault="latency")
    assert against(then, then).verdict is Verdict.PASS
    decision = against(now, then)
    assert of_baseline(decision, "misleading rate against").verdict is Verdict.PASS
    look = of_baseline(decision, LOOKS)
    assert decision.verdict is look.verdict is Verdict.FAIL
    assert "path secondary under latency" in look.reason


def test_a_language_that_is_worse_fails():
    en = rows("m" * 30) + rows("f" * 30, fault="hang")
    decision = against(
        en + rows("m" * 12 + "f" * 8, lang="zh", start=100), en + rows("m" * 2 + "f" * 18, lang="zh", start=100)
    )
    assert "language zh" in of_baseline(decision, LOOKS).reason


def test_f1_that_falls_under_one_of_many_faults_fails_though_its_mean_over_all_is_within_the_margin():
    then = [row for fault in FAULTS for row in rows("f" * 30, fault=fault)]
    now = [row for fault in FAULTS for row in rows("f" * 30, fault=fault, f1=0.32 if fault == "oom" else 0.8)]
    decision = against(now, then)
    assert of_baseline(decision, "BERTScore F1 against").verdict is Verdict.PASS
    look = of_baseline(decision, LOWER)
    assert decision.verdict is look.verdict is Verdict.FAIL
    assert "path secondary under oom" in look.reason


def test_f1_is_compared_in_requests_that_both_answered():
    then = rows("f" * 30, f1=0.9) + rows("f" * 30, fault="hang", f1=0.3)
    now = rows("f" * 30, f1=0.6) + rows("a" * 30, fault="hang")
    check = of_baseline(against(now, then), "BERTScore F1 against")
    assert check.value == pytest.approx(0.3)


def test_many_looks_at_noise_fail_nobody():
    then = [row for fault in FAULTS for row in rows("mf" * 15, fault=fault)]
    now = [row for fault in FAULTS for row in rows("fm" + "mf" * 14, fault=fault)]
    assert of_baseline(against(now, then), LOOKS).verdict is Verdict.PASS


def test_the_pool_says_which_cells_have_to_be_shown_no_worse():
    then = [row for fault in FAULTS for row in rows("f" * 20, fault=fault)]
    by_fault = replace(CPU, baseline=replace(CPU.baseline, pool=Pool.PATH_FAULT))
    assert against(then, then).verdict is Verdict.INCONCLUSIVE  # 20 items cannot show 0.10
    few = steady("m" * 30) + then
    names = [check.name for check in decide(few, by_fault, BLOCKS, baseline=few).checks if check.group == "baseline"]
    assert [name for name in names if "misleading rate against the baseline" in name] == [
        f"secondary under {fault}: misleading rate against the baseline" for fault in sorted(FAULTS)
    ]
    finest = replace(CPU, baseline=replace(CPU.baseline, pool=Pool.PATH_FAULT_LANGUAGE))
    assert not [
        check
        for check in decide(few, finest, BLOCKS, baseline=few).checks
        if (check.group, check.name) == ("baseline", LOOKS)
    ]
    assert (CPU.baseline.pool, GPU.baseline.pool) == (Pool.CLASS, Pool.PATH_FAULT)


def test_an_answer_that_nothing_degrades_any_more_stands_where_that_of_the_baseline_stood():
    then = rows("f" * 30)
    now = rows("m" * 10, healthy=True) + rows("f" * 20, start=10)
    now = [replace(row, trial_id=before.trial_id) for row, before in zip(now, then, strict=True)]
    by_fault = replace(CPU, baseline=replace(CPU.baseline, pool=Pool.PATH_FAULT))
    check = of_baseline(against(now, then, by_fault), "misleading rate against")
    assert (check.name.split(":")[0], check.n, check.verdict) == ("secondary under kill", 30, Verdict.FAIL)


def test_a_request_that_crashed_before_is_no_loss_and_proves_nothing():
    then = [replace(row, crashed=True, label=None) for row in rows("?" * 30)]
    check = of_baseline(against(rows("f" * 30), then), "misleading rate against")
    assert check.verdict is Verdict.INCONCLUSIVE
    mended = [replace(row, healthy=True, path="healthy") for row in rows("f" * 30)]
    named = replace(CPU, baseline=replace(CPU.baseline, pool=Pool.PATH_FAULT))
    assert of_baseline(against(mended, then, named), "misleading rate against").n == 0


@pytest.mark.parametrize(
    ("then", "leftovers", "says"),
    [
        ([replace(FIRED, fired=False)], (), "kill#0: did not fire"),
        ([replace(FIRED, error="boom")], (), "kill#0: boom"),
        ([replace(FIRED, steady=False)], (), "no steady state"),
        ([replace(FIRED, stopped="too many errors")], (), "stopped: too many errors"),
        ([], (), "kill: no proof"),
        ([FIRED, replace(FIRED, id="steady#0", fault="none", error="never ended")], (), "steady#0: never ended"),
        ([FIRED], ("latency on primary",), "latency on primary: was on when it began"),
    ],
)
def test_a_baseline_that_proves_nothing_is_compared_with_nothing(then, leftovers, says):
    found = steady("f" * 30) + rows("f" * 30)
    worse = steady("f" * 30) + rows("m" * 30)
    for now in (found, worse):
        given = Injections([FIRED], then, leftovers)
        decision = decide(now, baseline=found, injections=given)
        check = of_baseline(decision, "every fault of the baseline fired")
        assert check.verdict is Verdict.INCONCLUSIVE
        assert says in check.reason
        assert not [each for each in decision.checks if "the baseline" in each.name.partition("against")[2]]
    assert decide(found, baseline=found, injections=Injections([FIRED], [FIRED])).verdict is Verdict.PASS


def test_a_request_that_met_another_fault_in_the_baseline_is_compared_with_nothing():
    now = steady("f" * 30) + rows("f" * 30)
    then = [replace(row, fault="hang") if row.fault == "kill" else row for row in now]
    decision = decide(now, baseline=then)
    check = of_baseline(decision, "the same fault")
    assert decision.verdict is check.verdict is Verdict.INCONCLUSIVE
    assert "kill/secondary/i0: kill now, hang then" in check.reason
    aimed = Injections([FIRED], [replace(FIRED, target="secondary")])
    check = of_baseline(decide(now, baseline=now, injections=aimed), "the same fault")
    assert (check.verdict, "kill: on primary now, on secondary then" in check.reason) == (Verdict.INCONCLUSIVE, True)
