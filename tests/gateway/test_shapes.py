"""Every shape of response against OpenAI's own published types."""

import json

import pytest
from pydantic import BaseModel
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, dies, running, says, streams

openai_chat = pytest.importorskip("openai.types.chat")
from openai.types import ErrorObject, Model  # noqa: E402

GOOD = "Paris is the capital of France."
CONTEXT = "Opened software cannot be returned for a refund. The shop is in Paris.\n\nCan I return opened software?"
CALLS = [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


def conforms(body, kind: type[BaseModel]):
    """Valid by the published type, required fields and literals included."""
    kind.model_validate(body, strict=True)


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
    conforms(whole.json, openai_chat.ChatCompletion)
    if case == "structured":
        conforms(streamed.events[0]["error"], ErrorObject)
        return
    assert streamed.events[-1] == "[DONE]"
    for event in streamed.events[:-1]:
        conforms(event, openai_chat.ChatCompletionChunk)


async def test_tool_calls_that_were_collected_have_openais_shape():
    delta = [{"index": 0, **CALLS[0]}]
    script = streams(chunk(role="assistant", content=""), chunk(tool_calls=delta), chunk(finish="tool_calls"), "[DONE]")
    async with running(script) as up, gateway(backend(up, "primary", upstream_stream="always")) as served:
        answer = await served.chat(tools=[{"type": "function", "function": {"name": "f"}}])
    conforms(answer.json, openai_chat.ChatCompletion)
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


async def test_a_stream_that_breaks_ends_with_openais_error_object():
    async with running(streams(chunk("Paris is "), chunk("the"))) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
    for event in answer.events[:-1]:
        conforms(event, openai_chat.ChatCompletionChunk)
    conforms(answer.events[-1]["error"], ErrorObject)


async def test_the_list_of_models_has_openais_shape():
    async with running(answers(completion())) as up, gateway(backend(up, "primary")) as served:
        listed = (await served.request("GET", "/v1/models")).json
    assert listed["object"] == "list"
    for model in listed["data"]:
        conforms(model, Model)
    assert json.dumps(listed)
