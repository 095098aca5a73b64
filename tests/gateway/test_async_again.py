"""A request for later that meets an obstacle which passes is asked again, and one that would meet it again is not."""

import asyncio

import pytest
from served import backend, gateway
from test_async_answers import CLOCK, GOOD, TREE, ask, deferred, fetched, slow
from upstream_stub import answers, dies, running, says

from gateway.answers.completion import prepared
from gateway.deferred.again import Again
from gateway.pipeline import Reply
from gateway.record import Attempt, DegradationRecord, Level, Reason

FAILS = answers({"error": "broken"}, 500)


def attempt(reason, *, outcome="failed"):
    return Attempt(path="primary", outcome=outcome, reason=reason)


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
    ],
    ids=["an answer", "of the request", "a mistake", "a mistake elsewhere", "a manifest"],
)
def test_what_would_not_change_is_final(final):
    assert Again().pause_s(final) is None
