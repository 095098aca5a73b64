"""Two policies on the same items: what is compared, how it is weighed, what is concluded, and what is refused."""

import csv
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_builder import ITEMS_SHA256, Row, run_folder

from evalsets.jsonl import load_set
from harness import cli
from harness.ab import Choice, compare, conclude
from harness.ab.events import COLUMNS, Event, read_events
from harness.ab.metrics import Shown
from harness.ab.pairs import Answer, paired
from harness.ab.weights import MOST_BUSINESS, CtrSpread, business_weight, ctr_spread, semantic_weight, weights
from harness.errors import ConfigError, NothingJudged
from harness.fidelity.case import Label
from harness.judge import read_scores, write_scores

ITEMS = load_set("support")
IDS = [item.id for item in ITEMS]


def answers(labels, score=0.8, **more):
    return [
        Answer(
            trial_id=f"kill/{number}", item_id=str(number), label=Label(label),
            **dict.fromkeys(("bertscore_f1", "cosine"), None if label == "abstained" else score), **more,
        )
        for number, label in enumerate(labels)
    ]  # fmt: skip


def labels(misleading, n):
    return ["misleading"] * misleading + ["faithful"] * (n - misleading)


def event(policy, item, shown, clicked, *, at_s=0.0, csat=None):
    return Event(at_s=at_s, policy=policy, item_id=str(item), impressions=shown, clicks=clicked, csat=csat)


def concluded(a, b, events=(), *, load=0.0, margin=0.05):
    return conclude(compare(a, b, events, load=load), margin=margin)


# What is compared


def test_only_requests_of_both_runs_are_compared_and_the_rest_is_counted():
    a = answers(labels(0, 4))
    b = [*answers(labels(0, 3)), Answer(trial_id="hang/9", item_id="9", label=Label.FAITHFUL)]
    found = paired(a, b)
    assert (len(found.pairs), found.only_a, found.only_b, found.coverage) == (3, 1, 1, 3 / 5)
    assert "3 of 5 requests compared (3 items): 1 only in A, 1 only in B" in str(found)


def test_a_fault_that_proved_nothing_and_an_answer_without_a_score_are_left_out():
    a = [*answers(["faithful", "faithful"]), Answer(trial_id="x", item_id="x", label=Label.FAITHFUL)]
    b = [*answers(["faithful"], proved=False), *answers(["faithful", "faithful"])[1:], a[2]]
    found = paired(a, b)
    assert (len(found.pairs), found.unproved, found.unmeasured) == (1, 1, 1)


def test_nothing_in_common_is_nothing_judged():
    with pytest.raises(NothingJudged, match="0 of 3 requests"):
        compare(answers(labels(0, 3)), [])


def test_similarity_is_compared_where_both_answered():
    found = compare(answers(["faithful", "faithful"], score=0.9), answers(["abstained", "faithful"], score=0.7))
    metric = found.metric("BERTScore F1")
    assert (metric.a, metric.b, metric.n) == (pytest.approx(0.9), pytest.approx(0.7), 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["faithful", "abstained", "misleading"]), min_size=1, max_size=30), st.randoms())
def test_swapping_the_policies_turns_every_difference(drawn, rng):
    other = list(drawn)
    rng.shuffle(other)
    there, back = compare(answers(drawn), answers(other)), compare(answers(other), answers(drawn))
    for metric, turned in zip(there.metrics, back.metrics, strict=True):
        assert (metric.a, metric.b) == (turned.b, turned.a)
        assert metric.difference is None or metric.difference.value == pytest.approx(-turned.difference.value)
    assert {there.combined.a, there.combined.b} == {back.combined.a, back.combined.b}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["faithful", "abstained", "misleading"]), min_size=1, max_size=30))
def test_a_policy_against_itself_is_never_shown_to_be_better(drawn):
    found = compare(answers(drawn), answers(drawn))
    assert {metric.shown for metric in (*found.metrics, found.combined)} == {Shown.NEITHER}


# How it is weighed


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_semantic_weight_falls_with_the_load_from_one_to_six_tenths(low, high):
    low, high = min(low, high), max(low, high)
    assert 0.6 <= semantic_weight(high) <= semantic_weight(low) <= 1
    assert (semantic_weight(0), semantic_weight(1)) == (1, pytest.approx(0.6))


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_the_business_weight_rises_with_the_variance_and_stays_under_four_tenths(low, high):
    low, high = min(low, high), max(low, high)
    assert 0 <= business_weight(low) <= business_weight(high) <= MOST_BUSINESS
    assert (business_weight(0), business_weight(1)) == (0, pytest.approx(0.2))


@given(st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1e6)), st.booleans())
def test_the_semantic_weight_hangs_on_the_load_alone_and_is_never_under_six_tenths_of_the_score(load, variance, known):
    spread = None if variance is None else CtrSpread(windows=5, variance=variance, by_chance=1.0)
    found = weights(load, spread, business_known=known)
    assert found.semantic == semantic_weight(load)
    assert found.semantic_share >= 0.6 - 1e-12
    assert known or found.business == 0


@pytest.mark.parametrize(
    ("dispersion", "business", "calm", "peak"),
    [
        (0, 0, 1, 1),  # a CTR that stands still has no say
        (1, 0.2, 1 / 1.2, 0.6 / 0.8),  # one that moves by chance: a share of 0.83 falls to 0.75
        (1e9, 0.4, 1 / 1.4, 0.6),  # one that clearly moves: 0.71 falls to 0.6
    ],
)
def test_the_semantic_weight_is_six_tenths_at_peak_and_the_business_weight_follows_the_variance(
    dispersion, business, calm, peak
):
    spread = CtrSpread(windows=12, variance=dispersion, by_chance=1.0)
    found = [weights(load, spread, business_known=True) for load in (0, 1)]
    assert [each.semantic for each in found] == [1, pytest.approx(0.6)]
    assert [each.business for each in found] == pytest.approx([business, business])
    assert [each.semantic_share for each in found] == pytest.approx([calm, peak])


def test_the_combined_score_is_the_mean_by_both_weights():
    events = [event(p, n, 100, 10, csat=0.85) for n in range(40) for p in "AB"]  # a business score of 1, d = 1 or none
    found = compare(answers(labels(0, 40), score=0.5), answers(labels(0, 40), score=0.5), events, load=1)
    assert found.weights.semantic == pytest.approx(0.6)
    assert found.combined.a == pytest.approx((0.6 * 0.5 + 0.2) / 0.8)


@pytest.mark.parametrize("load", [-0.1, 1.1, float("nan")])
def test_a_load_outside_zero_to_one_is_refused(load):
    with pytest.raises(ConfigError, match=r"in \[0, 1\]"):
        semantic_weight(load)


def test_a_constant_rate_has_no_variance_and_a_jumping_one_more_than_chance():
    constant = [event("A", 1, 100, 10, at_s=300 * k) for k in range(12)]
    jumping = [event("A", 1, 100, 30 if k % 2 else 2, at_s=300 * k) for k in range(12)]
    assert ctr_spread(constant).dispersion == pytest.approx(0)
    assert ctr_spread(jumping).dispersion > 5


def test_only_the_last_hour_counts_and_one_window_measures_no_variance():
    old = event("A", 1, 1000, 900, at_s=0)
    recent = [event("A", 1, 100, 10, at_s=7200 + 300 * k) for k in range(3)]
    assert ctr_spread([old, *recent]).windows == 3
    assert ctr_spread([old, recent[0]]) is None


@given(st.lists(st.tuples(st.integers(0, 7200), st.integers(1, 500), st.floats(0, 1)), min_size=1, max_size=40))
def test_the_dispersion_is_finite_and_never_negative(drawn):
    spread = ctr_spread([event("A", 1, shown, int(share * shown), at_s=at_s) for at_s, shown, share in drawn])
    assert spread is None or 0 <= spread.dispersion < float("inf")


# What is concluded


def test_a_policy_that_misleads_less_is_chosen_whatever_users_clicked():
    events = [event(policy, n, 100, clicks) for n in range(40) for policy, clicks in (("A", 40 + n % 3), ("B", 5))]
    found = concluded(answers(labels(20, 40)), answers(labels(3, 40)), events, load=1)
    assert found.choice is Choice.B
    assert found.sentence.startswith("B misleads less (3 against 20 of 40 items); CTR is lower (5.0% against")
    assert found.sentence.endswith("choose B.")
    assert found.exit_code == 0


def failing(n):
    return [Answer(trial_id=f"kill/{number}", item_id=str(number), failed=True) for number in range(n)]


@pytest.mark.parametrize("failed", [8, 30, 40])
def test_a_policy_that_misleads_is_not_chosen_though_the_other_fails(failed):
    truths = answers(labels(0, 40))
    found = concluded([*failing(failed), *truths[failed:]], answers(labels(40, 40)))
    assert found.choice is Choice.A
    told = f"A misleads less (0 against 40 of 40 items), but fails more ({failed} against 0 of 40 items)"
    assert found.sentence.startswith(told)


@pytest.mark.parametrize("lies", [0, 5])
def test_where_misleading_does_not_differ_the_policy_that_fails_less_is_chosen(lies):
    b = answers(labels(lies, 40))
    a = [*b[:30], *failing(40)[30:]]
    found = concluded(a, b)
    assert found.choice is Choice.B
    assert found.sentence.startswith("B fails less (0 against 10 of 40 items), and B misleads on")
    assert found.sentence.endswith("choose B.")


def test_a_policy_that_may_fail_less_by_misleading_more_is_not_chosen_before_that_is_known():
    found = concluded([*answers(labels(0, 30)), *failing(40)[30:]], answers(["faithful"] * 37 + ["misleading"] * 3))
    assert (found.choice, found.exit_code) == (Choice.UNDECIDED, 3)
    said = (
        "undecided: B fails less (0 against 10 of 40 items), but B misleads on 3 of 40 items and A on 0, a difference"
    )
    assert found.sentence.startswith(said)


def under(experiment, drawn):
    return [replace(one, trial_id=f"{experiment}/{one.item_id}") for one in answers(drawn)]


def test_a_policy_that_lies_under_one_fault_does_not_hide_behind_another_where_both_do():
    a = under("kill", labels(40, 40)) + under("latency", labels(0, 40))
    b = under("kill", labels(40, 40)) + under("latency", labels(40, 40))
    found = concluded(a, b)
    assert found.choice is Choice.A
    assert found.sentence.startswith("A misleads less under latency (0 against 40 of 40 items); nothing is known")
    turned = concluded(b, a)
    assert turned.choice is Choice.B


def test_where_it_depends_on_the_fault_which_misleads_less_nothing_is_decided():
    a = under("kill", labels(40, 40)) + under("latency", labels(0, 40))
    b = under("kill", labels(0, 40)) + under("latency", labels(40, 40))
    found = concluded(a, b)
    assert (found.choice, found.needed_items) == (Choice.UNDECIDED, None)
    assert "B misleads less under kill (0 against 40" in found.sentence
    assert "A misleads less under latency (0 against 40" in found.sentence


def test_a_score_over_a_few_items_that_are_alike_shows_nothing():
    for n, shown in ((2, Shown.NEITHER), (9, Shown.NEITHER), (10, Shown.B)):
        found = compare(answers(labels(0, n), score=0.7), answers(labels(0, n), score=0.9))
        assert found.metric("cosine").shown is shown


def test_a_policy_that_only_refuses_is_chosen_with_its_price():
    found = concluded(answers(labels(20, 40)), answers(["abstained"] * 40))
    assert found.sentence.startswith("B misleads less (0 against 20 of 40 items), but abstains more (40 against 0 of")


def test_equal_truth_and_more_clicks_choose_by_the_combined_score():
    a, b = answers(labels(0, 90)), answers(labels(0, 90))
    events = [event(p, n, 100, c + n % 2, at_s=300 * n) for n in range(90) for p, c in (("A", 10), ("B", 30))]
    found = concluded(a, b, events)
    assert (found.choice, found.sentence.count("CTR is higher")) == (Choice.B, 1)


def test_more_clicks_do_not_choose_a_policy_that_may_mislead_more():
    events = [event(p, n, 100, c + n % 2, at_s=300 * n) for n in range(40) for p, c in (("A", 10), ("B", 90))]
    assert concluded(answers(labels(0, 40)), answers(labels(2, 40)), events).choice is Choice.UNDECIDED


def test_the_same_answers_from_enough_items_say_that_either_will_do():
    assert concluded(answers(labels(5, 120)), answers(labels(5, 120))).choice is Choice.EITHER


def test_a_small_difference_is_undecided_and_the_number_of_items_it_names_would_tell():
    found = concluded(answers(labels(6, 20)), answers(labels(3, 20)))
    assert found.choice is Choice.UNDECIDED
    assert found.exit_code == 3
    assert f"about {found.needed_items} more items would tell" in found.sentence
    n = 20 + 2 * found.needed_items  # an estimate: the counts are whole numbers
    assert concluded(answers(labels(round(6 * n / 20), n)), answers(labels(round(3 * n / 20), n))).choice is Choice.B


def test_too_few_items_or_pairs_decide_nothing():
    few = concluded(answers(labels(5, 5)), answers(labels(0, 5)))
    assert (few.choice, few.needed_items) == (Choice.UNDECIDED, 5)
    holes = concluded(answers(labels(20, 40)), answers(labels(0, 30)))
    assert holes.choice is Choice.UNDECIDED
    assert "30 of 40 requests" in holes.sentence


def test_satisfaction_under_its_target_is_said():
    events = [event(p, n, 100, 10, csat=c) for n in range(40) for p, c in (("A", 0.9), ("B", 0.8))]
    assert "CSAT is lower (0.80 against 0.90), under the target of 0.85" in concluded(
        answers(labels(20, 40)), answers(labels(0, 40)), events
    ).sentence  # fmt: skip


# Events

GOOD = {"time": "2026-03-01T12:05:00Z", "policy": "A", "item_id": "x", "impressions": "10", "clicks": "3", "csat": ""}


def events_file(path, rows, header=COLUMNS):
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *rows])
    return path


def test_events_are_read_with_a_blank_csat_as_not_asked(tmp_path):
    (read,) = read_events(events_file(tmp_path / "e.csv", [GOOD.values()]), {"x"})
    assert (read.clicks, read.impressions, read.csat, read.at_s) == (3, 10, None, 1772366700.0)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("time", "yesterday", "ISO 8601"),
        ("time", "2026-03-01T12:05:00", "without an offset"),
        ("policy", "C", "A or B"),
        ("item_id", "gone", "neither run"),
        ("impressions", "0", "at least 1"),
        ("impressions", "1.5", "whole number"),
        ("impressions", "1" * 5000, "at most 15 digits"),
        ("clicks", "1" * 5000, "at most 15 digits"),
        ("csat", "9" * 5000, r"in \[0, 1\]"),
        ("time", "2" * 5000, "ISO 8601"),
        ("clicks", "-1", "at least 0"),
        ("clicks", "11", "at most impressions"),
        ("csat", "4", r"in \[0, 1\]"),
        ("csat", "nan", r"in \[0, 1\]"),
        ("csat", "good", r"in \[0, 1\]"),
    ],
)
def test_a_bad_event_names_file_line_field_and_value(tmp_path, field, value, says):
    file = events_file(tmp_path / "e.csv", [GOOD.values(), {**GOOD, field: value}.values()])
    with pytest.raises(ConfigError, match=says) as caught:
        read_events(file, {"x"})
    assert f"{file}, line 3: {field} is" in str(caught.value)
    assert value[:40] in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(file))


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        ([*COLUMNS[:5], "stars"], [], "unknown column 'stars'"),
        (COLUMNS[:5], [], "column 'csat' is missing"),
        ([*COLUMNS, "csat"], [], "twice"),
        (COLUMNS, [], "no event"),
        (COLUMNS, [["a"]], "line 2: 1 cells"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path, header, rows, says):
    with pytest.raises(ConfigError, match=says):
        read_events(events_file(tmp_path / "e.csv", rows, header), {"x"})


# The command


def two_runs(tmp_path, *, wrong_a=20, wrong_b=2, n=40, **meta):
    for name, wrong in (("a", wrong_a), ("b", wrong_b)):
        rows = [
            Row(item=item, fault=fault, label="misleading" if fault == "kill" and k < wrong else "faithful")
            for fault in ("none", "kill")
            for k, item in enumerate(ITEMS[:n])
        ]
        more = meta if name == "b" else {}
        run_folder(tmp_path / name, rows, **{"policy": f"dir/{name}.toml", "policy_sha256": name, **more})
    return [str(tmp_path / "a"), str(tmp_path / "b"), "--output", str(tmp_path / "out")]


@pytest.mark.slow
def test_the_command_writes_a_page_a_json_file_and_ends_with_the_page(tmp_path, capsys):
    began = datetime(2026, 3, 1, 12, tzinfo=UTC)
    rows = [
        [(began + timedelta(minutes=k)).isoformat(), policy, item, 100, 5 + k % 4, "0.9"]
        for k, item in enumerate(IDS[:40])
        for policy in "AB"
    ]
    events = events_file(tmp_path / "e.csv", rows)
    assert cli.main(["ab", *two_runs(tmp_path), "--events", str(events), "--load", "1"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2].startswith("B misleads less (2 against 20 of 40 items); CTR is not shown to differ")
    assert said[-1].endswith("ab.html")
    assert any("weights: semantic 0.60, business 0." in line for line in said)
    assert any(re.match(r"misleading +50\.0% +5\.0%", line) for line in said)
    page = (tmp_path / "out" / "ab.html").read_text()
    assert "Choose B" in page
    (plot,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    drawn = [metric for metric in ("misleading", "BERTScore F1", "CTR", "CSAT") if f">{metric}<" in plot]
    assert drawn == ["misleading", "BERTScore F1", "CTR", "CSAT"]
    assert len(re.findall(r"stroke-opacity: 0\.35", plot)) >= len(drawn), "an interval is drawn for each"
    assert not re.search(r"nan|(src|href)=\"(?!#)|url\(http|@import", page)
    content = json.loads((tmp_path / "out" / "ab.json").read_text())
    assert (content["choice"], content["sides"]["B"]["policy"]) == ("B", "b.toml")


@pytest.mark.parametrize(
    ("meta", "says"),
    [
        ({"items_sha256": "y"}, f"items_sha256 is 'y' there and '{ITEMS_SHA256}' in"),
        ({"evalset": "other"}, "evalset is 'other'"),
        ({"seed": 7}, "seed is 7"),
        ({"profile": "gpu"}, "profile is 'gpu'"),
    ],
)
def test_runs_that_differ_in_more_than_the_policy_are_refused_in_one_line(tmp_path, capsys, meta, says):
    assert cli.main(["ab", *two_runs(tmp_path, n=1, **meta)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("ours", "says"), [({"verdict": "2"}, "verdict"), ({}, "not known")])
def test_runs_that_two_judges_judged_are_refused_with_what_to_do(tmp_path, capsys, ours, says):
    argv = two_runs(tmp_path, n=12)
    for name, judge in (("a", {"verdict": "1"}), ("b", ours)):
        file = tmp_path / name / "scores.parquet"
        write_scores(file, list(read_scores(file).values()), judge)
    assert cli.main(["ab", *argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"({says})" in line
    assert "--judge-again" in line


def test_a_run_whose_faults_prove_nothing_leaves_nothing_to_compare(tmp_path, capsys):
    assert cli.main(["ab", *two_runs(tmp_path, n=12, leftovers=["a proxy was down"])]) == 2
    assert "0 of 12 requests compared (0 items): 12 without proof of the fault" in capsys.readouterr().err


def test_a_run_is_not_compared_with_itself(tmp_path, capsys):
    a, *_ = two_runs(tmp_path, n=1)
    assert cli.main(["ab", a, a]) == 2
    assert "cannot be compared with itself" in capsys.readouterr().err


@pytest.mark.slow
def test_the_same_policy_twice_is_said(tmp_path, capsys):
    argv = two_runs(tmp_path, wrong_a=2, wrong_b=2, n=12, policy_sha256="a")
    assert cli.main(["ab", *argv]) == 3
    assert "whatever differs is chance" in capsys.readouterr().out
