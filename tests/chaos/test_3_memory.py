"""Out of memory: the backend really fails to allocate, survives, and answers again."""

import pytest

pytestmark = pytest.mark.chaos


def test_a_backend_that_runs_out_of_memory_survives_and_its_requests_are_answered(chaos):
    pressure = chaos.run("oom_pressure", target="primary")
    assert pressure.fired, "no allocation failed"
    assert not pressure.crashes
    assert pressure.recovered
    assert all(block.same_process for block in pressure.blocks), "the backend's process died"
