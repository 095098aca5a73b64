"""A request for later that meets an obstacle which passes is asked again, and one that would meet it again is not."""

import asyncio

import pytest
from served import backend, gateway, policy_of
from test_async_answers import CLOCK, GOOD, TREE, ask, deferred, fetched, slow
from upstream_stub import answers, dies, hangs, running, says

from gateway.answers.completion import prepared
from gateway.deferred.again import Again
from gateway.pipeline import Reply
from gateway.record import Attempt, DegradationRecord, Level, Reason

FAILS = answers({"error": "broken"}, 500)


UNKNOWN_FIELD = {"message": "Unsupported parameter: 'max_tokens'", "param": "max_tokens", "code": "unknown_parameter"}


def attempt(reason, *, outcome="failed", path="primary"):
    return Attempt(path=path, outcome=outcome, reason=reason)


def abstention(*attempts, reasons=(), policy=None, retry_after_s=None):
    record = DegradationRecord(
        level=Level.CRITICAL, path="template", reasons=reasons, attempts=attempts, abstained=True, policy=policy
    )
    return Reply(status=200, record=record, completion=prepared("Sorry.", path="template"), retry_after_s=retry_after_s)


@pytest.mark.slow
@pytest.mark.parametrize(
    "obstacle", [FAILS, answers({}, 429), dies()], ids=["fails", "asks for less", "breaks off once"]
)
async def test_an_outage_that_passes_costs_nobody_the_answer(tmp_path, obstacle):
    async with (
        asyncio.timeout(60),
        running(obstacle) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        accepted = await ask(served)
        while not up.seen:
            await CLOCK.sleep(0.01)
        up.script = says(GOOD)
        answer = await fetched(served, accepted)
        assert (answer.status, answer.text, "abstained" in answer.record) == (200, GOOD, False)


@pytest.mark.slow
async def test_a_gateway_that_stops_between_two_tries_keeps_the_request(tmp_path):
    config = deferred(tmp_path)
    async with asyncio.timeout(60), running(FAILS) as up:
        async with gateway(backend(up, "primary"), policy=TREE, deferred=config) as served:
            slow(served)
            accepted = await ask(served)
            while len(up.seen) < 2:
                await CLOCK.sleep(0.01)
        up.script = says(GOOD)
        async with gateway(backend(up, "primary"), policy=TREE, deferred=config) as served:
            assert (await fetched(served, accepted)).text == GOOD


@pytest.mark.slow
async def test_a_request_that_was_deleted_is_asked_for_no_more(tmp_path):
    async with (
        asyncio.timeout(60),
        running(FAILS) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        first = await ask(served, "What was first?")
        while not up.seen:
            await CLOCK.sleep(0.01)
        slow(served)
        second = await ask(served, "What is second?")
        await served.request("DELETE", first.headers["Location"])
        up.script = says(GOOD)
        assert (await fetched(served, second)).text == GOOD
        assert [body["messages"][0]["content"] for body in up.seen] == ["What was first?", "What is second?"]


async def test_what_would_come_to_the_same_again_is_told_at_once(tmp_path):
    async with (
        asyncio.timeout(60),
        running(says("not JSON")) as up,
        gateway(backend(up, "primary"), policy=TREE, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        answer = await fetched(served, await ask(served, response_format={"type": "json_object"}))
        assert "schema_violated" in answer.record["reasons"]
        assert len(up.seen) == 1


def test_an_obstacle_that_may_pass_is_waited_for_ever_longer():
    again = Again()
    failed = abstention(attempt(Reason.BACKEND_ERROR), attempt(Reason.UNGROUNDED))
    assert [again.pause_s(failed) for _ in range(7)] == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert Again().pause_s(abstention(reasons=(Reason.HEALTH_LEVEL,))) == 0.5
    assert Again().pause_s(abstention(attempt(Reason.BACKPRESSURE, outcome="refused"), retry_after_s=30)) == 30


@pytest.mark.parametrize("reasons", [[Reason.HEALTH_LEVEL], [Reason.DECISION], [Reason.DRAINING, Reason.POLICY]])
def test_words_without_a_model_that_stand_in_for_one_are_not_final(reasons):
    again = Again()
    assert None not in [again.pause_s(abstention(reasons=tuple(reasons))) for _ in range(9)]


def test_a_request_that_may_be_what_kills_is_asked_twice_at_most():
    again = Again()
    died = abstention(attempt(Reason.CONNECTION_FAILED, outcome="indeterminate"))
    assert again.pause_s(died) == 10.0
    assert again.pause_s(abstention(attempt(Reason.CONNECTION_FAILED, outcome="refused"))) is not None
    assert again.pause_s(died) is None


@pytest.mark.parametrize(
    "final",
    [
        Reply(status=200, record=DegradationRecord(level=Level.HEALTHY), completion=prepared(GOOD, path="primary")),
        abstention(attempt(Reason.UNGROUNDED), attempt(Reason.CONTEXT_TOO_LONG)),
        abstention(attempt(Reason.INTERNAL_ERROR, outcome="indeterminate")),
        abstention(reasons=(Reason.INTERNAL_ERROR,)),
        abstention(policy="a-manifest"),
        abstention(reasons=(Reason.POLICY,)),
        abstention(reasons=(Reason.DECISION, Reason.POLICY)),
    ],
    ids=[
        "an answer",
        "of the request",
        "a mistake",
        "a mistake elsewhere",
        "a manifest",
        "the order",
        "a ranked order",
    ],
)
def test_what_would_not_change_is_final(final):
    assert Again().pause_s(final) is None


@pytest.mark.parametrize("reason", [Reason.INVALID_OUTPUT, Reason.TOKENS_MISMATCH, Reason.SEMANTIC_GATE])
def test_an_answer_that_is_hardly_better_next_time_is_asked_for_twice(reason):
    again = Again()
    in_vain = abstention(attempt(reason), attempt(Reason.UNGROUNDED, path="secondary"))
    assert again.pause_s(in_vain) is not None
    assert again.pause_s(in_vain) is None
    again = Again()
    elsewhere = abstention(attempt(reason), attempt(Reason.BREAKER_OPEN, outcome="refused", path="secondary"))
    assert None not in [again.pause_s(elsewhere) for _ in range(9)]


def test_what_takes_longer_than_it_may_is_worked_on_twice_whatever_others_say():
    again = Again()
    late = attempt(Reason.TIMEOUT, outcome="indeterminate")
    other = attempt(Reason.BREAKER_OPEN, outcome="refused", path="secondary")
    never_there = abstention(attempt(Reason.TIMEOUT, outcome="refused"))
    assert None not in [again.pause_s(one) for one in (never_there, abstention(late, other), never_there)]
    assert again.pause_s(abstention(late, other)) is None


def test_a_refusal_that_lasts_is_met_twice_and_a_failure_of_the_moment_as_often_as_there_is_time():
    again = Again()
    refused = abstention(attempt(Reason.BACKEND_ERROR), attempt(Reason.BACKEND_ERROR, path="secondary"))
    assert None not in [again.pause_s(refused, lasting={"primary"}) for _ in range(9)]
    assert again.pause_s(refused, lasting={"primary", "secondary"}) is not None
    assert again.pause_s(refused, lasting={"primary", "secondary"}) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [answers({}, 401), answers({}, 404), answers({"error": UNKNOWN_FIELD}, 400), answers({"choices": []}), hangs()],
    ids=["key", "model", "field", "no answer", "late"],
)
async def test_a_hopeless_request_does_not_keep_the_next_from_its_turn(tmp_path, script):
    policy = policy_of(decision={"apply": "always"}, limits={"default": {"first_token_s": 0.4, "total_s": 0.4}})
    async with (
        asyncio.timeout(60),
        running(script) as up,
        gateway(backend(up, "primary"), policy=policy, deferred=deferred(tmp_path), tick_s=3600.0) as served,
    ):
        slow(served)
        answer = await fetched(served, await ask(served))
        assert answer.record["abstained"]
        assert len(up.seen) == 2


@pytest.mark.slow
async def test_a_400_of_another_backend_than_the_target_lasts_too(tmp_path):
    async with (
        asyncio.timeout(60),
        running(answers({}, 404)) as first,
        running(answers({"error": "no"}, 422)) as second,
        gateway(
            *[backend(first, "primary"), backend(second, "secondary")],
            policy=TREE,
            deferred=deferred(tmp_path),
            tick_s=3600.0,
        ) as served,
    ):
        slow(served)
        assert (await fetched(served, await ask(served))).record["abstained"]
        assert (len(first.seen), len(second.seen)) == (2, 2)


@pytest.mark.slow
async def test_words_that_the_order_puts_before_every_backend_are_fetched_at_once(tmp_path):
    template = {"lang": "en", "text": "Nobody may say."}
    policy = policy_of(
        decision={"apply": "always"}, paths={"order": ["template", "primary", "structured"]}, templates=[template]
    )
    async with (
        asyncio.timeout(60),
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=policy, deferred=deferred(tmp_path)) as served,
    ):
        slow(served)
        answer = await fetched(served, await ask(served))
        assert (answer.record["path"], answer.record["reasons"], up.seen) == ("template", ["policy"], [])
