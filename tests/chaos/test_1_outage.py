"""Outages: the primary is cut off, killed, stopped; then every model is gone."""

import pytest

from harness.schedule import Dose, Experiment, Scope

pytestmark = pytest.mark.chaos
AT_ONCE = 3  # as many requests as open the breaker wait for a silent backend together, not one after the other


def test_a_primary_that_is_cut_off_leaves_no_request_unanswered(chaos):
    outage = chaos.run("proxy_down", target="primary")
    assert outage.fired, "no connection met the fault"
    assert not outage.crashes
    assert outage.recovered


def test_a_killed_primary_is_started_again_and_comes_back(chaos):
    outage = chaos.run("kill", target="primary", scope=Scope.FAULT)
    assert outage.fired
    assert not outage.crashes
    assert outage.recovered
    assert not any(block.same_process for block in outage.blocks), "the process was not killed"


def test_a_primary_that_hangs_is_left_for_the_next_path(chaos):
    outage = chaos.run("hang", target="primary", concurrency=AT_ONCE)
    assert outage.fired
    assert not outage.crashes
    assert outage.recovered
    assert all(block.same_process for block in outage.blocks)


def test_without_any_model_every_request_still_gets_an_honest_answer(chaos):
    doses = tuple(Dose(fault="proxy_down", target=target) for target in ("primary", "secondary"))
    outage = chaos.experiment(Experiment(name="all-models-down", doses=doses, concurrency=4, scope=Scope.ALL))
    assert outage.fired
    assert not outage.crashes
    assert outage.recovered
    assert not {"primary", "secondary"} & outage.paths(), "a model answered although all of them were cut off"
