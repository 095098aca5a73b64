"""Outages: the primary is cut off, killed, stopped; then everything is down."""

import pytest

pytestmark = pytest.mark.chaos


def test_a_proxy_that_is_down_leaves_no_request_unanswered(chaos):
    outage = chaos.run("proxy_down", target="primary")
    assert outage.fired, "no connection met the fault"
    assert not outage.crashes
    assert outage.recovered


def test_a_killed_primary_is_replaced_and_comes_back(chaos):
    outage = chaos.run("kill", target="primary")
    assert outage.fired
    assert not outage.crashes
    assert outage.recovered
