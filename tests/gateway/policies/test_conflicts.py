"""Precedence, ladders, and manifests that cannot both stand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import above, manifest

from gateway.errors import ConfigError
from gateway.policies.conflicts import contradicts, in_precedence, require_consistent, stronger

ORDER = ("primary", "secondary", "template", "structured")


def test_global_goes_before_service_before_endpoint():
    everywhere = manifest("z", targetService="*", fallback="refused")
    service = manifest("y")
    endpoint = manifest("x", endpoint="/refunds")
    assert in_precedence([endpoint, service, everywhere]) == (everywhere, service, endpoint)


def test_two_that_contradict_each_other_are_refused_with_both_names():
    one, other = manifest("one", fallback="secondary"), manifest("other", trafficPercentage=15)
    with pytest.raises(ConfigError, match=r"'one' and 'other' contradict each other.*'shop'.*'secondary' for 100%"):
        require_consistent([one, other], order=ORDER, source="f")


def test_other_targets_and_equal_effects_do_not_contradict():
    assert not contradicts(manifest("a", fallback="secondary"), manifest("b", targetService="bank"))
    assert not contradicts(manifest("a", fallback="secondary"), manifest("b", endpoint="/x"))
    assert not contradicts(manifest("a", above("error_rate", 0.1)), manifest("b", above("timeout_rate", 0.1)))


def test_stronger_conditions_are_the_next_rung_and_go_first():
    mild = manifest("a-mild", above("p99_latency_ms", 1200), fallback="secondary", trafficPercentage=15)
    harsh = manifest("b-harsh", above("p99_latency_ms", 3000), fallback="template")
    both = manifest("c-both", above("p99_latency_ms", 3000), above("error_rate", 0.2), fallback="structured")
    require_consistent([mild, both, harsh], order=ORDER, source="f")
    assert in_precedence([mild, both, harsh]) == (both, harsh, mild)
    other_window = manifest("d", above("p99_latency_ms", 3000, "30s"), fallback="structured")
    assert contradicts(mild, other_window)


def test_a_name_twice_and_a_fallback_that_is_no_path_are_refused():
    with pytest.raises(ConfigError, match=r"metadata\.name: 'one' is there twice"):
        require_consistent([manifest("one"), manifest("one")], order=ORDER, source="f")
    with pytest.raises(ConfigError, match=r"'one': spec\.fallback = 'cache' is not a path of the policy; they are"):
        require_consistent([manifest("one", fallback="cache")], order=ORDER, source="f")
    require_consistent([manifest("one", fallback="refused")], order=ORDER, source="f")


conditions = st.lists(
    st.builds(above, st.sampled_from(["p99_latency_ms", "queue_waiting"]), st.integers(0, 3)), max_size=3
)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(conditions, conditions, conditions)
def test_being_stronger_is_a_strict_order(first, second, third):
    one, two, three = manifest("a", *first), manifest("b", *second), manifest("c", *third)
    assert not stronger(one, one)
    assert not (stronger(one, two) and stronger(two, one))
    if stronger(one, two) and stronger(two, three):
        assert stronger(one, three)
