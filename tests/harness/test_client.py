"""The client of a trial: what it makes of whatever a server sends, over real sockets."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from gateway.clock import SystemClock
from harness.client import MOST_LEFT_OUT, GatewayClient, Observation, take_chunk
from harness.trial import Outcome

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[GatewayClient]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    running: list[web.AppRunner] = []
    clients: list[GatewayClient] = []

    async def start(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> GatewayClient:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        running.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        clients.append(GatewayClient(f"http://{host}:{port}", clock=SystemClock(), timeout_s=60))
        return clients[-1]

    yield start
    for client in clients:
        await client.close()
    for runner in running:
        await runner.cleanup()


def sse(*events: object, done: bool = True) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        if done:
            await response.write(b"data: [DONE]\n\n")
        return response

    return answer


def body(content: object, status: int = 200) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(content, status=status)

    return answer


def chunk(text: str, **more: object) -> dict[str, object]:
    return {"model": "m", "choices": [{"delta": {"content": text}, "finish_reason": None}], **more}


async def test_a_whole_answer_is_ok_and_carries_its_record(serve):
    client = await serve(
        body(
            {
                "model": "m",
                "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
                "degradation": {"level": "healthy"},
            }
        )
    )
    seen = await client.ask({}, trial_id="t")
    assert (seen.outcome, seen.answer, seen.record, seen.model) == (Outcome.OK, "Yes.", {"level": "healthy"}, "m")
    assert seen.latency_ms > 0


async def test_a_stream_is_put_together_and_its_first_token_timed(serve):
    client = await serve(sse(chunk("Ye"), chunk("s.", degradation={"level": "healthy"})))
    seen = await client.ask({}, trial_id="t")
    assert (seen.outcome, seen.answer, seen.record) == (Outcome.OK, "Yes.", {"level": "healthy"})
    assert 0 < seen.ttft_ms <= seen.latency_ms


async def test_a_stream_that_just_ends_is_unanswered(serve):
    client = await serve(sse(chunk("Ye"), done=False))
    assert (await client.ask({}, trial_id="t")).outcome is Outcome.UNANSWERED


async def test_a_stream_that_says_that_it_failed_is_degraded(serve):
    client = await serve(
        sse(chunk("Ye"), {"error": {"message": "cut"}, "degradation": {"level": "critical"}}, done=False)
    )
    seen = await client.ask({}, trial_id="t")
    assert (seen.outcome, seen.error) == (Outcome.DEGRADED, "cut")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (206, Outcome.DEGRADED),
        (429, Outcome.REFUSED),
        (400, Outcome.REJECTED),
        (500, Outcome.FAILED),
        (503, Outcome.FAILED),
    ],
)
async def test_a_status_says_what_became_of_the_request(serve, status, outcome):
    client = await serve(body({"error": {"message": "no"}, "suggestion": "later"}, status=status))
    assert (await client.ask({}, trial_id="t")).outcome is outcome


async def test_a_200_without_an_answer_is_a_failure(serve):
    client = await serve(body({"choices": []}))
    assert (await client.ask({}, trial_id="t")).outcome is Outcome.FAILED


async def test_a_body_that_is_not_json_is_unanswered(serve):
    async def html(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>", content_type="text/html")

    client = await serve(html)
    seen = await client.ask({}, trial_id="t")
    assert seen.outcome is Outcome.UNANSWERED
    assert "not JSON" in seen.error


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        (None, Outcome.FAILED),
        ([], Outcome.FAILED),
        ("busy", Outcome.FAILED),
        ({"choices": [None]}, Outcome.FAILED),
        ({"choices": [{"delta": "hi"}]}, Outcome.FAILED),
        ({"error": "boom"}, Outcome.FAILED),
        ({"error": "boom", "degradation": {"level": "critical"}}, Outcome.DEGRADED),
        ({"choices": [None], "degradation": {"level": "critical"}}, Outcome.FAILED),
    ],
)
async def test_a_stream_with_an_event_that_is_no_chunk_fails_and_says_why(serve, event, outcome):
    client = await serve(sse(chunk("Ye"), event))
    seen = await client.ask({}, trial_id="t")
    assert seen.outcome is outcome
    assert seen.wrong


@pytest.mark.parametrize("content", [None, [], "busy", {"choices": [None]}, {"error": "busy"}])
async def test_a_body_that_is_no_chat_completion_fails_and_says_why(serve, content):
    client = await serve(body(content))
    seen = await client.ask({}, trial_id="t")
    assert seen.outcome is Outcome.FAILED
    assert seen.wrong


async def test_an_event_of_any_length_is_read(serve):
    text = "x" * 2_000_000
    client = await serve(sse(chunk(text)))
    seen = await client.ask({}, trial_id="t")
    assert (seen.outcome, seen.answer) == (Outcome.OK, text)


async def test_a_server_that_is_not_there_is_unanswered():
    client = GatewayClient("http://127.0.0.1:9", clock=SystemClock(), timeout_s=2)
    seen = await client.ask({}, trial_id="t")
    await client.close()
    assert seen.outcome is Outcome.UNANSWERED
    assert seen.error


def test_of_what_a_stream_leaves_out_each_field_is_told_once_and_not_without_end():
    seen = Observation(status=200, complete=True)
    for number in range(3000):
        take_chunk(json.dumps({"model": number, "degradation": {"path": number}}).encode(), seen)
    assert seen.left_out == ["model is 0; need a text", "degradation.path is 0; need a text"]
    for number in range(300):
        choices = [{}] * number + [{"finish_reason": number}]
        take_chunk(json.dumps({"choices": choices}).encode(), seen)
    assert len(seen.left_out) == MOST_LEFT_OUT
    assert seen.left_out[0] == "model is 0; need a text"
