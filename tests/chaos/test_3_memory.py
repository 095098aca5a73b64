"""Out of memory: the backend really fails to allocate, survives, and answers again."""

import pytest

pytestmark = pytest.mark.chaos


def test_memory_that_goes_after_a_request_was_admitted_costs_an_allocation_and_nothing_else(chaos):
    spike = chaos.run("memory_spike", target="primary", tag="long-context")
    assert spike.fired, "no allocation failed"
    assert not spike.crashes
    assert spike.recovered
    assert all(block.same_process for block in spike.blocks), "the backend's process died"
    assert "out_of_memory" in {reason for trial in spike.trials for reason in trial.reasons}
