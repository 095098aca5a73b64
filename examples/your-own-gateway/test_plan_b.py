"""What our gateway promises: `pytest -m chaos --chaos-stack=stack.toml --chaos-evalset=items.jsonl test_plan_b.py`."""

import pytest

pytestmark = pytest.mark.chaos


def test_without_a_fault_the_model_answers(chaos):
    steady = chaos.steady()
    assert not steady.crashes
    assert {trial.level for trial in steady.trials} == {"healthy"}


def test_a_model_that_is_cut_off_is_replaced_by_plan_b(chaos):
    outage = chaos.run("proxy_down")
    assert outage.fired
    assert outage.recovered
    assert not outage.crashes
    assert outage.paths() == {"canned"}


def test_a_slow_model_is_not_waited_for(chaos):
    slow = chaos.run("latency", mean_ms=3000)
    assert slow.fired
    assert slow.recovered
    assert all(trial.latency_ms < 3000 for trial in slow.trials)


def test_answers_that_are_no_json_never_reach_a_user(chaos):
    broken = chaos.run("half_json", rate=1.0)
    assert broken.fired
    assert not broken.crashes


def test_a_model_that_hangs_is_left_alone(chaos):
    hang = chaos.run("hang")
    assert hang.fired
    assert hang.recovered
    assert hang.paths() == {"canned"}
