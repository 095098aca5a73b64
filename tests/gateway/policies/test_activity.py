"""When a manifest is in force, and whom it is for."""

from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import above, manifest

from gateway.policies.activity import advance
from gateway.policies.choice import choose, from_fallback, percentile_of
from gateway.policies.metrics import METRICS, Gauges, Outcome, exceeds, percentile
from gateway.policies.windows import Windows

ORDER = ("primary", "secondary", "extract", "template", "structured")
BACKENDS = ("primary", "secondary")


def slow(at_s, count=20, took_s=2.0, service="shop", endpoint="", **more):
    return [Outcome(at_s, took_s, service, endpoint, **more) for _ in range(count)]


def windows(manifests, outcomes=(), gauges=()):
    found = Windows(manifests)
    for one in outcomes:
        found.observe(one)
    for one in gauges:
        found.read(one)
    return found


def names(manifests, outcomes=(), gauges=(), now_s=100.0, held=None):
    return set(advance(held or {}, manifests, windows(manifests, outcomes, gauges), now_s))


SLOW = manifest("slow", above("p99_latency_ms", 1200))


def test_a_manifest_without_conditions_is_always_in_force():
    assert names([manifest("always")]) == {"always"}


def test_a_condition_holds_above_its_threshold_only():
    assert names([SLOW], slow(99)) == {"slow"}
    assert names([SLOW], slow(99, took_s=1.2)) == set()


def test_rows_outside_the_window_of_another_service_or_too_few_do_not_count():
    assert names([SLOW], slow(39)) == set()
    assert names([SLOW], slow(99, service="bank")) == set()
    assert names([SLOW], slow(99, count=19)) == set()
    everywhere = manifest("all", above("p99_latency_ms", 1200), targetService="*")
    assert names([everywhere], slow(99, service="bank")) == {"all"}
    refunds = manifest("refunds", above("p99_latency_ms", 1200), endpoint="/refunds")
    assert names([refunds], slow(99)) == set()
    assert names([refunds], slow(99, endpoint="/refunds")) == {"refunds"}


def test_all_conditions_have_to_hold():
    both = manifest("both", above("p99_latency_ms", 1200), above("error_rate", 0.5))
    assert names([both], slow(99)) == set()
    assert names([both], slow(99, failed=True)) == {"both"}


def test_a_manifest_stays_for_one_more_window_and_then_ends():
    held = advance({}, [SLOW], windows([SLOW], slow(99)), 100.0)
    assert set(advance(held, [SLOW], windows([SLOW]), 159.9)) == {"slow"}
    assert set(advance(held, [SLOW], windows([SLOW]), 160.0)) == set()
    longer = advance(held, [SLOW], windows([SLOW], slow(120)), 120.0)
    assert set(advance(longer, [SLOW], windows([SLOW]), 179.9)) == {"slow"}


def test_a_manifest_that_gets_conditions_loses_its_for_ever():
    held = advance({}, [manifest("slow")], windows([manifest("slow")]), 100.0)
    assert advance(held, [SLOW], windows([SLOW]), 101.0) == {}


def test_a_gauge_counts_as_its_mean_over_the_window():
    full = manifest("full", above("ledger_occupancy", 0.5, "10s"))
    assert names([full], gauges=[Gauges(95.0, 1.0), Gauges(99.0, 0.2)]) == {"full"}
    assert names([full], gauges=[Gauges(80.0, 1.0), Gauges(99.0, 0.2)]) == set()
    unmeasured = manifest("device", above("device_memory_share", 0.0))
    assert names([unmeasured], gauges=[Gauges(99.0)]) == set()


def test_every_metric_can_be_measured_and_shares_are_shares():
    worst = Outcome(0.0, 1.0, "s", "", True, True, True, True, True)
    gauges = Gauges(0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    for metric in METRICS.values():
        assert (metric.of_request is None) != (metric.gauge is None)
        assert metric.value(worst if metric.of_request else gauges) == (
            1000.0 if "percentile" in metric.meaning else 1.0
        )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values_and_covers_its_share(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_the_first_in_precedence_that_covers_the_user_decides():
    nobody = manifest("nobody", targetService="*", fallback="refused", trafficPercentage=0)
    shop = manifest("shop-half", trafficPercentage=50)
    at_refunds = manifest("refunds", endpoint="/refunds", fallback="structured")
    active = (nobody, shop, at_refunds)
    chosen = {choose(active, service="shop", endpoint="/refunds", key=f"user-{k}").name for k in range(50)}
    assert chosen == {"shop-half", "refunds"}
    assert choose(active, service="bank", endpoint="", key="u") is None


def test_a_share_of_fifteen_percent_is_that_and_the_same_users_each_time():
    fifteen, fifty = manifest("a", trafficPercentage=15), manifest("b", trafficPercentage=50)
    users = [f"user-{k}" for k in range(10_000)]

    def share_of(one):
        return {user for user in users if choose((one,), service="shop", endpoint="", key=user)}

    first = share_of(fifteen)
    assert first == share_of(fifteen)
    assert abs(len(first) / len(users) - 0.15) < 0.012
    assert first < share_of(fifty)
    assert len(share_of(manifest("all"))) == len(users)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.floats(0, 5), min_size=1, max_size=300), st.floats(0, 5000))
def test_whether_a_percentile_is_exceeded_is_told_exactly_by_how_many_values_are_over_it(took_s, threshold):
    over = sum(one * 1000 > threshold for one in took_s)
    for name, share in (("p95_latency_ms", 0.95), ("p99_latency_ms", 0.99)):
        exact = percentile([one * 1000 for one in took_s], share) > threshold
        assert exceeds(name, threshold, count=len(took_s), total=over) == exact


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text())
def test_a_place_lies_between_0_and_100(key):
    assert 0 <= percentile_of(key) < 100


def test_paths_begin_at_the_fallback_and_never_lead_back_up():
    assert from_fallback(ORDER, ORDER, "secondary", BACKENDS) == ORDER[1:]
    assert from_fallback(ORDER, ORDER, "template", BACKENDS) == ("template", "structured")
    assert from_fallback(ORDER, ORDER, "refused", BACKENDS) == ()
    assert from_fallback(ORDER[2:], ORDER, "secondary", BACKENDS) == ORDER[2:]
    cache_first = ("cache", "primary", "template")
    assert from_fallback(cache_first, cache_first, "cache", BACKENDS) == ("cache", "template")
