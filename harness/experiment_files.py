"""The tests behind `truefall chaos --experiment FILE`: the healthy baseline, then each file. Collected by name only."""

import pytest

pytestmark = pytest.mark.chaos


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "experiment_file" in metafunc.fixturenames:
        metafunc.parametrize("experiment_file", metafunc.config.getoption("--chaos-experiment"))


def test_the_primary_answers_every_item_without_a_fault(chaos) -> None:  # type: ignore[no-untyped-def]
    assert not chaos.steady().crashes


def test_the_experiment(chaos, experiment_file: str) -> None:  # type: ignore[no-untyped-def]
    result = chaos.play(experiment_file)
    (block,) = result.blocks
    assert block.steady, block.error
    assert block.stopped is None, f"stopped: {block.stopped}"
    assert block.fired, block.error or f"a fault met nothing: {result.evidence}"
    assert not result.crashes
    assert block.recovered, "the steady state did not come back"
