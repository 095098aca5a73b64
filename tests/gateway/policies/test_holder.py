"""A set is swapped as a whole, by whoever saw the newest version, and judged at each tick."""

import pytest
from manifests import above, manifest

from gateway.errors import ConfigError
from gateway.policies.holder import ManifestHolder, StaleVersion
from gateway.policies.metrics import Gauges, Outcome


class StoppedClock:
    """Stands at 0."""

    def now_s(self):
        return 0.0

    async def sleep(self, delay_s):
        raise AssertionError("nobody waits here")


def holder():
    return ManifestHolder(order=lambda: ("primary", "template", "structured"), clock=StoppedClock())


def put(one, *manifests, digest="a", based_on=0):
    return one.swap(manifests, digest=digest, source="f", based_on=based_on)


def test_a_swap_counts_versions_and_the_same_text_again_changes_nothing():
    one = holder()
    assert put(one, manifest("a"))
    assert not put(one, manifest("a"), based_on=1)
    assert (one.current.version, [each.name for each in one.active]) == (1, ["a"])
    assert put(one, digest="b", based_on=1)
    assert one.active == ()


def test_a_swap_that_is_based_on_an_older_version_is_refused():
    one = holder()
    put(one, manifest("a"))
    with pytest.raises(StaleVersion, match="made for version 0, in force is 1"):
        put(one, manifest("b"), digest="b", based_on=0)
    assert [each.name for each in one.current.manifests] == ["a"]


def test_a_refused_set_leaves_the_old_one_and_says_why_until_a_good_one_comes():
    one = holder()
    put(one, manifest("a"))
    with pytest.raises(ConfigError):
        put(one, manifest("b", fallback="nowhere"), digest="b", based_on=1)
    assert "'nowhere' is not a path" in one.refused
    assert [each.name for each in one.active] == ["a"]
    put(one, manifest("a"), based_on=1)
    assert one.refused is None


def test_a_tick_tells_what_began_and_what_ended():
    one = holder()
    put(one, manifest("full", above("ledger_occupancy", 0.8, "10s")))
    assert one.tick(Gauges(at_s=1.0, ledger_occupancy=1.0)) == ({"full"}, frozenset())
    assert one.tick(Gauges(at_s=2.0, ledger_occupancy=1.0)) == (frozenset(), frozenset())
    for second in range(3, 12):
        one.tick(Gauges(at_s=float(second), ledger_occupancy=0.0))
    assert one.tick(Gauges(at_s=13.0, ledger_occupancy=0.0)) == (frozenset(), {"full"})
    assert one.active == ()


def test_nothing_is_kept_while_there_are_no_manifests():
    one = holder()
    one.observe(Outcome(0.0, 1.0, "shop", ""))
    assert not one._windows._sums


@pytest.mark.slow
def test_a_manifest_takes_effect_however_busy_another_service_is():
    one = holder()
    put(one, manifest("pay-slow", above("p99_latency_ms", 1200, "5m"), targetService="payments"))
    began = []
    for second in range(1, 301):
        for _ in range(100):
            one.observe(Outcome(float(second), 0.1, "shop", ""))
        if second % 5 == 0:
            one.observe(Outcome(float(second), 9.0, "payments", ""))
        began += one.tick(Gauges(at_s=float(second)))[0] and [second]
    assert began == [100]  # the twentieth slow answer


@pytest.mark.slow
def test_a_gauges_window_is_whole_however_often_it_is_read():
    one = holder()
    put(one, manifest("full", above("ledger_occupancy", 0.024, "1h")))
    for tenth in range(8_700):  # full for the last 200 of them: a share of 0.023
        one.tick(Gauges(at_s=tenth / 10, ledger_occupancy=float(tenth >= 8_500)))
    assert one.active == ()


def test_what_a_condition_has_counted_outlives_a_swap_that_leaves_it_there():
    one, slow = holder(), manifest("slow", above("p99_latency_ms", 1200))
    put(one, slow)
    for _ in range(20):
        one.observe(Outcome(0.0, 2.0, "shop", ""))
    put(one, slow, manifest("more", targetService="bank"), digest="b", based_on=1)
    one.tick(Gauges(at_s=1.0))
    assert "slow" in [each.name for each in one.active]


def test_a_manifest_that_says_something_else_now_is_not_held_by_what_it_said_before():
    one, same = holder(), manifest("same", above("breaker_open", 0.5, "10s"))
    put(one, manifest("full", above("ledger_occupancy", 0.8, "10s")), same)
    one.tick(Gauges(at_s=0.0, ledger_occupancy=0.9, breaker_open=1.0))
    assert {each.name for each in one.active} == {"full", "same"}
    put(one, manifest("full", above("ledger_occupancy", 0.95, "10s")), same, digest="b", based_on=1)
    assert [each.name for each in one.active] == ["same"]
