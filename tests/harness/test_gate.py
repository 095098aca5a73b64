from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from gate_rows import CPU, FIRED, FLOOR, GPU, SHIPPED, check_of, decide, rows, steady
from hypothesis import given
from hypothesis import strategies as st

from harness.criteria import Pool
from harness.decision import NOT_EXERCISED, Verdict
from harness.errors import ConfigError, ResultError
from harness.fidelity.case import Label
from harness.gate_baseline import Judges
from harness.gate_languages import Languages
from harness.gate_looks import LACKS
from harness.gate_markdown import as_markdown
from harness.gate_scale import Scale, scale_of
from harness.junit import junit_xml
from harness.stats import clopper_pearson, needed_n


def test_a_run_that_is_no_worse_than_healthy_passes():
    decision = decide(steady("f" * 40) + rows("f" * 40) + rows("f" * 40, path="template"))
    assert (decision.verdict, decision.exit_code) == (Verdict.PASS, 0)


def test_nothing_under_a_fault_is_nothing_judged():  # S10
    for found in ([], steady("f" * 40), steady("f" * 4) + rows("????")):
        decision = decide(found)
        assert (decision.verdict, decision.exit_code) == (Verdict.NOTHING, 2)


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        ("f" * 29, Verdict.PASS),
        ("f" * 28, Verdict.INCONCLUSIVE),
        ("m" + "f" * 28, Verdict.INCONCLUSIVE),
        ("mmm" + "f" * 73, Verdict.PASS),
        ("mmmm" + "f" * 36, Verdict.INCONCLUSIVE),
        ("mmmmm" + "f" * 35, Verdict.FAIL),
        ("mmmm", Verdict.FAIL),
        ("a" * 40, Verdict.PASS),
    ],
)
def test_a_path_without_a_model_is_held_to_its_limit(labels, verdict):
    assert decide(steady("f" * 80) + rows(labels, path="extract")).verdict is verdict


def test_too_few_items_say_how_many_would_do():
    check = check_of(decide(steady("f") + rows("m" + "f" * 20, path="extract")), "misleading rate")
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.needed_n == needed_n(0.10, 1 / 21)
    assert f"about {check.needed_n} items would show it 8 times in 10" in check.reason


def test_few_items_decide_nothing_even_where_their_bound_would_do():
    decision = decide(steady("m" * 9) + rows("f" * 9))
    check = check_of(decision, "misleading rate against healthy")
    assert check.bound < 0
    assert (check.verdict, check.needed_n) == (Verdict.INCONCLUSIVE, 10)


def test_few_items_that_are_shown_to_be_worse_fail():
    decision = decide(steady("f" * 8) + rows("m" * 8), GPU)
    assert check_of(decision, "secondary under kill: misleading rate against").verdict is Verdict.FAIL


def test_the_same_item_under_many_faults_is_one_item():
    faults = [f"fault{k}" for k in range(10)]
    blocks = [replace(FIRED, fault=fault, id=fault) for fault in faults]
    found = [row for fault in faults for row in rows("ffff", path="template", fault=fault)]
    assert check_of(decide(found, blocks=blocks), "misleading rate").n == 4


def test_an_item_misleads_when_any_of_its_answers_does():
    found = rows("f" * 40, path="template") + rows("m" * 6 + "f" * 34, path="template", fault="hang")
    decision = decide(found, blocks=[FIRED, replace(FIRED, fault="hang")])
    assert check_of(decision, "misleading rate").value == pytest.approx(6 / 40)
    assert decision.verdict is Verdict.FAIL


def test_a_model_path_that_misleads_more_than_healthy_fails():
    decision = decide(steady("f" * 40) + rows("m" * 10 + "f" * 30))
    assert decision.verdict is Verdict.FAIL
    assert check_of(decision, "misleading rate against healthy").value == pytest.approx(0.25)


def test_a_model_path_that_misleads_as_often_on_the_same_items_passes():
    assert decide(steady("m" * 20 + "f" * 20) + rows("m" * 20 + "f" * 20)).verdict is Verdict.PASS


def test_a_model_path_without_healthy_answers_to_the_same_items_is_undecided():
    decision = decide(steady("f" * 40) + rows("f" * 40, start=100))
    assert decision.verdict is Verdict.INCONCLUSIVE


def test_items_without_a_healthy_counterpart_are_counted_in_the_reason():
    decision = decide(steady("f" * 40) + rows("f" * 43))
    assert "3 more have no counterpart" in check_of(decision, "misleading rate against healthy").reason


def test_a_fall_of_f1_beyond_the_margin_fails_and_one_within_passes():
    for drop, verdict in ((0.3, Verdict.FAIL), (0.15, Verdict.PASS), (0.1, Verdict.PASS)):
        assert decide(steady("f" * 40) + rows("f" * 40, f1=0.8 - drop)).verdict is verdict


def test_answers_that_abstain_do_not_count_for_f1():
    decision = decide(steady("f" * 40) + rows("f" * 12 + "a" * 28))
    assert check_of(decision, "F1 against healthy").n == 12


def test_one_bad_path_does_not_hide_behind_a_good_class():
    good, bad = rows("f" * 70, path="template"), rows("m" * 5, path="extract", start=70)
    decision = decide(good + bad)
    assert check_of(decision, "without-a-model: misleading rate").verdict is Verdict.INCONCLUSIVE
    assert check_of(decision, "single paths").verdict is Verdict.FAIL
    assert "path extract" in check_of(decision, "single paths").reason


def test_many_looks_are_corrected_so_that_one_unlucky_path_does_not_fail():
    many = [row for k in range(20) for row in rows("f" * 10, path=f"extract{k}" if k else "extract", start=10 * k)]
    criteria = replace(CPU, classes=(replace(CPU.classes[0], match=("*",)),))
    unlucky = [replace(row, label=Label.MISLEADING) if row.item_id in {"i0", "i1", "i2"} else row for row in many]
    assert check_of(decide(unlucky, criteria), "single paths").verdict is Verdict.PASS


def test_a_language_that_is_worse_than_the_other_fails():
    found = rows("f" * 70, path="template") + rows("mmmmm", path="template", lang="zh", start=70)
    assert "language zh" in check_of(decide(found), "single paths").reason


def test_a_language_whose_answers_are_all_withheld_fails_though_the_class_is_within_its_limit():
    found = rows("f" * 120) + rows("a" * 40, lang="zh", start=120)
    decision = decide(steady("f" * 160) + found)
    assert check_of(decision, "model: abstention rate").verdict is Verdict.PASS
    check = check_of(decision, LACKS)
    assert (check.verdict, decision.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert "language zh" in check.reason
    spread = [replace(row, lang="zh" if k % 4 == 0 else "en") for k, row in enumerate(rows("f" * 120 + "a" * 40))]
    assert check_of(decide(steady("f" * 160) + spread), LACKS).verdict is Verdict.PASS


def test_a_language_below_the_floor_fails_though_the_class_is_above_it():
    low = [
        replace(row, bertscore_f1=0.1 + 0.01 * (k % 3)) for k, row in enumerate(rows("f" * 12, lang="zh", start=120))
    ]
    decision = decide(steady("f" * 132) + rows("f" * 120) + low)
    assert [c.verdict for c in decision.checks if c.name == "model: BERTScore F1"] == [Verdict.PASS]
    assert "language zh" in check_of(decision, LACKS).reason
    assert decision.verdict is Verdict.FAIL
    few = decide(steady("f" * 132) + rows("f" * 120) + low[:9])
    assert check_of(few, LACKS).verdict is Verdict.PASS


def test_without_a_limit_on_either_nothing_is_looked_at():
    decision = decide(rows("a" * 70, path="template"))
    assert not [check for check in decision.checks if check.name == LACKS]


@pytest.mark.parametrize(
    ("block", "verdict", "says"),
    [
        (replace(FIRED, fired=False), Verdict.INCONCLUSIVE, "did not fire"),
        (replace(FIRED, fired=None), Verdict.INCONCLUSIVE, "did not fire"),
        (replace(FIRED, steady=False), Verdict.INCONCLUSIVE, "no steady state"),
        (replace(FIRED, error="no journal"), Verdict.INCONCLUSIVE, "no journal"),
        (replace(FIRED, recovered=False), Verdict.FAIL, "did not answer again"),
        (replace(FIRED, fault="other"), Verdict.INCONCLUSIVE, "kill: no proof"),
    ],
)
def test_a_fault_that_did_not_do_its_work_is_never_a_pass(block, verdict, says):
    decision = decide(steady("f" * 40) + rows("f" * 40), blocks=[block])
    assert decision.verdict is verdict
    assert says in decision.summary


def test_a_crash_fails_the_run_and_is_named():
    crashed = replace(rows("?", fault="kill", start=99)[0], crashed=True)
    decision = decide([*steady("f" * 40), *rows("f" * 40), crashed])
    assert decision.verdict is Verdict.FAIL
    assert "kill/secondary/i99" in decision.summary


def test_a_degraded_answer_without_a_record_fails():
    found = rows("f" * 40)
    assert decide([*steady("f" * 40), replace(found[0], recorded=False), *found[1:]]).verdict is Verdict.FAIL


def test_answers_marked_healthy_that_a_fault_made_misleading_fail():
    altered = rows("m" * 5 + "f" * 35, healthy=True, answer="altered")
    assert check_of(decide(steady("f" * 40) + altered), "marked healthy mislead").verdict is Verdict.FAIL
    same = rows("m" + "f" * 39, healthy=True, answer="x")
    assert check_of(decide(steady("m" + "f" * 39) + same), "marked healthy mislead").verdict is Verdict.PASS


@pytest.mark.parametrize("f1", [None, float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_missing_or_not_finite_is_never_a_pass(f1):  # S9
    found = rows("f" * 40)
    found[0] = replace(found[0], bertscore_f1=f1)
    decision = decide(steady("f" * 40) + found)
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert "79 of 80 answers judged and measured (missing: kill/secondary/i0)" in decision.summary


def test_an_answer_that_was_not_judged_is_never_a_pass():
    assert decide(steady("f" * 40) + rows("?" + "f" * 39)).verdict is Verdict.INCONCLUSIVE


def test_mixed_scales_are_an_error():  # S13
    with pytest.raises(ResultError, match=r"bertscore_f1 is 85\.0; .*scales were mixed"):
        decide(steady("f" * 40) + rows("f" * 40, f1=85.0))


@pytest.mark.parametrize(
    ("f1", "verdict"), [(0.72, Verdict.PASS), (0.72 - 1e-13, Verdict.PASS), (0.7199, Verdict.FAIL)]
)
def test_the_floor_is_inclusive(f1, verdict):  # S12
    decision = decide(steady("f" * 60, f1=f1) + rows("f" * 60, f1=f1), GPU)
    assert decision.verdict is verdict


def on_scale(found, scale):
    return [replace(row, scale=scale) for row in found]


@pytest.mark.parametrize(
    ("scale", "f1", "verdict"),
    [
        (Scale.UNKNOWN, 0.99, Verdict.INCONCLUSIVE),
        (Scale.UNKNOWN, 0.10, Verdict.INCONCLUSIVE),
        (Scale.RESCALED, 0.72, Verdict.PASS),
        (Scale.RESCALED, 0.71, Verdict.FAIL),
        (None, 0.0, Verdict.FAIL),
    ],
)
def test_a_floor_on_a_scale_whose_zero_nobody_knows_is_never_a_pass(scale, f1, verdict):
    decision = decide(steady("f" * 60, f1=f1) + on_scale(rows("f" * 60, f1=f1), scale), replace(GPU, classes=FLOOR))
    assert decision.verdict is verdict
    check = check_of(decision, "BERTScore F1")
    assert ("truefall baseline" in check.reason) == (scale is Scale.UNKNOWN)


@pytest.mark.parametrize(
    ("healthy", "now", "verdict"),
    [
        (Scale.OWN, Scale.OWN, Verdict.PASS),
        (Scale.RESCALED, Scale.RESCALED, Verdict.PASS),
        (Scale.UNKNOWN, Scale.UNKNOWN, Verdict.INCONCLUSIVE),
        (Scale.OWN, Scale.RESCALED, Verdict.INCONCLUSIVE),
    ],
)
def test_scores_are_compared_on_one_scale_only(healthy, now, verdict):
    decision = decide(on_scale(steady("f" * 40), healthy) + on_scale(rows("f" * 40), now))
    assert decision.verdict is verdict
    assert decide(
        steady("f" * 40) + on_scale(rows("f" * 40), now), baseline=steady("f" * 40) + on_scale(rows("f" * 40), healthy)
    ).verdict is (verdict if now is Scale.OWN else Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("flags", "scale"),
    [
        ((), Scale.OWN),
        (("windowed", "rescaled"), Scale.RESCALED),
        (("without_baseline",), Scale.UNKNOWN),
        (("without_baseline", "empty"), None),
    ],
)
def test_the_scale_is_what_the_scorer_says(flags, scale):
    assert scale_of(flags) is scale


def test_on_a_gpu_each_path_under_each_fault_stands_alone():
    blocks = [FIRED, replace(FIRED, fault="hang")]
    found = steady("f" * 60) + rows("f" * 60) + rows("m" * 9 + "f" * 51, fault="hang")
    decision = decide(found, GPU, blocks=blocks)
    assert decision.verdict is Verdict.FAIL
    assert check_of(decision, "secondary under kill: misleading rate against").verdict is Verdict.PASS
    assert check_of(decision, "secondary under hang: misleading rate against").verdict is Verdict.FAIL


def test_a_backup_that_mostly_refuses_fails_on_a_gpu():
    decision = decide(steady("f" * 300) + rows("f" * 200 + "a" * 100), GPU)
    assert check_of(decision, "abstention rate").verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        ("f" * 59, Verdict.PASS),
        ("a" * 6 + "f" * 54, Verdict.PASS),
        ("a" * 7 + "f" * 53, Verdict.INCONCLUSIVE),
        ("a" * 12 + "f" * 48, Verdict.INCONCLUSIVE),
        ("a" * 13 + "f" * 47, Verdict.FAIL),
        ("a" * 5, Verdict.FAIL),
        ("f" * 5, Verdict.INCONCLUSIVE),
    ],
)
def test_abstention_is_judged_by_the_bound_over_items(labels, verdict):
    check = check_of(decide(steady("f" * 60) + rows(labels), GPU), "abstention rate")
    assert check.verdict is verdict
    assert (check.n, check.bound is None) == (len(labels), False)
    assert (check.needed_n is None) == (verdict is not Verdict.INCONCLUSIVE or "a" * 12 in labels)


def test_an_item_that_abstains_under_one_of_two_faults_is_one_that_abstains():
    found = rows("f" * 60, path="extract") + rows("a" * 20 + "f" * 40, path="extract", fault="hang")
    check = check_of(decide(found, GPU, blocks=[FIRED, replace(FIRED, fault="hang")]), "extract: abstention rate")
    assert (check.n, check.value) == (60, pytest.approx(1 / 3))


def test_the_floor_is_reached_by_the_lower_bound_not_by_the_mean():
    spread = [replace(row, bertscore_f1=0.74 + (0.2 if k % 2 else -0.2)) for k, row in enumerate(rows("f" * 60))]
    decision = decide(steady("f" * 60, f1=0.74) + spread, GPU)
    (check,) = [check for check in decision.checks if check.name.endswith("under kill: BERTScore F1")]
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.bound < 0.72 < check.value
    assert check.needed_n > 60


def test_a_limit_that_no_number_of_items_would_show_says_so():
    check = check_of(decide(steady("f" * 60) + rows("a" * 12 + "f" * 48), GPU), "abstention rate")
    assert "if this is the truth, 10000 items would not show it" in check.reason
    few = check_of(decide(steady("f" * 8) + rows("aaafffff"), GPU), "abstention rate")
    assert (few.verdict, few.needed_n) == (Verdict.INCONCLUSIVE, 59)
    assert "59 items are needed to decide" in few.reason


def test_a_pool_may_name_the_language():
    pools = replace(CPU.classes[0], pool=Pool.PATH_FAULT_LANGUAGE)
    criteria = replace(CPU, classes=(pools, *CPU.classes[1:]))
    found = rows("f" * 40, path="extract") + rows("m" * 9 + "f" * 31, path="extract", lang="zh", start=40)
    decision = decide(steady("f" * 80) + found, criteria)
    assert check_of(decision, "extract under kill in en: misleading rate").verdict is Verdict.PASS
    assert check_of(decision, "extract under kill in zh: misleading rate").verdict is Verdict.FAIL


def test_every_path_fault_and_language_is_listed_with_its_own_bounds_whatever_is_pooled():
    found = rows("ffma", path="extract") + rows("?a", path="template", lang="zh", start=4)
    en, zh = decide(steady("f" * 6) + found).cells
    assert (en.path, en.fault, en.lang, en.n, en.misleading, en.abstained) == ("extract", "kill", "en", 4, 1, 1)
    assert en.misleading_high == en.abstained_high == pytest.approx(clopper_pearson(1, 4).high)
    assert (en.f1_n, en.f1, en.f1_low) == (3, pytest.approx(0.8), pytest.approx(0.8))
    assert (zh.path, zh.lang, zh.n, zh.abstained, zh.f1_n, zh.f1, zh.f1_low) == ("template", "zh", 1, 1, 0, None, None)


def test_one_language_of_a_path_under_a_fault_does_not_hide_among_the_others():
    blocks = [FIRED, replace(FIRED, fault="hang")]
    good = [*rows("f" * 60), *rows("f" * 60, lang="zh", start=60), *rows("f" * 60, fault="hang")]
    bad = rows("m" * 6 + "f" * 2, lang="zh", fault="hang", start=60)
    found = [replace(row, path="template") for row in good + bad]
    check = check_of(decide(steady("f" * 120) + found, blocks=blocks), "single paths")
    assert "path template under hang in zh" in check.reason


def test_a_block_that_was_begun_again_says_so():
    decision = decide(steady("f" * 40) + rows("f" * 40), blocks=[replace(FIRED, id="kill#0.2")])
    check = check_of(decision, "every fault fired")
    assert (check.verdict, "begun again (kill#0.2: 3 attempts)" in check.reason) == (Verdict.PASS, True)


def test_a_baseline_case_that_is_gone_makes_the_run_incomplete():  # S11
    then = steady("f" * 40) + rows("f" * 41)
    decision = decide(steady("f" * 40) + rows("f" * 40), baseline=then)
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert "1 of 81 are missing (kill/secondary/i40)" in decision.summary


def test_a_run_that_misleads_more_than_the_baseline_fails():
    then = steady("m" * 15 + "f" * 25) + rows("f" * 40)
    now = steady("m" * 15 + "f" * 25) + rows("m" * 15 + "f" * 25)
    assert decide(now).verdict is Verdict.PASS
    decision = decide(now, baseline=then)
    assert decision.verdict is Verdict.FAIL
    assert "against the baseline" in decision.summary


def test_a_baseline_needs_its_criteria():
    with pytest.raises(ConfigError, match=r"no \[baseline\] table"):
        decide(steady("f") + rows("f"), replace(CPU, baseline=None), baseline=steady("f"))


@given(labels=st.text("fam?", min_size=1, max_size=60), where=st.integers(0, 59))
def test_one_more_misleading_answer_never_helps(labels, where):
    order = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.NOTHING: 1, Verdict.FAIL: 2}
    base = steady("f" * 60)
    worse = labels[: where % len(labels)] + "m" + labels[where % len(labels) + 1 :]
    before, after = (
        decide(base + rows(found, path="extract")) for found in (labels.replace("?", "f"), worse.replace("?", "f"))
    )
    assert order[after.verdict] >= order[before.verdict]


@given(labels=st.text("fam?", min_size=1, max_size=60))
def test_the_order_of_rows_does_not_matter(labels):
    found = steady("f" * 30) + rows(labels) + rows(labels, path="extract")
    assert decide(found).verdict is decide(found[::-1]).verdict


def test_answers_that_a_fault_left_undegraded_do_not_thin_out_what_a_degraded_path_does():
    faults = ("kill", *(f"latency{k}" for k in range(3)))
    blocks = [replace(FIRED, id=fault, fault=fault) for fault in faults]
    undegraded = [row for fault in faults[1:] for row in rows("f" * 40, fault=fault, healthy=True)]
    for degraded in (rows("f" * 40, f1=0.25), rows("a" * 39 + "f"), rows("m" * 12 + "f" * 28)):
        alone, among = (decide(steady("f" * 40) + found, blocks=blocks) for found in (degraded, degraded + undegraded))
        assert among.verdict is alone.verdict is not Verdict.PASS
        of_model = [[check for check in each.checks if check.group == "model"] for each in (alone, among)]
        assert of_model[0] == of_model[1]


def test_a_baseline_is_compared_in_requests_that_one_of_the_two_degraded():
    both = rows("f" * 400, fault="latency", healthy=True, start=100)
    now, then = rows("m" * 8 + "f" * 32), rows("f" * 40, healthy=True)  # kept whole by the earlier policy
    decision = decide(steady("f" * 500) + now + both, baseline=steady("f" * 500) + then + both)
    assert check_of(decision, "misleading rate against the baseline").n == 40
    assert check_of(decision, "misleading rate against the baseline").verdict is Verdict.FAIL


@pytest.mark.parametrize("name", ["cpu", "gpu"])
@pytest.mark.parametrize("path", ["template", "secondary"])
def test_a_class_that_no_answer_exercised_is_never_a_pass_unless_the_criteria_say_so(name, path):
    found = steady("f" * 80) + rows("f" * 80, path=path)
    decision = decide(found, SHIPPED[name])
    idle = [check for check in decision.checks if check.name == NOT_EXERCISED and check.verdict is not Verdict.PASS]
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert len(idle) == 1
    assert f"optional = true in [paths.{idle[0].group}]" in idle[0].reason
    assert decide(found, CPU if name == "cpu" else GPU).verdict is Verdict.PASS


def test_an_optional_class_that_was_not_exercised_is_listed_and_skipped_in_the_xml():
    decision = decide(steady("f" * 80) + rows("f" * 80))
    assert decision.summary.endswith("checks passed; not exercised: without-a-model")
    suite = ET.fromstring(junit_xml(decision, name="run"))
    assert (suite.get("errors"), suite.get("skipped")) == ("0", "1")
    assert "no degraded answer of template" in suite.find(".//skipped").get("message")
    assert "without-a-model: not exercised" in as_markdown(decision, "run")


@pytest.mark.parametrize("found", [[], rows("?" * 40)])
def test_where_no_degraded_answer_was_judged_optional_classes_do_not_make_a_pass(found):
    undegraded = steady("f" * 40) + rows("f" * 40, healthy=True)
    assert decide(undegraded + found).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("without", "verdict"),
    [
        ("f" * 300, Verdict.PASS),  # none misleads, whatever their counterparts would have done
        ("m" + "f" * 299, Verdict.PASS),
        ("m" * 5, Verdict.INCONCLUSIVE),
        ("m" * 300, Verdict.INCONCLUSIVE),
    ],
)
def test_items_without_a_healthy_counterpart_make_no_pass_that_they_could_undo(without, verdict):
    decision = decide(steady("f" * 60) + rows("f" * 60) + rows(without, start=60))
    check = check_of(decision, "misleading rate against healthy")
    assert decision.verdict is check.verdict is verdict
    assert f"{len(without)} more have no counterpart" in check.reason
    assert ("were their counterparts faithful" in check.reason) == (verdict is Verdict.INCONCLUSIVE)


def test_healthy_answers_that_mislead_leave_room_for_items_without_a_counterpart():
    found = rows("m" * 12 + "f" * 11) + rows("m" * 5, start=23)  # as a run with the packaged models
    check = check_of(decide(steady("m" * 23) + found), "misleading rate against healthy")
    assert check.verdict is Verdict.PASS


def test_the_number_of_items_that_would_do_counts_those_without_a_counterpart():
    half = check_of(decide(steady("f" * 15) + rows("f" * 30)), "misleading rate against healthy")
    full = check_of(decide(steady("f" * 15) + rows("f" * 15)), "misleading rate against healthy")
    assert half.verdict is full.verdict is Verdict.INCONCLUSIVE
    assert half.needed_n == 2 * full.needed_n
    unpaired = steady("f" * 60) + rows("f" * 60) + rows("mmm", start=60)
    hidden = check_of(decide(unpaired), "misleading rate against")
    assert (hidden.verdict, hidden.needed_n > 63) == (Verdict.INCONCLUSIVE, True)


def test_a_fall_of_f1_on_few_pairs_is_no_pass_where_no_floor_holds_the_rest():
    floorless = replace(CPU, classes=tuple(replace(one, f1=None) for one in CPU.classes))
    for extra, verdict in ((2, Verdict.PASS), (3, Verdict.INCONCLUSIVE), (300, Verdict.INCONCLUSIVE)):
        found = steady("f" * 40) + rows("f" * 40) + rows("f" * extra, f1=0.0, start=40)
        check = check_of(decide(found, floorless), "F1 against healthy")
        assert check.verdict is verdict
    assert decide(steady("f" * 40) + rows("f" * 40) + rows("f" * 300, f1=0.0, start=40)).verdict is Verdict.FAIL


def test_a_path_that_cannot_be_compared_at_all_is_named():
    found = rows("f" * 60) + rows("f" * 3, path="light", start=60)
    assert (
        "1 without any healthy counterpart (path light)" in check_of(decide(steady("f" * 60) + found), "single").reason
    )


def test_a_baseline_that_was_judged_in_part_is_never_a_pass():
    now = steady("f" * 80) + rows("f" * 80)
    half = steady("f" * 80) + rows("?" * 40 + "f" * 40)
    assert decide(now, baseline=now).verdict is Verdict.PASS
    decision = decide(now, baseline=half)
    check = check_of(decision, "every answer of the baseline is judged")
    assert decision.verdict is check.verdict is Verdict.INCONCLUSIVE
    assert "120 of 160 answers judged" in check.reason
    assert "--judge-again" in check.reason


@pytest.mark.parametrize(
    ("now", "then", "verdict", "says"),
    [
        ({"verdict": "1"}, {"verdict": "1"}, Verdict.PASS, "no part of it differs"),
        ({"verdict": "1"}, {"verdict": "2"}, Verdict.INCONCLUSIVE, "differ in: verdict; `--judge-again`"),
        ({"verdict": "1", "nli": "x"}, {"verdict": "1"}, Verdict.INCONCLUSIVE, "differ in: nli"),
        ({"verdict": "1"}, {}, Verdict.INCONCLUSIVE, "scores of the baseline do not say"),
        ({}, {"verdict": "1"}, Verdict.INCONCLUSIVE, "scores of this run do not say"),
        ({}, {}, Verdict.PASS, "neither run says"),
    ],
)
def test_two_runs_compare_only_by_the_same_judge(now, then, verdict, says):
    found = steady("f" * 80) + rows("f" * 80)
    decision = decide(found, baseline=found, judges=Judges(now, then))
    check = check_of(decision, "the same judge")
    assert decision.verdict is check.verdict is verdict
    assert says in check.reason


def main_job(*, model="m" * 12 + "f" * 11, template="a" * 77, long="m" * 5):
    """Rows as the main job leaves them: 12 of 77 items are too long for a healthy answer, the model is weak."""
    undisturbed = steady("m" * 60 + "f" * 5, f1=0.5)
    degraded = rows(model, f1=0.49) + rows(long, f1=0.45, fault="memory", start=65)
    return undisturbed + degraded + rows(template, path="template", fault="outage")


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (main_job(), Verdict.PASS),
        (main_job(model="mf", template="aa", long=""), Verdict.INCONCLUSIVE),  # --quick
        (main_job(template="m" * 65 + "a" * 12), Verdict.FAIL),  # examples/bad-policy.toml
        (main_job(model="", long="", template="m" * 65 + "a" * 12), Verdict.FAIL),  # the same with -k
        (main_job(model="", long=""), Verdict.INCONCLUSIVE),
    ],
)
def test_the_shipped_criteria_decide_on_runs_of_the_shape_of_the_main_job(found, verdict):
    blocks = [replace(FIRED, id=fault, fault=fault) for fault in ("kill", "memory", "outage")]
    assert decide(found, SHIPPED["cpu"], blocks=blocks).verdict is verdict
    assert decide(found, SHIPPED["gpu"], blocks=blocks).verdict is not Verdict.PASS


@pytest.mark.parametrize(
    ("found", "of_set", "verdict", "says"),
    [
        (rows("f" * 40), "en", Verdict.PASS, "degraded answers in en"),
        (
            rows("f" * 40) + steady("f" * 9, lang="zh"),
            "en zh",
            Verdict.INCONCLUSIVE,
            "no degraded answer in zh: run a fault",
        ),
        (rows("f" * 40) + rows("f" * 9, lang="zh", healthy=True), "", Verdict.INCONCLUSIVE, "no degraded answer in zh"),
        (rows("f" * 40) + rows("?" * 9, lang="zh"), "", Verdict.INCONCLUSIVE, "no degraded answer in zh"),
        (rows("f" * 40) + rows("f", lang="zh", start=40), "", Verdict.PASS, "degraded answers in en, zh"),
        (rows("f" * 40), "en zh", Verdict.PASS, "nothing was sent in zh, which the set holds"),
    ],
)
def test_a_language_in_which_plan_b_was_never_seen_is_named_and_undecided(found, of_set, verdict, says):
    told = Languages(frozenset(row.lang for row in found), frozenset(of_set.split()))
    check = check_of(decide(steady("f" * 41) + found, languages=told), "every language")
    assert check.verdict is verdict
    assert says in check.reason
