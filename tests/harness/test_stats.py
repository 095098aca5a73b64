import math
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, binomtest, false_discovery_control, ttest_1samp

from harness.errors import ConfigError
from harness.stats import (
    PairedCounts,
    at_least,
    at_most,
    binomial_tail_p,
    clopper_pearson,
    holm,
    least_n,
    needed_mean_n,
    needed_n,
    needed_pairs,
    paired_counts,
    student_below_p,
    student_mean,
    tango,
    tango_p,
    tango_z,
    wilson,
    z_of,
)
from harness.tango_power import pairs_power

rates = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
cells = st.builds(PairedCounts, *[st.integers(0, 60)] * 4).filter(lambda c: c.n > 0)


@pytest.mark.parametrize(("method", "bound"), [("wilson", wilson), ("exact", clopper_pearson)])
@given(counts=rates)
def test_the_bounds_of_a_rate_are_those_of_scipy(method, bound, counts):
    hits, n = counts
    expected = binomtest(hits, n).proportion_ci(0.90, method=method)  # two-sided 90% is one-sided 95% on either side
    found = bound(hits, n)
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=1e-9), pytest.approx(expected.high, abs=1e-9))
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_the_rule_of_three_comes_out():
    assert clopper_pearson(0, 100).high == pytest.approx(0.0295, abs=5e-5)
    assert clopper_pearson(0, 29).high == pytest.approx(0.0981, abs=5e-5)


@given(counts=rates, limit=st.floats(0.01, 0.99))
def test_the_p_value_agrees_with_scipy_and_with_the_bound(counts, limit):
    hits, n = counts
    p = binomial_tail_p(hits, n, limit)
    assert p == pytest.approx(binomtest(hits, n, limit, alternative="greater").pvalue, abs=1e-9)
    if abs(p - 0.05) > 1e-6:
        assert (p <= 0.05) == (clopper_pearson(hits, n).low >= limit)


@pytest.mark.parametrize(("hits", "n"), [(0, 0), (-1, 5), (6, 5)])
@pytest.mark.parametrize("bound", [wilson, clopper_pearson])
def test_impossible_counts_are_refused(bound, hits, n):
    with pytest.raises(ConfigError, match="0 <= hits <= n"):
        bound(hits, n)


@pytest.mark.parametrize("confidence", [0.5, 1.0, float("nan"), 95])
def test_an_impossible_confidence_is_refused(confidence):
    with pytest.raises(ConfigError, match="confidence is"):
        wilson(1, 2, confidence)


@pytest.mark.parametrize("margin", [-0.2, 0.05, 0.3])
@pytest.mark.parametrize("counts", [PairedCounts(0, 1, 43, 0), PairedCounts(12, 2, 20, 16), PairedCounts(3, 3, 0, 30)])
def test_tangos_statistic_rests_on_the_likeliest_rates_that_differ_by_the_margin(counts, margin):
    def surprise(q):  # of the discordant cells (q + margin, q), the rest 1 − 2q − margin
        expected = (q + margin, q, 1 - 2 * q - margin)
        seen = (counts.candidate_only, counts.baseline_only, counts.both + counts.neither)
        return -sum(k * math.log(max(p, 1e-300)) for k, p in zip(seen, expected, strict=True))

    bounds = (max(0.0, -margin), (1 - margin) / 2)
    q = minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x
    gap = counts.candidate_only - counts.baseline_only - counts.n * margin
    expected = gap / math.sqrt(counts.n * (2 * q + margin - margin**2))
    assert tango_z(counts, margin) == pytest.approx(expected, rel=1e-3)


@given(counts=cells)
def test_a_paired_difference_lies_within_its_bounds_and_mirrors(counts):
    found = tango(counts)
    mirrored = tango(counts._replace(candidate_only=counts.baseline_only, baseline_only=counts.candidate_only))
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.high == pytest.approx(-mirrored.low, abs=1e-6)


@given(counts=cells, margin=st.floats(0.01, 0.5))
def test_the_paired_test_and_the_paired_bound_agree(counts, margin):
    p, bound = tango_p(counts, margin), tango(counts).high
    if abs(p - 0.05) > 1e-6:
        assert (p <= 0.05) == (bound <= margin)


def test_more_items_bring_the_paired_bound_closer():
    highs = [tango(PairedCounts(k, k, 10 * k, 10 * k)).high for k in (1, 2, 4, 8)]
    assert highs == sorted(highs, reverse=True)


@pytest.mark.slow
def test_the_paired_bound_covers_as_often_as_it_says():
    rng, covered, rounds = Random(11), 0, 1500
    for _ in range(rounds):
        drawn = rng.choices(range(4), weights=[10, 5, 15, 70], k=60)
        covered += tango(PairedCounts(*(drawn.count(i) for i in range(4)))).high >= 0.05
    assert covered / rounds == pytest.approx(0.95, abs=0.02)


def test_paired_counts_look_only_at_items_that_both_hold():
    found = paired_counts({"a": True, "b": False, "c": True}, {"a": False, "b": False, "d": True})
    assert found == PairedCounts(candidate_only=1, baseline_only=0, both=0, neither=1)


@given(gaps=st.lists(st.floats(-1, 1), min_size=3, max_size=40), margin=st.floats(-0.5, 0.5))
def test_students_bound_agrees_with_the_test_of_scipy(gaps, margin):
    bound = student_mean(gaps).high
    if max(gaps) - min(gaps) > 1e-3 and abs(bound - margin) > 1e-9:
        assert (bound <= margin) == (ttest_1samp(gaps, margin, alternative="less").pvalue <= 0.05)


@given(scores=st.lists(st.floats(0, 1), min_size=3, max_size=40), floor=st.floats(0, 1))
def test_the_p_value_of_a_mean_below_its_floor_agrees_with_scipy(scores, floor):
    if max(scores) - min(scores) > 1e-3 and math.fsum(scores) / len(scores) < floor - 1e-9:
        expected = ttest_1samp(scores, floor, alternative="less").pvalue
        assert student_below_p(scores, floor) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_a_mean_at_its_floor_or_one_value_is_not_shown_to_be_below():
    assert student_below_p([0.3, 0.32], 0.31) == student_below_p([0.1], 0.31) == 1.0
    assert student_below_p([0.1, 0.1, 0.1], 0.31) < 1e-9


def test_one_value_proves_nothing_and_equal_ones_have_no_spread():
    assert student_mean([0.1]).high == math.inf
    assert student_mean([0.1, 0.1, 0.1]).high == pytest.approx(0.1)
    with pytest.raises(ConfigError, match="got 0"):
        student_mean([])


def test_holm_rejects_step_by_step():
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]
    assert holm([]) == []
    assert holm([0.05]) == [True]
    assert holm([float("nan"), 0.001]) == [False, True]


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_between_bonferroni_and_benjamini_hochberg(p):
    rejected = holm(p)
    adjusted = false_discovery_control(p)
    for value, fdr, decision in zip(p, adjusted, rejected, strict=True):
        assert not decision or fdr <= 0.05 + 1e-12
        assert decision or value > 0.05 / len(p)


@pytest.mark.parametrize(("limit", "n"), [(0.10, 29), (0.05, 59), (0.02, 149), (0.01, 299)])
def test_how_many_items_without_a_hit_a_limit_needs(limit, n):
    assert least_n(0, limit) == needed_n(limit) == n


@given(hits=st.integers(0, 20), limit=st.floats(0.02, 0.9))
def test_the_least_n_is_enough_and_one_less_is_not(hits, limit):
    n = least_n(hits, limit)
    assert at_most(clopper_pearson(hits, n).high, limit)
    assert n - 1 <= hits or not at_most(clopper_pearson(hits, n - 1).high, limit)


def test_a_rate_below_the_limit_needs_more_items_the_closer_it_is_and_none_would_do_at_it():
    assert needed_n(0.1) < needed_n(0.1, 0.02) < needed_n(0.1, 0.05)
    assert needed_n(0.1, 0.1) is None
    assert needed_n(0.1, 0.09, most=1000) is None


@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_that_many_items_show_a_rate_as_often_as_the_power_says(rate):
    def shown(n):
        return sum(binom.pmf(k, n, rate) for k in range(n + 1) if at_most(clopper_pearson(k, n).high, 0.1))

    n = needed_n(0.1, rate)
    assert shown(n) >= 0.8
    assert shown(n // 2) < 0.8


def test_that_many_values_show_a_mean_as_often_as_the_power_says():
    rng, values = Random(5), [0.0, 0.2]  # of a spread of 0.141
    n = needed_mean_n(values, 0.15)
    drawn = [[rng.gauss(0.1, 0.1 * math.sqrt(2)) for _ in range(n)] for _ in range(400)]
    assert sum(student_mean(each).high <= 0.15 for each in drawn) / 400 == pytest.approx(0.8, abs=0.06)
    assert needed_mean_n(values, 0.1) is None
    assert needed_mean_n(values, 0.1001) is None


@pytest.mark.parametrize("power", [0.4, 1.0, float("nan")])
def test_an_impossible_power_is_refused(power):
    with pytest.raises(ConfigError, match="power is"):
        needed_mean_n([0.0, 0.2], 0.5, power=power)


def test_a_threshold_is_inclusive_without_an_accident_of_floats():  # S12
    assert at_least(4.1, 4.2 - 0.1)
    assert at_most(4.2 - 0.1, 4.1)
    assert at_least(0.72, 0.72)
    assert not at_least(0.7199, 0.72)
    assert not at_least(float("nan"), 0.72)
    assert not at_most(float("nan"), 0.1)
    assert not at_most(0.1, float("nan"))
    assert not at_most(math.inf, 1.0)


@given(counts=cells, margin=st.floats(0.05, 0.5))
def test_that_many_pairs_of_the_same_kind_reach_the_margin(counts, margin):
    if tango(counts).value < margin - 0.03:
        n = needed_pairs(counts, margin, most=100_000)
        grown = PairedCounts(*(round(cell * n / counts.n) for cell in counts))
        assert tango(grown).high <= margin + 1e-9


def power_by_enumeration(counts, n, margin):
    """Probability that the bound of `n` pairs is within the margin, outcome by outcome."""
    share = [cell / counts.n for cell in counts]
    found = 0.0
    for worse in range(n + 1):
        for better in range(n + 1 - worse):
            same = n - worse - better
            if at_most(tango(PairedCounts(worse, better, 0, same)).high, margin + 1e-9):
                ways = comb(n, worse) * comb(n - worse, better)
                found += ways * share[0] ** worse * share[1] ** better * (share[2] + share[3]) ** same
    return found


@pytest.mark.parametrize(
    "counts", [(1, 0, 0, 19), (0, 3, 5, 12), (3, 9, 0, 4), (0, 0, 4, 8), (5, 5, 5, 5), (0, 7, 0, 0)]
)
@pytest.mark.parametrize("margin", [0.0, 0.1, 0.3])
def test_the_power_of_pairs_is_that_of_all_their_outcomes(counts, margin):
    found = PairedCounts(*counts)
    shares = found.candidate_only / found.n, found.baseline_only / found.n
    for n in (1, 7, 18):
        expected = power_by_enumeration(found, n, margin)
        assert pairs_power(n, *shares, margin, z_of(0.95)) == pytest.approx(expected, abs=1e-9)


def test_without_a_discordant_pair_as_many_items_are_asked_for_as_the_bound_needs():
    for neither, both in ((12, 0), (0, 12)):
        needed = needed_pairs(PairedCounts(0, 0, both, neither), 0.1)
        assert needed == 25
        assert tango(PairedCounts(0, 0, 0, 25)).high <= 0.1 < tango(PairedCounts(0, 0, 0, 24)).high


@pytest.mark.slow
@pytest.mark.parametrize("counts", [(0, 3, 5, 12), (1, 1, 3, 15), (2, 1, 0, 27), (1, 0, 0, 19), (30, 25, 0, 145)])
def test_the_items_that_are_asked_for_show_it_eight_times_in_ten(counts):
    draws, found = np.random.default_rng(0), PairedCounts(*counts)
    n = needed_pairs(found, 0.1)
    drawn, times = np.unique(draws.multinomial(n, np.array(counts) / found.n, size=4000), axis=0, return_counts=True)
    shown = [at_most(tango(PairedCounts(*map(int, one))).high, 0.1) for one in drawn]
    assert 0.78 <= times[shown].sum() / times.sum() <= 0.95


def test_a_difference_at_the_margin_is_never_shown():
    assert needed_pairs(PairedCounts(1, 0, 0, 9), 0.1, most=5000) is None
