"""A backend that answers with one JSON object although it was asked for a stream: its answer counts as any other."""

import json

import pytest
from served import backend, gateway
from upstream_stub import answers, completion, raw, running, says

from gateway.backends.stream import StreamReader

GOOD = "Paris is the capital of France."
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object", "required": ["city"]}}}
PRETTY = json.dumps(completion(GOOD), indent=2).encode()


def ends_badly():
    body = completion(GOOD)
    body["choices"][0]["finish_reason"] = "error"
    return answers(body)


@pytest.mark.parametrize(
    "script",
    [
        answers(completion(GOOD)),
        raw(200, PRETTY, "Content-Type: application/json; charset=utf-8"),
        raw(200, b"\xef\xbb\xbf" + PRETTY),
        raw(200, PRETTY, "Content-Type: text/event-stream"),
    ],
    ids=["plain", "pretty", "byte order mark, no type", "called a stream"],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_the_answer_is_taken_and_streamed_where_a_stream_was_asked_for(script, stream):
    async with running(script) as up, gateway(backend(up, "primary", upstream_stream="always")) as served:
        answer = await served.chat(stream=stream, stream_options={"include_usage": True} if stream else None)
        metrics = (await served.request("GET", "/metrics")).body.decode()
    assert up.seen[0]["stream"] is True
    assert "stream_cut" not in metrics
    if not stream:
        assert (answer.text, answer.record) == (GOOD, {"level": "healthy"})
        return
    assert (answer.streamed_text, answer.streamed_record) == (GOOD, {"level": "healthy"})
    assert answer.events[-1] == "[DONE]"
    assert answer.events[-2]["usage"] == completion()["usage"]
    assert {event["object"] for event in answer.events[:-1]} == {"chat.completion.chunk"}


async def test_its_tool_calls_are_streamed_with_their_index():
    body = completion(None, tool_calls=[CALL, {**CALL, "id": "c2"}])
    async with running(answers(body)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, tools=TOOLS)
    calls = answer.events[0]["choices"][0]["delta"]["tool_calls"]
    assert calls == [{"index": 0, **CALL}, {"index": 1, **CALL, "id": "c2"}]
    assert answer.streamed_record == {"level": "healthy"}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (answers(completion("")), "invalid_output"),
        (answers({"error": {"message": "no"}}), "invalid_output"),
        (answers({"error": {"message": "CUDA out of memory"}}), "out_of_memory"),
        (raw(200, PRETTY[: len(PRETTY) // 2]), "invalid_output"),
        (ends_badly(), "invalid_output"),
        (answers(completion('{"town": "Paris"}')), "schema_violated"),
    ],
    ids=["blank", "error", "memory", "half", "bad end", "schema"],
)
async def test_it_is_checked_as_any_other_before_a_byte_is_shown(script, reason):
    fields = {"response_format": SCHEMA} if reason == "schema_violated" else {}
    text = '{"city": "Paris"}'
    async with (
        running(script) as bad,
        running(says(text)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(stream=True, **fields)
    assert answer.streamed_text == text
    assert answer.streamed_record["path"] == "secondary"
    assert answer.streamed_record["reasons"] == [reason]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_blanks_before_the_answer_are_neither_events_nor_a_sign_of_life(size):
    data = b"\n \n" * 5 + PRETTY
    reader = StreamReader(max_bytes=10_000, done_required=True)
    alive = []
    for at in range(0, len(data), size):
        assert reader.feed(data[at : at + size]) == []
        alive.append(reader.is_opening)
    reader.end()
    assert json.loads(reader.whole) == completion(GOOD)
    assert alive == [at + size > 15 for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_events_after_a_line_that_only_looks_like_json_are_still_events(size):
    data = b'{"id": "x"}\n\ndata: {"choices": [{"delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n'
    reader = StreamReader(max_bytes=10_000, done_required=True)
    pieces = [piece for at in range(0, len(data), size) for piece in reader.feed(data[at : at + size])]
    assert [piece.text for piece in pieces] == ["hi"]
    assert (reader.whole, reader.bad_lines, reader.done) == (None, 1, True)
