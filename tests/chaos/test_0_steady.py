"""The healthy baseline: without a fault, the primary answers everything, and says nothing of degradation."""

import pytest

pytestmark = pytest.mark.chaos


def test_the_primary_answers_every_item_without_a_fault(chaos):
    steady = chaos.steady()
    assert steady.trials, "no item was sent"
    assert not steady.crashes
