"""Sums over sliding windows agree with the rows themselves, and take no more room for more of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import above, manifest

from gateway.policies.metrics import Gauges, Outcome, percentile
from gateway.policies.windows import SlidingSum, Windows

SERVICES, ENDPOINTS = ("shop", "bank", "*"), ("", "/refunds")

outcomes = st.builds(
    Outcome,
    at_s=st.floats(0, 90),
    took_s=st.sampled_from((0.1, 0.5, 1.0, 1.2, 2.0, 9.0)),
    service=st.sampled_from(SERVICES),
    endpoint=st.sampled_from(ENDPOINTS),
    failed=st.booleans(),
)
targets = st.sampled_from((("*", None), ("shop", None), ("bank", None), ("shop", "/refunds")))


def exact(rows, metric, threshold, min_samples):
    """What the rows themselves say."""
    if len(rows) < min_samples:
        return False
    if metric == "error_rate":
        return sum(row.failed for row in rows) / len(rows) > threshold
    return percentile([row.took_s * 1000 for row in rows], {"p95_latency_ms": 0.95}.get(metric, 0.99)) > threshold


@st.composite
def conditions(draw):
    """Metric, threshold, window and the fewest samples."""
    metric = draw(st.sampled_from(("error_rate", "p95_latency_ms", "p99_latency_ms")))
    threshold = draw(
        st.sampled_from((0.0, 0.25, 0.5, 1.0) if metric == "error_rate" else (0.0, 1000.0, 1200.0, 5000.0))
    )
    return metric, threshold, draw(st.sampled_from(("1s", "7s", "30s", "60s", "5m"))), draw(st.integers(1, 30))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(outcomes, max_size=120).map(sorted), targets, conditions())
def test_a_condition_says_what_the_rows_of_its_window_say(rows, target, asked):
    metric, threshold, window, min_samples = asked
    service, endpoint = target
    more = {} if endpoint is None else {"endpoint": endpoint}
    one = manifest("one", above(metric, threshold, window, minSamples=min_samples), targetService=service, **more)
    windows, condition = Windows([one]), one.spec.conditions[0]
    for row in rows:
        windows.observe(row)
    now_s = 90.0
    mine = [row for row in rows if service in ("*", row.service) and endpoint in (None, row.endpoint)]
    slices = [row for row in mine if row.at_s >= now_s - condition.window_s]
    older = [
        row for row in mine if now_s - condition.window_s * 61 / 60 - 1e-6 <= row.at_s < now_s - condition.window_s
    ]
    told = windows.hold(condition, one, now_s)  # the rows of one slice before the window may count, the newest first
    assert told in {exact(older[cut:] + slices, metric, threshold, min_samples) for cut in range(len(older) + 1)}


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 1000), max_size=100).map(sorted), st.sampled_from((1.0, 7.0, 60.0, 300.0)))
def test_a_window_holds_its_values_and_at_most_a_sixtieth_more(times, window_s):
    sums = SlidingSum(window_s)
    for at_s in times:
        sums.add(at_s, 0.5)
        samples, total = sums.at(at_s)
        least = sum(at_s - window_s <= one <= at_s for one in times[: times.index(at_s) + 1])
        most = sum(at_s - window_s * 61 / 60 - 1e-6 <= one <= at_s for one in times)
        assert least <= samples <= most
        assert total == samples / 2


def test_a_reading_of_what_was_not_measured_counts_nothing():
    device = manifest("device", above("device_memory_share", 0.5))
    windows = Windows([device])
    for at_s, share in ((1.0, None), (2.0, 0.9), (3.0, None)):
        windows.read(Gauges(at_s, device_memory_share=share))
    assert windows.hold(device.spec.conditions[0], device, 4.0)


@pytest.mark.slow
def test_what_is_kept_is_bounded_by_the_conditions_and_their_slices():
    one = manifest("one", above("error_rate", 0.5, "1h"), above("p99_latency_ms", 10, "10s"), targetService="*")
    windows = Windows([one])
    for number in range(8_000):
        windows.observe(Outcome(float(number), 0.1, f"service-{number}", ""))
    assert len(windows._sums) == 2
    assert all(len(sums._slices) <= 62 for sums in windows._sums.values())
