"""The decision tree and its weights."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.decision import Branch, Situation, decide, fitness, weights
from gateway.errors import ConfigError

SITUATIONS = st.builds(
    Situation, confidence=st.floats(0, 1), latency_ms=st.floats(0, 10_000), sla_margin=st.floats(0, 1)
)


@pytest.mark.parametrize(
    ("confidence", "latency_ms", "sla_margin", "branch"),
    [
        (0.9, 300, 0.5, Branch.ANSWER),
        (0.7, 1200, 0.15, Branch.ANSWER),
        (0.69, 300, 0.5, Branch.LIGHT_FALLBACK),
        (0.9, 1201, 0.5, Branch.ASYNCHRONOUS),
        (0.1, 5000, 0.14, Branch.FULL_BREAK),
    ],
)
def test_the_gravest_branch_that_applies_is_taken(
    confidence: float, latency_ms: float, sla_margin: float, branch: Branch
) -> None:
    assert decide(Situation(confidence=confidence, latency_ms=latency_ms, sla_margin=sla_margin)) is branch


def test_the_weights_follow_the_formula() -> None:
    share = weights(Situation(confidence=0.8, latency_ms=500, sla_margin=0.5))
    assert share == pytest.approx((0.4 / 0.85, 0.3 / 0.85, 0.15 / 0.85))


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(situation=SITUATIONS)
def test_the_weights_sum_to_one_and_none_is_negative(situation: Situation) -> None:
    share = weights(situation)
    assert sum(share) == pytest.approx(1.0)
    assert min(share) >= 0
    assert (share.latency == 0) == (situation.latency_ms >= 2000)
    assert 0 <= fitness(situation) <= 1


@pytest.mark.parametrize("bad", [{"confidence": 1.1}, {"latency_ms": -1.0}, {"sla_margin": float("nan")}])
def test_a_situation_out_of_range_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Situation(**{"confidence": 0.5, "latency_ms": 1.0, "sla_margin": 0.5, **bad})
