"""Whatever a backend fills OpenAI's fields with: a client gets their published shape, and no record but ours."""

import json

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from published import conforms
from served import backend, gateway
from upstream_stub import answers, chunk, completion, running, streams

GOOD = "Paris is the capital of France."
FORGED = {"level": "healthy", "path": "FORGED"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "look"}}]

OUTER = [
    *[{"id": value} for value in (None, 7, "", [])],
    *[{"object": value} for value in (None, 7, "text_completion")],
    *[{"created": value} for value in (None, "x", 1.5, True, -1)],
    *[{"model": value} for value in (None, 7, "", {})],
    *[
        {"usage": value}
        for value in (7, "x", [], {}, {"prompt_tokens": "5"}, {"prompt_tokens": 5, "completion_tokens": 5})
    ],
    {"usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": None, "prompt_tokens_details": 7}},
    {"service_tier": 7, "system_fingerprint": []},
    {"degradation": FORGED},
    {"degradation": "x", "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10, "degradation": 1}},
]
CHOICE = [
    *[{"index": value} for value in (None, "0", -1)],
    *[{"finish_reason": value} for value in ("eos_token", "end_turn")],
    *[{"logprobs": value} for value in ("x", [])],
    {"degradation": FORGED},
]


def ids(cases):
    return [json.dumps(case)[:60] for case in cases]


def without(body, field):
    return {key: value for key, value in body.items() if key != field}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("odd", [*OUTER, *CHOICE], ids=ids([*OUTER, *CHOICE]))
async def test_what_does_not_fit_is_replaced_and_the_answer_is_healthy(odd, stream):
    in_choice = odd in CHOICE

    def bent(body, *, end=True):
        if not in_choice:
            return {**body, **odd}
        mine = odd if end else without(odd, "finish_reason")
        return {**body, "choices": [{**body["choices"][0], **mine}]}

    if stream:
        script = streams(bent(chunk("Paris "), end=False), chunk("it is."), bent(chunk(finish="stop")), "[DONE]")
    else:
        script = answers(bent(completion("Paris it is.")))
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=stream, stream_options={"include_usage": True} if stream else None)
    assert b"FORGED" not in answer.body
    if not stream:
        conforms(answer.json, ChatCompletion)
        assert (answer.text, answer.record) == ("Paris it is.", {"level": "healthy"})
        return
    assert (answer.streamed_text, answer.streamed_record) == ("Paris it is.", {"level": "healthy"})
    for event in answer.events[:-1]:
        conforms(event, ChatCompletionChunk)
    assert sum("degradation" in event for event in answer.events[:-1]) == 1


@pytest.mark.parametrize("field", ["id", "object", "created", "model", "usage"])
async def test_what_is_left_out_of_a_stream_is_the_same_in_all_its_chunks(field):
    events = [without(chunk(text), field) for text in ("Paris ", "it is.")]
    script = streams(*events, without(chunk(finish="stop"), field), "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
    assert len({(event["id"], event["model"]) for event in answer.events[:-1]}) == 1
    for event in answer.events[:-1]:
        conforms(event, ChatCompletionChunk)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("reason", "told"), [("max_tokens", "length"), ("eos", "stop"), ("stop", "stop")])
async def test_another_engines_word_for_the_end_becomes_openais(reason, told, stream):
    whole = completion(GOOD)
    whole["choices"][0]["finish_reason"] = reason
    script = streams(chunk(GOOD), chunk(finish=reason), "[DONE]") if stream else answers(whole)
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=stream)
    body = answer.events[-2] if stream else answer.json
    assert body["choices"][0]["finish_reason"] == told


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", ""),
        ("model", ""),
        ("created", -1),
        ("usage", {"prompt_tokens": -1, "completion_tokens": 1, "total_tokens": 1}),
        (
            "usage",
            {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "degradation": {"level": "critical"}},
        ),
    ],
)
async def test_a_chunk_of_the_right_types_and_wrong_values_is_mended_too(field, value):
    script = streams(*[{**one, field: value} for one in (chunk(GOOD), chunk(finish="stop"))], "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, stream_options={"include_usage": True})
    assert answer.streamed_text == GOOD
    for event in answer.events[:-1]:
        assert event.get(field) != value
        assert "degradation" not in (event.get("usage") or {})


async def test_a_called_tool_ends_a_stream_with_a_tool_call_whatever_the_engines_word_is():
    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    script = streams(chunk(tool_calls=[call]), chunk(finish="eos_token"), "[DONE]")
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, tools=[tool])
    assert answer.events[-2]["choices"][0]["finish_reason"] == "tool_calls"


async def test_a_second_choice_that_nobody_checked_is_not_passed_on():
    body = completion(GOOD)
    body["choices"].append({"index": 1, "message": {"role": "assistant", "content": None}, "finish_reason": "error"})
    async with running(answers(body)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat()
    assert [choice["index"] for choice in answer.json["choices"]] == [0]
    assert answer.record == {"level": "healthy"}


async def test_tool_calls_get_the_ids_and_types_that_they_lack():
    calls = [{"function": {"name": "look", "arguments": None}}, {**CALL, "id": 7, "type": None}]
    body = completion(None, tool_calls=calls, role="tool")
    async with running(answers(body)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(tools=TOOLS)
    conforms(answer.json, ChatCompletion)
    assert answer.record == {"level": "healthy"}


async def test_a_record_in_the_middle_of_a_stream_is_heeded_and_not_shown():
    inner = {"level": "degraded", "path": "FORGED", "reasons": ["timeout"]}
    script = streams({**chunk("Paris "), "degradation": inner}, chunk("it is."), chunk(finish="stop"), "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
    assert b"FORGED" not in answer.body
    assert answer.streamed_record["reasons"] == ["backend_degraded"]


async def test_a_backends_headers_of_a_records_name_reach_no_client():
    forged = ("x-degradation-level: critical", "x-degradation-path: FORGED", "x-degrade-reason: FORGED")
    async with running(answers(completion(GOOD), 200, *forged)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat()
    assert answer.headers["x-degradation-level"] == "healthy"
    assert not any("FORGED" in value for value in answer.headers.values())


async def test_a_chunk_of_openais_own_shape_is_passed_on_to_the_byte():
    event = {**chunk("Pa ris"), "x_unknown": [1, {"y": None}]}
    async with running(streams(event, chunk(finish="stop"), "[DONE]")) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
    assert f"data: {json.dumps(event)}\n\n".encode() in answer.body
