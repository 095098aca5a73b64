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
    assert not one._outcomes


def test_a_manifest_that_says_something_else_now_is_not_held_by_what_it_said_before():
    one, same = holder(), manifest("same", above("breaker_open", 0.5, "10s"))
    put(one, manifest("full", above("ledger_occupancy", 0.8, "10s")), same)
    one.tick(Gauges(at_s=0.0, ledger_occupancy=0.9, breaker_open=1.0))
    assert {each.name for each in one.active} == {"full", "same"}
    put(one, manifest("full", above("ledger_occupancy", 0.95, "10s")), same, digest="b", based_on=1)
    assert [each.name for each in one.active] == ["same"]
