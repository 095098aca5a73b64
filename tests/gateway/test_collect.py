"""A backend that is asked for a stream on behalf of a JSON client: the same answer, limits and cancelling."""

import asyncio
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, hangs, running, says, streams, text_events

from gateway.answers.validate import is_blank
from gateway.backends.collect import Collector
from gateway.backends.stream import StreamReader
from gateway.clock import SystemClock
from gateway.errors import UpstreamError
from gateway.policy import Breaker

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}


async def collected(*events):
    collector, reader = Collector(), StreamReader(max_bytes=100_000, done_required=False)
    for event in events:
        await collector.take(reader.feed(b"data: " + json.dumps(event).encode() + b"\n\n"))
    reader.end()
    return collector.completion(reader)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(parts=st.lists(TEXTS, min_size=1, max_size=8).filter(lambda parts: not is_blank("".join(parts))))
async def test_a_collected_text_is_the_json_answer(parts):
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    last = {**chunk(finish="stop"), "usage": usage}
    answer = await collected(chunk(role="assistant", content=""), *[chunk(part) for part in parts], last)
    expected = completion("".join(parts))
    assert answer.body["choices"][0].pop("logprobs") is None
    assert answer.body == expected
    assert (answer.text, answer.completion_tokens, answer.finish_reason) == ("".join(parts), 5, "stop")


@pytest.mark.parametrize("cut", range(1, len(CALL["function"]["arguments"])))
async def test_collected_tool_calls_are_whole_and_in_order(cut):
    arguments = CALL["function"]["arguments"]
    first = {"index": 0, **CALL, "function": {"name": "weather", "arguments": arguments[:cut]}}
    rest = {"index": 0, "function": {"arguments": arguments[cut:]}}
    second = {"index": 1, **CALL, "id": "call_2"}
    answer = await collected(
        chunk(role="assistant", content=""),
        chunk(tool_calls=[first]),
        chunk(tool_calls=[second]),
        chunk(tool_calls=[rest]),
        chunk(finish="tool_calls"),
    )
    message = answer.body["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "call_2"}]}
    assert answer.calls_tools


async def test_logprobs_and_reasoning_are_continued():
    one, two = chunk("Pa", reasoning="be"), chunk("ris", reasoning="cause")
    one["choices"][0]["logprobs"] = {"content": [{"token": "Pa"}]}
    two["choices"][0]["logprobs"] = {"content": [{"token": "ris"}]}
    choice = (await collected(one, two, chunk(finish="stop"))).body["choices"][0]
    assert choice["message"]["reasoning"] == "because"
    assert choice["logprobs"] == {"content": [{"token": "Pa"}, {"token": "ris"}]}


@pytest.mark.parametrize("events", [[chunk(finish="stop")], [chunk("  "), chunk(finish="stop")]])
async def test_a_stream_without_content_is_no_json_answer(events):
    with pytest.raises(UpstreamError):
        await collected(*events)


@pytest.mark.parametrize(("setting", "engine", "streams_it"), [
    ("auto", "transformers", True),
    ("auto", "vllm", False),
    ("always", "vllm", True),
    ("as_asked", "transformers", False),
])  # fmt: skip
async def test_the_setting_decides_how_the_backend_is_asked(setting, engine, streams_it):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", upstream_stream=setting, engine=engine)) as served,
    ):
        answer = await served.chat()
    assert (answer.text, answer.record, answer.json["object"]) == (GOOD, {"level": "healthy"}, "chat.completion")
    assert bool(up.seen[0].get("stream")) is streams_it


@pytest.mark.parametrize("script", [hangs(), streams(chunk("Par"), hold=30.0), streams(chunk("Par"))])
async def test_silence_and_a_cut_end_the_try_of_a_json_client_too(script):
    slow = {"default": {"first_token_s": 0.2, "idle_s": 0.1, "total_s": 20.0}}
    policy = policy_of(limits=slow, deadline={"request_s": 30.0})
    async with (
        running(script) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary", upstream_stream="always"), backend(good, "secondary"), policy=policy) as served,
    ):
        answer = await served.chat()
        assert (answer.text, answer.record["path"]) == (GOOD, "secondary")
        assert answer.record["attempts"][0]["duration_ms"] < 5000  # not the 20 s of the whole
        while bad.open_calls:
            await CLOCK.sleep(0.005)  # the call is given up there, too


async def test_a_json_client_that_leaves_cancels_the_stream_upstream():
    patient = policy_of(limits={"default": {"first_token_s": 60.0, "idle_s": 60.0, "total_s": 60.0}})
    async with (
        running(streams(*[chunk("word ") for _ in range(3)], hold=60.0)) as up,
        gateway(backend(up, "primary", engine="transformers"), policy=patient) as served,
    ):
        task = asyncio.create_task(served.chat())
        while not up.seen:
            await CLOCK.sleep(0.005)
        task.cancel()
        while served.runtime.backends["primary"].lane.view().running:
            await CLOCK.sleep(0.005)


async def test_a_listed_header_reaches_the_backend_and_no_other_does():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        headers = {"X-Truefall-Trial": "7f/3", "X-Secret": "mine", "Authorization": "Bearer mine"}
        assert (await served.post("/v1/chat/completions", body, **headers)).status == 200
    assert "x-truefall-trial: 7f/3" in up.heads[0].lower()
    assert "mine" not in up.heads[0]


async def test_background_probes_stream_and_close_the_breaker():
    policy = msgspec.structs.replace(policy_of(), breaker=Breaker(consecutive_failures=1, open_s=0.05))
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary", engine="transformers"), policy=policy) as served,
    ):
        await served.chat()
        up.script = streams(*text_events("ok"))
        while served.runtime.backends["primary"].breaker.state != "closed":
            await CLOCK.sleep(0.01)
        assert up.seen[-1]["stream"] is True
        assert up.seen[-1]["max_tokens"] == 1
