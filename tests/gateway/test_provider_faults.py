"""G1 to G6: a backend that answers 200 and yet does not answer, as JSON and as a stream."""

import json
from functools import partial

import pytest
from served import SHORT, Gateway, backend, gateway, policy_of
from upstream_stub import (
    Script,
    Writer,
    answers,
    chunk,
    completion,
    dies,
    hangs,
    raw,
    running,
    says,
    streams,
    text_events,
)

from gateway.clock import SystemClock

GOOD = "Paris is the capital of France."
ENDLESS_JSON = b'{"choices": [{"message": {"content": "' + b"x" * 20_000_000 + b'"}}]}'

BROKEN_JSON: dict[str, Script] = {
    "null": raw(200, b"null"),
    "error object": answers({"error": {"code": 502}}),
    "html": raw(200, b"<html><body>Bad gateway</body></html>", "Content-Type: text/html"),
    "half": raw(200, b'{"choices": [{"mess'),
    "no choices": answers({**completion(), "choices": []}),
    "null content": answers(completion(None)),
    "empty": answers(completion("")),
    "blank": answers(completion(" \n ")),
    "not utf-8": raw(200, b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'),
    "huge": raw(200, ENDLESS_JSON),
    "500": raw(500, b"Internal Server Error"),
    "dies": dies(),
    "hangs": hangs(),
    "finish error": answers({**completion(), "choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}),
}


def drips(*first: dict) -> Script:
    """A stalled stream that sends a chunk without content every 0.05 s, for 1.5 s, and then ends well."""

    async def dripping(writer: Writer, _: dict) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for event in [*first, *[chunk(role="assistant")] * 30, chunk("late"), chunk(finish="stop"), "[DONE]"]:
            writer.write(f"data: {event if event == '[DONE]' else json.dumps(event)}\n\n".encode())
            await writer.drain()
            await SystemClock().sleep(0.05)
        writer.close()

    return dripping


BROKEN_STREAMS: dict[str, Script] = {
    "only done": streams("[DONE]"),
    "failed event": streams({"type": "response.failed", "response": {"status": "failed"}}, "[DONE]"),
    "error event": streams({"error": {"message": "boom"}}),
    "error event with broken json": streams(b'data: {"error": "he said "no""}\n\n'),
    "named error event": streams(b'event: error\ndata: {"message": "boom"}\n\n'),
    "role only": streams(chunk(role="assistant"), chunk(finish="stop"), "[DONE]"),
    "blank": streams(chunk("  "), chunk(finish="stop"), "[DONE]"),
    "html": raw(200, b"<html></html>", "Content-Type: text/html"),
    "keep-alives only": streams(*[b": ping\n\n"] * 3, hold=30.0),
    "finish error": streams(chunk(finish="error"), "[DONE]"),
    "cut before the first token": streams(chunk(role="assistant")),
    "500": raw(500, b"Internal Server Error"),
    "dies": dies(),
    "hangs": hangs(),
}


SILENT = {"hangs", "keep-alives only", "silence", "keep-alives"}  # only a limit ends these


def two(first, second, name="", **policy) -> "object":
    if name in SILENT:
        policy["limits"] = SHORT
    return gateway(backend(first, "primary"), backend(second, "secondary"), policy=policy_of(**policy))


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN_JSON)
async def test_a_200_that_is_no_answer_is_a_failure_and_the_fallback_answers(name):
    async with running(BROKEN_JSON[name]) as bad, running(says(GOOD)) as good, two(bad, good, name) as served:
        answer = await served.chat()
        assert (answer.status, answer.text, answer.record["path"]) == (200, GOOD, "secondary")
        assert b"<html" not in answer.body
        assert len(bad.seen) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN_STREAMS)
async def test_a_stream_that_fails_before_its_first_token_moves_on_unseen(name):
    async with running(BROKEN_STREAMS[name]) as bad, running(says(GOOD)) as good, two(bad, good, name) as served:
        answer = await served.chat(stream=True)
        assert (answer.status, answer.streamed_text) == (200, GOOD)
        assert answer.events[-1] == "[DONE]"
        assert answer.streamed_record["path"] == "secondary"
        assert answer.events[-2]["degradation"] == answer.streamed_record
        assert answer.headers["x-degradation-path"] == "secondary"


CUT = [chunk("word "), *[chunk(f"{i} ") for i in range(39)]]
late = partial(streams, pause_after=len(CUT[:20]))
LATE_FAILURES: dict[str, Script] = {
    "cut": late(*CUT),
    "cut after a clean http end": late(*CUT, cut=False),
    "silence": late(*CUT[:20], hold=30.0),
    "keep-alives": late(*CUT[:20], *[b": ping\n\n"] * 5, hold=30.0),
    "error event": late(*CUT, {"error": {"message": "CUDA out of memory"}}),
    "done without finish": late(*CUT, "[DONE]"),
    "finish without done": late(*CUT, chunk(finish="stop")),
    "malformed line": late(*CUT, b'data: {"choices": [{"del\n\n', chunk("end."), chunk(finish="stop"), "[DONE]"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LATE_FAILURES)
async def test_a_stream_that_fails_after_its_first_token_never_ends_cleanly(name):
    async with running(LATE_FAILURES[name]) as bad, running(says(GOOD)) as good, two(bad, good, name) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text.startswith("word ")
        assert "[DONE]" not in answer.events
        assert answer.events[-1]["error"]["code"] == answer.streamed_record["reasons"][-1]
        assert not any(event.get("choices") and event["choices"][0]["finish_reason"] for event in answer.events)
        assert good.seen == []
        assert (await breaker_failures(served)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", LATE_FAILURES)
async def test_a_held_stream_that_fails_is_a_whole_answer_of_the_fallback(name):
    hold = {"paths": {"stream_failover": "hold_all"}}
    async with running(LATE_FAILURES[name]) as bad, running(says(GOOD)) as good, two(bad, good, name, **hold) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text == GOOD
        assert answer.events[-1] == "[DONE]"
        assert answer.streamed_record["path"] == "secondary"


async def breaker_failures(served: Gateway) -> int:
    return served.runtime.backends["primary"].breaker._failures


@pytest.mark.slow
@pytest.mark.parametrize("began", [(), (chunk("word "),)])
async def test_chunks_without_content_do_not_keep_a_stalled_stream_open(began):
    limits = {"default": {"first_token_s": 0.4, "idle_s": 0.4, "total_s": 10.0}}
    async with running(drips(*began)) as bad, running(says(GOOD)) as good, two(bad, good, limits=limits) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_record["reasons"] == ["timeout"]
        assert "late" not in answer.streamed_text


async def test_a_line_that_is_no_sse_field_is_skipped():
    script = streams(chunk("Hello "), b"nonsense\n\n", chunk("world."), chunk(finish="stop"), "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text == "Hello world."
        assert answer.streamed_record == {"level": "healthy"}


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
async def test_an_engine_that_never_sends_done_ends_with_its_finish_reason(engine):
    script = streams(*text_events(GOOD)[:-2], cut=False)
    async with running(script) as up, gateway(backend(up, "primary", engine=engine)) as served:
        answer = await served.chat(stream=True)
        assert (answer.events[-1] == "[DONE]") is (engine == "transformers")


async def test_null_content_with_tool_calls_or_a_refusal_is_an_answer():
    calls = [{"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 7}'}}]
    for message in ({"tool_calls": calls}, {"refusal": "I must not."}):
        async with running(answers(completion(None, **message))) as up, gateway(backend(up, "primary")) as served:
            answer = await served.chat(tools=[{"type": "function", "function": {"name": "look_up"}}])
            assert answer.record == {"level": "healthy"}
            assert {key: answer.json["choices"][0]["message"][key] for key in message} == message


async def test_a_tool_call_with_half_of_its_arguments_is_no_answer():
    calls = [{"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": '}}]
    async with (
        running(answers(completion(None, tool_calls=calls))) as bad,
        running(says(GOOD)) as good,
        two(bad, good) as served,
    ):
        assert (await served.chat()).record["reasons"] == ["invalid_output"]


async def test_streamed_tool_calls_pass_through_whole():
    parts = [
        chunk(
            tool_calls=[{"index": 0, "id": "1", "type": "function", "function": {"name": "look_up", "arguments": ""}}]
        ),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"order"'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": ": 7}"}}]),
        chunk(finish="tool_calls"),
        "[DONE]",
    ]
    async with running(streams(*parts)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, tools=[{"type": "function", "function": {"name": "look_up"}}])
        deltas = [event["choices"][0]["delta"] for event in answer.events[:-1]]
        arguments = [delta["tool_calls"][0]["function"]["arguments"] for delta in deltas if delta.get("tool_calls")]
        assert "".join(arguments) == '{"order": 7}'
        assert answer.streamed_record == {"level": "healthy"}


async def test_the_usage_chunk_is_there_only_when_asked_for():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        without = await served.chat(stream=True)
        asked = await served.chat(stream=True, stream_options={"include_usage": True})
        assert not any("usage" in event for event in without.events[:-1])
        assert asked.events[-2]["usage"]["completion_tokens"] == 5
        assert asked.events[-2]["degradation"] == {"level": "healthy"}
        assert up.seen[0]["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("asked", [False, True])
async def test_usage_that_comes_with_the_finish_reason_is_shown_only_when_asked_for(asked):
    last = {**chunk(finish="stop"), "usage": {"prompt_tokens": 5, "completion_tokens": 5}}
    async with (
        running(streams(chunk(GOOD), last, cut=False)) as up,
        gateway(backend(up, "primary", engine="transformers")) as served,
    ):
        answer = await served.chat(stream=True, stream_options={"include_usage": asked})
        assert ("usage" in answer.events[-2]) is asked
        assert "stream_options" not in up.seen[0]
