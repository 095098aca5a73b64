"""A 200 that is no answer counts against the backend only where no request, and no weak model, can have made it so."""

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, running, says, streams

GOOD = "Paris is the capital of France."
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
PREFILLED = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Paris is the capital."}]
MOJIBAKE = [{"role": "user", "content": "What was this: \ufffd\ufffd\ufffd\ufffd?"}]


def saying(text="", *, finish="stop", **message):
    """The same answer as JSON and as a stream."""

    async def script(writer, body):
        if not body.get("stream"):
            whole = completion(text, **message)
            whole["choices"][0]["finish_reason"] = finish
            await answers(whole)(writer, body)
            return
        calls = [{"index": at, **call} for at, call in enumerate(message.get("tool_calls", ()))]
        more = {**message, "tool_calls": calls} if calls else message
        await streams(chunk(role="assistant"), chunk(text or "", **more), chunk(finish=finish), "[DONE]")(writer, body)

    return script


def calling(name="look", arguments="{}"):
    return saying(
        None,
        finish="tool_calls",
        tool_calls=[{"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}],
    )


NOBODYS = {
    "empty under stop": (saying(), {"stop": ["Paris"]}),
    "blank under max_tokens": (saying("\n", finish="length"), {"max_tokens": 1}),
    "blank under another word for it": (saying("\n", finish="MAX_TOKENS"), {"max_tokens": 1}),
    "half a character": (saying("\ufffd", finish="length"), {"max_tokens": 1}),
    "all thought": (saying(None, finish="length", reasoning_content="Well, well."), {"max_tokens": 8}),
    "filtered": (saying("", finish="content_filter"), {}),
    "nothing to go on with": (saying(), {"messages": PREFILLED}),
    "its own odd signs": (saying("\ufffd\ufffd\ufffd\ufffd"), {"messages": MOJIBAKE}),
    "arguments that are no JSON": (calling(arguments="{'a': 1}"), {"tools": TOOLS}),
    "no name": (calling(name=""), {"tools": TOOLS}),
}
BACKENDS = {
    "empty": saying(),
    "blank": saying(" \n "),
    "undecodable": saying("\ufffd\ufffd\ufffd Paris"),
    "gave up": saying(GOOD, finish="error"),
}
HOWS = {
    "json": ({}, {}),
    "collected": ({}, {"upstream_stream": "always"}),
    "stream": ({"stream": True}, {}),
}


async def asked_three_times(script, fields, how):
    """Records of three answers, and how often the breaker opened."""
    more, options = HOWS[how]
    good = calling() if fields.get("tools") else says(GOOD)
    held = policy_of(paths={"stream_failover": "hold_all"})  # what was shown could not be taken back
    async with (
        running(script) as up,
        running(good) as other,
        gateway(
            backend(up, "primary", **options), backend(other, "secondary", **options), policy=held, tick_s=3600.0
        ) as served,
    ):
        found = [await served.chat(**fields, **more) for _ in range(3)]
        trips = served.runtime.backends["primary"].breaker.trips
    return [answer.streamed_record if more else answer.record for answer in found], trips


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("case", NOBODYS)
async def test_what_the_client_or_a_weak_model_made_leads_to_the_next_path_and_moves_no_breaker(case, how):
    records, trips = await asked_three_times(*NOBODYS[case], how)
    assert [(record["path"], record["attempts"][0]["reason"]) for record in records] == [
        ("secondary", "invalid_output")
    ] * 3
    assert trips == 0


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("case", BACKENDS)
async def test_what_only_a_broken_backend_makes_opens_its_breaker(case, how):
    records, trips = await asked_three_times(BACKENDS[case], {}, how)
    assert [record["path"] for record in records] == ["secondary"] * 3
    assert trips == 1
