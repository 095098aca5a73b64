"""Drift: silent on the same distribution, loud on another, and its causes are named."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.drift import Baseline, DriftMarks, Row, Watch, baseline_of, causes, divergence, histogram, judged
from gateway.drift_monitor import DriftMonitor
from gateway.errors import ConfigError

MARKS = DriftMarks(features=("latency_ms",))
numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300)


def drawn(rng, count=1000, mean=3.0, spread=1.0):
    return [rng.lognormvariate(mean, spread) for _ in range(count)]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(numbers, st.integers(1, 60))
def test_a_baseline_counts_every_value_once_and_does_not_diverge_from_itself(values, bins):
    base = baseline_of(values, bins=bins)
    assert sum(base.counts) == len(values)
    assert list(base.edges) == sorted(set(base.edges))
    assert divergence(base.counts, base) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(numbers, numbers)
def test_a_divergence_is_never_negative(values, others):
    base = baseline_of(values, bins=50)
    assert divergence(histogram(others, base.edges), base) >= 0


def test_a_thousand_values_of_the_same_distribution_stay_far_under_the_threshold():
    for seed in range(50):
        rng = Random(seed)
        base = baseline_of(drawn(rng), bins=50)
        assert divergence(histogram(drawn(rng), base.edges), base) < 0.10


@pytest.mark.parametrize(("mean", "spread"), [(4.0, 1.0), (2.0, 1.0), (3.0, 2.0), (3.0, 0.4)])
def test_another_mean_or_spread_is_over_the_threshold(mean, spread):
    rng = Random(1)
    base = baseline_of(drawn(rng), bins=50)
    assert divergence(histogram(drawn(rng, mean=mean, spread=spread), base.edges), base) > 0.15


def test_a_feature_that_was_constant_shows_any_change():
    base = baseline_of([5.0] * 1000, bins=50)
    for other in (4.0, 6.0):
        assert divergence(histogram([other] * 1000, base.edges), base) > 1.0


@pytest.mark.parametrize("values", [[], [1.0, float("nan")], [float("inf")]])
def test_no_values_or_values_that_are_none_make_no_baseline(values):
    with pytest.raises(ValueError, match="a baseline needs values"):
        baseline_of(values, bins=50)
    with pytest.raises(ValueError, match="edges must rise"):
        Baseline(edges=(2.0, 1.0), counts=(1, 1, 1))


def test_three_windows_in_a_row_alert_and_three_end_it():
    watch = Watch()
    told = []
    for kl in (0.2, 0.2, 0.1, 0.2, 0.2, 0.2, 0.15, 0.2, 0.1, 0.1, 0.1):
        watch = judged(watch, kl, MARKS)
        told.append(watch.alert)
    assert told == [False] * 5 + [True] * 5 + [False]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1)))
def test_no_alert_without_three_windows_in_a_row_over_the_threshold(divergences):
    watch = Watch()
    for index, kl in enumerate(divergences):
        watch = judged(watch, kl, MARKS)
        last = divergences[max(0, index - 2) : index + 1]
        if len(last) == 3 and all(kl > 0.15 for kl in last):
            assert watch.alert
    if max(divergences, default=0.0) <= 0.15:
        assert not watch.alert


def test_the_cause_is_the_reason_that_grew_and_was_slow():
    before = [Row(0.1, ())] * 95 + [Row(0.2, ("prompt_truncated",))] * 5
    now = [Row(0.1, ())] * 50 + [Row(0.1, ("prompt_truncated",))] * 20 + [Row(2.0, ("timeout",))] * 30
    first, second = causes(before, now)
    assert (first.reason, first.share_before, first.share_now) == ("timeout", 0.0, 0.3)
    assert (first.p95_before_ms, first.p95_now_ms) == (100.0, 2000.0)
    assert second.reason == "prompt_truncated"
    assert causes(before, before) == ()
    assert causes([], now) == ()


def monitor(marks=MARKS, file=None):
    said = []
    one = DriftMonitor(marks=lambda: marks, tell=lambda event, detail: said.append((event, detail)), file=file)
    one.load()
    return one, said


def feed(one, values, reasons=()):
    for value in values:
        one.observe({"latency_ms": value}, Row(value / 1000, reasons))


def test_the_monitor_learns_stays_silent_alerts_names_the_cause_and_recovers(tmp_path):
    rng = Random(7)
    one, said = monitor(file=tmp_path / "baseline.json")
    feed(one, drawn(rng, 4000))
    assert [event for event, _ in said] == ["drift_baseline"]
    feed(one, drawn(rng, 2000, mean=5.0), ("timeout",))
    assert one.alerts() == ("latency_ms",)
    event, detail = said[-1]
    assert event == "drift_alert"
    assert "causes: timeout 0.0% to" in detail
    feed(one, drawn(rng, 2000))
    assert one.alerts() == ()
    again, said = monitor(file=tmp_path / "baseline.json")
    feed(again, drawn(rng, 2000, mean=5.0))
    assert again.alerts() == ("latency_ms",)
    again.rebase()
    assert not (tmp_path / "baseline.json").exists()


def test_a_damaged_baseline_file_is_named(tmp_path):
    file = tmp_path / "baseline.json"
    file.write_text('{"latency_ms": {"edges": [1], "counts": [1]}}')
    with pytest.raises(ConfigError, match=r"baseline\.json: not a drift baseline: 1 edges need 2 counts, got 1"):
        monitor(file=file)


def followed(*changes):
    """An alert under the first marks, and what the monitor says and tells under the next ones, one after the other."""
    rng, said, force = Random(7), [], [MARKS]
    one = DriftMonitor(marks=lambda: force[0], tell=lambda event, detail: said.append(event))
    feed(one, drawn(rng, 1000))
    feed(one, drawn(rng, 2000, mean=5.0))
    assert one.alerts() == ("latency_ms",)
    for change in changes:
        force[0] = msgspec.structs.replace(force[0], **change)
        yield one, said


def test_drift_that_the_policy_switches_off_raises_no_alert_and_begins_anew_when_it_is_on_again():
    found = followed({"features": ()}, {"features": ("latency_ms",)})
    one, said = next(found)
    assert (one.alerts(), one.watches()) == ((), {})
    assert said[-1] == "drift_over"
    next(found)
    assert one.alerts() == ()
    feed(one, drawn(Random(8), 2000, mean=5.0))
    assert one.alerts() == ("latency_ms",)


def test_an_alert_stays_only_while_the_new_threshold_is_passed_too():
    found = followed({"threshold": 0.2}, {"threshold": 1e6})
    one, said = next(found)
    assert one.alerts() == ("latency_ms",)
    next(found)
    assert one.alerts() == ()
    assert said[-1] == "drift_over"


def test_a_shorter_window_holds_as_many_values_as_it_says():
    one, _ = next(followed({"window_samples": 500, "stride_samples": 500, "windows": 1}))
    feed(one, drawn(Random(9), 500))
    assert one.alerts() == ()  # the five hundred that came last are as usual
