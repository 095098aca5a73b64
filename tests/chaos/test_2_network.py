"""A slow network in front of the primary."""

import pytest

pytestmark = pytest.mark.chaos


def test_a_slow_primary_is_left_for_the_next_path(chaos):
    slow = chaos.run("latency", target="primary", mean_ms=30_000)
    assert slow.fired, "no byte met the latency"
    assert not slow.crashes
    assert slow.recovered
