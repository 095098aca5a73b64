"""What the decision tree is told of a backend, and what it changes."""

import pytest
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.decision import Branch, DecisionMarks, Situation
from gateway.record import Attempt
from gateway.standing import Standing, after, at, branch_of, ranked, situation

GOOD = "Paris is the capital of France."
MARKS = DecisionMarks(apply="always")


def attempt(outcome="ok", took_ms=100.0):
    return Attempt(path="primary", outcome=outcome, duration_ms=took_ms)


def test_failures_lower_the_confidence_and_refusals_say_nothing():
    standing = Standing()
    for _ in range(3):
        standing = after(standing, attempt("failed"), now_s=0.0, forget_s=30.0)
    assert standing.confidence == pytest.approx(0.8**3)
    assert after(standing, attempt("refused"), now_s=0.0, forget_s=30.0) is standing


def test_what_is_bad_halves_so_that_the_backend_is_asked_again():
    standing = Standing(confidence=0.2, latency_s=4.0, at_s=10.0)
    later = at(standing, now_s=40.0, forget_s=30.0)
    assert (later.confidence, later.latency_s) == (pytest.approx(0.6), pytest.approx(2.0))


@pytest.mark.parametrize(("standing", "may_defer", "branch"), [
    (Standing(), True, Branch.ANSWER),
    (Standing(confidence=0.6), True, Branch.LIGHT_FALLBACK),
    (Standing(latency_s=1.3), True, Branch.ASYNCHRONOUS),
    (Standing(latency_s=1.3), False, Branch.ANSWER),
    (Standing(confidence=0.6, latency_s=1.3), False, Branch.LIGHT_FALLBACK),
    (Standing(latency_s=9.0), True, Branch.FULL_BREAK),
])  # fmt: skip
def test_the_branch_follows_the_standing(standing, may_defer, branch):
    seen = situation(standing, now_s=0.0, left_s=10.0, marks=MARKS)
    assert branch_of(seen, marks=MARKS, may_defer=may_defer) is branch


def test_the_fittest_comes_first_and_equals_keep_their_order():
    fit = Situation(confidence=1.0, latency_ms=0.0, sla_margin=1.0)
    poor = Situation(confidence=0.3, latency_ms=1900.0, sla_margin=0.2)
    assert ranked(("a", "b", "c"), {"a": poor, "b": fit, "c": fit}) == ("b", "c", "a")


async def served_by(standing, **decision):
    policy = policy_of(decision={"apply": "always", **decision}, deadline={"request_s": 10.0})
    async with (
        running(says(GOOD)) as one,
        running(says(GOOD)) as two,
        gateway(backend(one, "primary"), backend(two, "secondary"), policy=policy) as served,
    ):
        served.runtime.backends["primary"].standing = standing
        return (await served.chat()).record


async def test_low_confidence_leads_to_the_small_model_and_the_record_says_why():
    record = await served_by(Standing(confidence=0.3, at_s=float("inf")))
    assert (record["level"], record["path"], record["reasons"]) == ("degraded", "secondary", ["decision"])


async def test_no_margin_means_no_backend_at_all():
    record = await served_by(Standing(latency_s=9.5, at_s=float("inf")))
    assert (record["path"], record["reasons"]) == ("template", ["decision"])


async def test_ranking_asks_the_fittest_backend():
    unfit = Standing(confidence=0.75, latency_s=1.1, at_s=float("inf"))
    assert (await served_by(unfit, rank=True))["path"] == "secondary"
    assert await served_by(unfit) == {"level": "healthy"}
