"""A slow network in front of the primary."""

import pytest

pytestmark = pytest.mark.chaos
AT_ONCE = 3  # as many requests as open the breaker wait for a slow backend together, not one after the other


def test_a_slow_primary_is_left_for_the_next_path(chaos):
    slow = chaos.run("latency", target="primary", mean_ms=30_000, concurrency=AT_ONCE)
    assert slow.fired, "no byte met the latency"
    assert not slow.crashes
    assert slow.recovered
