"""Calls to tools that nobody offered, and no call where one was asked for: no answer, on whichever way it came."""

import json

import pytest
from openai.types.chat import ChatCompletion
from published import conforms
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, running, streams

from gateway.answers.tool_calls import called_in, offer_of
from gateway.errors import BadRequest, UpstreamError
from gateway.prompt.chat_template import plain

GOOD = "Paris is the capital of France."


def tool(name):
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


TOOLS = [tool("look"), tool("listen")]
NAMED = {"type": "function", "function": {"name": "listen"}}
ONLY = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [tool("listen")]}}


def calling(*names):
    return [
        {"id": f"c{at}", "type": "function", "function": {"name": n, "arguments": "{}"}} for at, n in enumerate(names)
    ]


def backend_saying(*names, text=None):
    """Calls these tools, after `text` if there is any; JSON or a stream, as asked."""

    async def script(writer, body):
        if not body.get("stream"):
            more = {"tool_calls": calling(*names)} if names else {}
            await answers(completion(text, **more))(writer, body)
            return
        parts = [chunk(role="assistant", content=""), *([chunk(text)] if text else [])]
        parts += [chunk(tool_calls=[{"index": at, **call}]) for at, call in enumerate(calling(*names))]
        await streams(*parts, chunk(finish="tool_calls" if names else "stop"), "[DONE]")(writer, body)

    return script


LOOKS = backend_saying("look")
BAD = {
    "not offered": (backend_saying("smell"), {"tools": TOOLS}),
    "nothing offered": (LOOKS, {}),
    "one of two": (backend_saying("look", "smell"), {"tools": TOOLS}),
    "none wanted": (LOOKS, {"tools": TOOLS, "tool_choice": "none"}),
    "required": (backend_saying(text=GOOD), {"tools": TOOLS, "tool_choice": "required"}),
    "named, no call": (backend_saying(text=GOOD), {"tools": TOOLS, "tool_choice": NAMED}),
    "named, another": (LOOKS, {"tools": TOOLS, "tool_choice": NAMED}),
    "allowed, another": (LOOKS, {"tools": TOOLS, "tool_choice": ONLY}),
    "one at a time": (backend_saying("look", "listen"), {"tools": TOOLS, "parallel_tool_calls": False}),
}
SECOND = {"none wanted": backend_saying(text=GOOD), "nothing offered": backend_saying(text=GOOD)}
HOWS = {
    "json": ({}, {}),
    "collected": ({}, {"upstream_stream": "always"}),
    "stream": ({"stream": True}, {}),
}


def asked_name(case):
    return "listen" if case in ("named, no call", "named, another", "allowed, another") else "look"


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("case", BAD)
async def test_a_wrong_call_leads_to_the_next_path_and_the_record_says_so(case, how):
    script, fields = BAD[case]
    more, options = HOWS[how]
    second = SECOND.get(case) or backend_saying(asked_name(case))
    policy = policy_of(paths={"order": ["primary", "secondary", "template"], "stream_failover": "hold_all"})
    async with (
        running(script) as bad,
        running(second) as good,
        gateway(backend(bad, "primary", **options), backend(good, "secondary", **options), policy=policy) as served,
    ):
        answer = await served.chat(**fields, **more)
        assert served.runtime.backends["primary"].breaker._failures == 0  # a weak model is not a sick backend
    record = answer.streamed_record if more else answer.record
    assert (record["path"], record["reasons"]) == ("secondary", ["tools_violated"])
    assert record["attempts"][0]["reason"] == "tools_violated"


@pytest.mark.parametrize("case", ["not offered", "required", "named, no call"])
async def test_a_stream_shows_nothing_before_the_call_is_known_to_be_good(case):
    script, fields = BAD[case]
    async with (
        running(script) as bad,
        running(backend_saying(asked_name(case))) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(stream=True, **fields)
    assert answer.events[-1] == "[DONE]"
    assert (answer.streamed_text, answer.streamed_record["path"]) == ("", "secondary")


async def test_a_wrong_call_after_text_was_shown_ends_the_stream_with_an_error():
    parts = [chunk(GOOD), chunk(tool_calls=[{"index": 0, **calling("smell")[0]}]), chunk(finish="tool_calls"), "[DONE]"]
    async with (
        running(streams(*parts, pause_after=1)) as bad,
        running(LOOKS) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(stream=True, tools=TOOLS)
    assert answer.streamed_text == GOOD
    assert "smell" not in answer.body.decode()
    assert answer.events[-1]["error"]["code"] == "tools_violated"


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("script", "fields"),
    [
        (LOOKS, {"tools": TOOLS}),
        (LOOKS, {"tools": TOOLS, "tool_choice": "required"}),
        (backend_saying("listen", text="Let me see."), {"tools": TOOLS, "tool_choice": NAMED}),
        (backend_saying("look", "listen"), {"tools": TOOLS}),
        (backend_saying(text=GOOD), {"tools": TOOLS, "tool_choice": "auto"}),
        (backend_saying(text=GOOD), {"tools": TOOLS, "tool_choice": "none"}),
        (LOOKS, {"functions": [{"name": "look"}]}),
    ],
)
async def test_good_calls_and_text_where_text_is_allowed_stay_healthy(script, fields, how):
    more, options = HOWS[how]
    async with running(script) as up, gateway(backend(up, "primary", **options)) as served:
        answer = await served.chat(**fields, **more)
    assert (answer.streamed_record if more else answer.record) == {"level": "healthy"}


async def test_without_a_model_the_record_says_what_is_missing():
    async with running(backend_saying("smell")) as up, gateway(backend(up, "primary")) as served:
        record = (await served.chat(tools=TOOLS)).record
    assert "tools_violated" in record["reasons"]
    assert record["dropped"]["tools"] is True


async def test_the_policy_can_leave_it_to_the_client():
    async with (
        running(backend_saying("smell")) as up,
        gateway(backend(up, "primary"), policy=policy_of(validation={"tools": False})) as served,
    ):
        assert (await served.chat(tools=TOOLS)).record == {"level": "healthy"}
        assert (await served.chat(tools=TOOLS, stream=True)).streamed_record == {"level": "healthy"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": tool("smell")}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": 7}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": 1}}, "tool_choice"),
        ({"functions": [{"name": "look"}], "function_call": {"name": "smell"}}, "function_call"),
        ({"functions": [{"name": "look"}], "function_call": "required"}, "function_call"),
    ],
)
async def test_to_ask_for_what_is_not_offered_is_the_clients_mistake(fields, field):
    async with running(LOOKS) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(**fields)
    assert (answer.status, answer.json["error"]["param"], up.seen) == (400, field, [])


def test_a_refusal_in_words_is_an_answer_where_a_call_was_wanted():
    offer = offer_of({"tools": TOOLS, "tool_choice": "required"})
    offer.check((), refusal=True)
    with pytest.raises(UpstreamError):
        offer.check((), refusal=False)
    with pytest.raises(BadRequest):
        offer_of(json.loads('{"tools": [], "tool_choice": "required"}'))


def test_a_call_in_the_old_form_counts_too():
    assert called_in({"function_call": {"name": "look", "arguments": "{}"}}) == ("look",)


CUSTOM = {"type": "custom", "custom": {"name": "run_code", "description": "Runs it."}}


def running_code(name="run_code", parts=("print(", "'{1}')")):
    """Calls a custom tool with free text; streamed, its input comes in parts."""
    call = {"id": "c1", "type": "custom", "custom": {"name": name, "input": "".join(parts)}}

    async def script(writer, body):
        if not body.get("stream"):
            await answers(completion(None, tool_calls=[call]))(writer, body)
            return
        first = chunk(tool_calls=[{"index": 0, **call, "custom": {"name": name, "input": ""}}])
        more = [chunk(tool_calls=[{"index": 0, "custom": {"input": part}}]) for part in parts]
        await streams(chunk(role="assistant"), first, *more, chunk(finish="tool_calls"), "[DONE]")(writer, body)

    return script


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("choice", ["auto", "required", {"type": "custom", "custom": {"name": "run_code"}}])
async def test_a_custom_tool_is_called_with_free_text(choice, how):
    more, options = HOWS[how]
    async with running(running_code()) as up, gateway(backend(up, "primary", **options)) as served:
        answer = await served.chat(tools=[CUSTOM, tool("look")], tool_choice=choice, **more)
    if more:
        calls = [e["choices"][0]["delta"].get("tool_calls") for e in answer.events[:-1] if e.get("choices")]
        custom = [call["custom"] for some in calls for call in some or ()]
        assert answer.streamed_record == {"level": "healthy"}
        assert "".join(one.get("input", "") for one in custom) == "print('{1}')"
        return
    assert answer.record == {"level": "healthy"}
    conforms(answer.json, ChatCompletion)
    (call,) = answer.json["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "c1", "type": "custom", "custom": {"name": "run_code", "input": "print('{1}')"}}


@pytest.mark.parametrize("how", HOWS)
async def test_a_custom_tool_that_nobody_offered_is_no_answer(how):
    more, options = HOWS[how]
    async with running(running_code("rm")) as up, gateway(backend(up, "primary", **options)) as served:
        answer = await served.chat(tools=[CUSTOM], **more)
    assert "tools_violated" in (answer.streamed_record if more else answer.record)["reasons"]


@pytest.mark.parametrize("how", HOWS)
async def test_a_custom_tool_without_a_name_is_no_answer_and_one_without_input_is(how):
    more, options = HOWS[how]
    async with running(running_code("")) as up, gateway(backend(up, "primary", **options)) as served:
        unnamed = await served.chat(tools=[CUSTOM], **more)
        up.script = running_code(parts=())
        empty = await served.chat(tools=[CUSTOM], **more)
    assert "invalid_output" in (unnamed.streamed_record if more else unnamed.record)["reasons"]
    assert (empty.streamed_record if more else empty.record) == {"level": "healthy"}


async def test_an_answer_that_is_there_at_once_streams_its_custom_call_with_an_index():
    call = {"id": "c1", "type": "custom", "custom": {"name": "run_code", "input": "x"}}
    async with running(answers(completion(None, tool_calls=[call]))) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(tools=[CUSTOM], stream=True)
    assert answer.events[0]["choices"][0]["delta"]["tool_calls"] == [{"index": 0, **call}]


def test_a_chat_template_sees_a_custom_call_as_a_call():
    call = {"id": "c1", "type": "custom", "custom": {"name": "run_code", "input": "print(1)"}}
    (seen,) = plain({"role": "assistant", "content": None, "tool_calls": [call]})["tool_calls"]
    assert seen["function"] == {"name": "run_code", "arguments": "print(1)"}
