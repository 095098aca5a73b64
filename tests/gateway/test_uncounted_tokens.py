"""Tokens that a backend tells and the gateway cannot count are held against no answer and nobody's breaker."""

import pytest
from served import backend, gateway, policy_of
from test_token_accounting import ASKED, GOOD, honest, model_dir, words  # noqa: F401 - the fixture
from upstream_stub import answers, chunk, completion, running, streams

from gateway.answers.token_accounting import blame_for, holds_unseen, reasoning_tokens, sees_answer, sees_prompt
from gateway.errors import Blame

THOUGHT = "The policy says that opened software stays with who opened it."
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
TEXT = {"type": "text", "text": ASKED}
PROMPT_TOKENS = words(f"user {ASKED} assistant")


def usage(*, more_prompt=0, more_answer=0, **more):
    return {
        "prompt_tokens": PROMPT_TOKENS + more_prompt,
        "completion_tokens": words(GOOD) + more_answer,
        "total_tokens": PROMPT_TOKENS + more_prompt + words(GOOD) + more_answer,
        **more,
    }


def says(told, **more):
    """`GOOD`, as JSON or as a stream, with the counts `told`; `more` are fields of its message."""

    async def script(writer, body):
        if body.get("stream"):
            ahead = [chunk(role="assistant", content="", **more)]
            last = {**chunk(), "choices": [], "usage": told}
            await streams(*ahead, chunk(GOOD), chunk(finish="stop"), last, "[DONE]")(writer, body)
        else:
            await answers({**completion(GOOD, **more), "usage": told})(writer, body)

    return script


CASES = {
    "picture": (usage(more_prompt=700), {}, {"messages": [{"role": "user", "content": [TEXT, PICTURE]}]}),
    "sound": (usage(more_prompt=700), {}, {"messages": [{"role": "user", "content": [TEXT, SOUND]}]}),
    "reasoning": (usage(more_answer=40), {"reasoning_content": THOUGHT}, {}),
    "reasoning of another name": (usage(more_answer=40), {"reasoning": THOUGHT}, {}),
    "hidden reasoning": (usage(more_answer=40, completion_tokens_details={"reasoning_tokens": 40}), {}, {}),
    "stop": (usage(more_answer=11), {}, {"stop": ["<|END|>"]}),
    "field of the engine's": (usage(more_prompt=90), {}, {"chat_template_kwargs": {"enable_thinking": True}}),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", CASES)
async def test_what_the_gateway_cannot_count_is_not_held_against_the_answer(model_dir, case, stream):  # noqa: F811
    told, message, fields = CASES[case]
    body = {"messages": [{"role": "user", "content": ASKED}], **fields, "stream": stream}
    async with running(says(told, **message)) as up, gateway(backend(up, "primary", model_dir=model_dir)) as served:
        for _ in range(4):
            answer = await served.chat(**body)
            assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}
        assert served.runtime.backends["primary"].breaker.state == "closed"


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "open"),
        ({"temperature": 0.7, "seed": 3, "user": "somebody"}, "open"),
        ({"temperature": 1.9}, "closed"),
        ({"logit_bias": {"5": 90}}, "closed"),
        ({"response_format": {"type": "json_object"}}, "closed"),
    ],
)
async def test_lost_tokens_open_the_breaker_only_where_the_client_cannot_have_caused_it(model_dir, fields, state):  # noqa: F811
    async with (
        running(honest(GOOD, lost_answer=4)) as up,
        gateway(backend(up, "primary", model_dir=model_dir), policy=policy_of()) as served,
    ):
        for _ in range(3):
            assert "tokens_mismatch" in (await served.chat(ASKED, **fields)).record["reasons"]
        assert served.runtime.backends["primary"].breaker.state == state


async def test_an_unreadable_line_is_not_forgiven_where_the_counts_prove_nothing(model_dir):  # noqa: F811
    script = streams(chunk(GOOD), b"data: {broken\n\n", {**chunk(finish="stop"), "usage": usage()}, "[DONE]")
    hold = policy_of(paths={"stream_failover": "hold_all"})
    async with running(script) as up, gateway(backend(up, "primary", model_dir=model_dir), policy=hold) as served:
        assert (await served.chat(ASKED, stream=True)).streamed_record == {"level": "healthy"}
        assert (await served.chat(ASKED, stream=True, stop="END")).streamed_record["reasons"] == ["invalid_output"]


def test_fields_that_are_absent_or_say_nothing_hide_nothing():
    body = {"messages": [], "stop": None, "logit_bias": {}, "tools": [], "echo": False, "response_format": None}
    message = {"role": "user", "content": [TEXT], "name": None}
    assert sees_prompt(body, [message])
    assert sees_answer(body)
    assert blame_for(body) is Blame.UNLESS_ASKED
    assert not sees_prompt(body, [{**message, "name": "Ann"}])
    assert not holds_unseen({"content": "x", "reasoning_content": ""})


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({}, 0),
        ({"completion_tokens_details": None}, 0),
        ({"completion_tokens_details": {"reasoning_tokens": 7}}, 7),
        ({"reasoning_tokens": 7}, 7),
        *[({"completion_tokens_details": {"reasoning_tokens": odd}}, 0) for odd in (None, "7", True, -7, 7.0)],
    ],
)
def test_tokens_that_were_thought_are_read_where_engines_tell_them(told, tokens):
    assert reasoning_tokens(told) == tokens
