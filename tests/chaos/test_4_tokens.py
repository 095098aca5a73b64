"""Tokens that get lost on the way: in the prompt, and in the answer."""

import pytest

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("fault", ["token_drop_prompt", "token_drop_answer"])
def test_lost_tokens_never_pass_for_a_healthy_answer(chaos, fault):
    drops = chaos.run(fault, target="primary", rate=0.15)
    assert drops.fired, "no token was dropped"
    assert not drops.crashes
    assert drops.recovered
    undisturbed = {trial.item_id: trial.answer for trial in chaos.steady().trials}
    passed = [t.id for t in drops.trials if t.level == "healthy" and t.answer != undisturbed[t.item_id]]
    assert not passed, f"{len(passed)} altered answers were passed on as healthy"
