"""Every shape of response against OpenAI's own published types."""

import json

import pytest
from openai.types import ErrorObject, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from published import conforms, has_published_shape
from served import backend, gateway, policy_of
from test_async_answers import ask, fetched, slow
from upstream_stub import answers, chunk, completion, dies, running, says, streams

from gateway.connection_limits import ConnectionLimits
from gateway.deferred.config import Deferred

GOOD = "Paris is the capital of France."
CONTEXT = "Opened software cannot be returned for a refund. The shop is in Paris.\n\nCan I return opened software?"
CALLS = [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


async def everything(script, *, policy=None, text="What is the capital?", **fields):
    """The JSON body and the stream's events of the same request."""
    async with (
        running(script) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary"), policy=policy) as served,
    ):
        whole = await served.chat(text, **fields)
        await served.admin("POST", "breaker", {"backend": "primary", "state": "closed"})
        streamed = await served.chat(text, stream=True, **fields)
    return whole, streamed


def order(*names):
    return policy_of(paths={"order": names})


CASES = {
    "healthy": (says(GOOD), None),
    "degraded": (dies(), None),
    "extract": (dies(), order("primary", "extract")),
    "template": (dies(), order("primary", "template")),
    "structured": (dies(), order("primary", "structured")),
}


@pytest.mark.parametrize("case", CASES)
async def test_answers_have_openais_shapes(case):
    script, policy = CASES[case]
    whole, streamed = await everything(script, policy=policy, text=CONTEXT)
    assert whole.record.get("path", "healthy") == ("secondary" if case == "degraded" else case)
    conforms(whole.json, ChatCompletion)
    if case == "structured":
        conforms(streamed.events[0]["error"], ErrorObject)
        return
    assert streamed.events[-1] == "[DONE]"
    for event in streamed.events[:-1]:
        conforms(event, ChatCompletionChunk)


async def test_tool_calls_that_were_collected_have_openais_shape():
    delta = [{"index": 0, **CALLS[0]}]
    script = streams(chunk(role="assistant", content=""), chunk(tool_calls=delta), chunk(finish="tool_calls"), "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary", upstream_stream="always")) as served:
        answer = await served.chat(tools=[{"type": "function", "function": {"name": "f"}}])
    conforms(answer.json, ChatCompletion)
    assert answer.json["choices"][0]["message"]["tool_calls"] == CALLS


async def test_errors_have_openais_shape():
    async with (
        running(answers({"error": {"message": "bad stop"}}, 400)) as up,
        gateway(backend(up, "primary")) as served,
    ):
        refused = [
            await served.chat(max_tokens=0),
            await served.chat(model="nobody"),
            await served.chat(),
            await served.request("GET", "/v1/nothing"),
            await served.request("GET", "/v1/chat/completions"),
            await served.request("GET", "/admin/state"),
        ]
        up.script = answers({}, 429, "Retry-After: 1")
        refused.append(await served.chat())
    assert [one.status for one in refused] == [400, 404, 400, 404, 405, 401, 429]
    for one in refused:
        conforms(one.json["error"], ErrorObject)


MISTAKES = {
    "max_tokens": ({"max_tokens": 0}, 400),
    "model": ({"model": "nobody"}, 404),
    "too large": ({"metadata": {"x": "y" * 5_000_000}}, 413),
    "the backend's own 400": ({}, 400),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", MISTAKES)
async def test_a_refused_request_for_a_stream_has_the_same_shape_as_one_for_json(name, stream):
    fields, status = MISTAKES[name]
    async with (
        running(answers({"error": {"message": "bad stop"}}, 400)) as up,
        gateway(backend(up, "primary")) as served,
    ):
        refused = await served.chat(stream=stream, **fields)
    assert refused.status == status
    assert refused.headers["Content-Type"] == "application/json"
    conforms(refused.json["error"], ErrorObject)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_429_has_openais_shape(stream):
    async with running(answers({}, 429, "Retry-After: 1")) as up, gateway(backend(up, "primary")) as served:
        refused = await served.chat(stream=stream)
    assert refused.status == 429
    conforms(refused.json["error"], ErrorObject)


START = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
CUT_OFF = {
    "408": ConnectionLimits(header_timeout_s=0.05),
    "408 in the body": ConnectionLimits(header_timeout_s=0.05, request_timeout_s=0.1),
    "431": ConnectionLimits(max_header_bytes=2048),
    "400": ConnectionLimits(),
    "429": ConnectionLimits(max_connections=1),
}
SENT = {
    "408": START,
    "408 in the body": START + b"Content-Length: 9\r\n\r\n{",
    "431": START + b"X: " + b"y" * 4096 + b"\r\n\r\n",
    "400": b"nonsense\r\n\r\n",
    "429": b"",
}


@pytest.mark.parametrize("name", CUT_OFF)
async def test_what_the_connection_itself_refuses_has_openais_shape(name):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), connections=CUT_OFF[name], tick_s=30.0) as served,
    ):
        if name == "429":
            await served.chat()  # its connection stays
        told = await served.raw(SENT[name])
    head, _, body = told.partition(b"\r\n\r\n")
    assert head.split()[1] == name[:3].encode()
    assert int(head.lower().split(b"content-length: ")[1].split()[0]) == len(body)
    conforms(json.loads(body)["error"], ErrorObject)


async def test_answers_that_come_later_have_openais_shapes(tmp_path):
    async with (
        running(says(GOOD)) as up,
        gateway(
            backend(up, "primary"),
            policy=policy_of(decision={"apply": "always"}),
            deferred=Deferred(path=tmp_path / "async.db"),
        ) as served,
    ):
        slow(served)
        conforms((await fetched(served, await ask(served))).json, ChatCompletion)
        refused = [
            await served.request("GET", "/v1/async/nobody"),
            await served.request("DELETE", "/v1/async/nobody"),
            await served.request("PUT", "/v1/async/nobody"),
        ]
    assert [one.status for one in refused] == [404, 404, 405]
    for one in refused:
        conforms(one.json["error"], ErrorObject)


async def test_a_stream_that_breaks_ends_with_openais_error_object():
    async with running(streams(chunk("Paris is "), chunk("the"))) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
    assert "error" in answer.events[-1]
    has_published_shape(answer)


async def test_the_list_of_models_has_openais_shape():
    async with running(answers(completion())) as up, gateway(backend(up, "primary")) as served:
        listed = (await served.request("GET", "/v1/models")).json
    assert listed["object"] == "list"
    for model in listed["data"]:
        conforms(model, Model)
    assert json.dumps(listed)
