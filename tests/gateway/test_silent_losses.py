"""A 200 that lost something on its way, or whose backend gave up, is never passed on as a whole answer."""

import json

import pytest
from served import backend, gateway
from upstream_stub import answers, chunk, completion, raw, running, says, streams

GOOD = "Paris is the capital of France."
BOM = b"\xef\xbb\xbf"


def line(event):
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def ended(reason, text="You may pay"):
    body = completion(text)
    body["choices"][0]["finish_reason"] = reason
    return body


def calling(**function):
    return completion(None, tool_calls=[{"id": "a", "type": "function", "function": function}])


def call(index=0, **function):
    return {"tool_calls": [{"index": index, "id": "a", "type": "function", "function": function}]}


END = (chunk(finish="stop"), "[DONE]")
CUT_ARGUMENTS = '{"amount": 1'

LOST_STREAMS = {
    "a data line whose beginning was lost": (chunk("Do "), line(chunk("not "))[2:], chunk("pay."), *END),
    "a data line without its field": (chunk("Do "), line(chunk("not "))[6:], chunk("pay."), *END),
    "given up": (chunk("You may pay"), chunk(finish="insufficient_system_resource"), "[DONE]"),
    "the network's fault": (chunk("You may pay"), chunk(finish="network_error"), "[DONE]"),
    "nothing that one could see": (chunk("\u200b\u2060\ufeff"), *END),
    "a call without a name": (chunk(**call(arguments="{}")), chunk(finish="tool_calls"), "[DONE]"),
    "one call of two without a name": (
        chunk(**call(name="f", arguments="{}")),
        chunk(**call(1, arguments="{}")),
        chunk(finish="tool_calls"),
        "[DONE]",
    ),
    "a legacy call that was cut": (
        chunk(function_call={"name": "pay", "arguments": CUT_ARGUMENTS}),
        chunk(finish="function_call"),
        "[DONE]",
    ),
}  # fmt: skip

OFFERED = [{"type": "function", "function": {"name": name}} for name in ("f", "pay")]

LOST_ANSWERS = {
    "given up": ended("insufficient_system_resource"),
    "the network's fault": ended("network_error"),
    "no finish_reason": ended(None),
    "an empty finish_reason": ended(""),
    "nothing that one could see": completion("\u200b\u2060\ufeff"),
    "a refusal that nobody could see": completion(None, refusal="\u200b"),
    "arguments that are no text": calling(name="f", arguments={"amount": 1}),
    "a legacy call that was cut": completion(None, function_call={"name": "pay", "arguments": CUT_ARGUMENTS}),
    "a legacy call without a name": completion(None, function_call={"arguments": "{}"}),
}


@pytest.mark.parametrize("name", LOST_STREAMS)
async def test_a_stream_that_lost_something_is_not_a_whole_answer(name):
    async with (
        running(streams(*LOST_STREAMS[name])) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(stream=True, tools=OFFERED)
        if b'"error"' in answer.body:  # the loss came to light after the first words
            assert "[DONE]" not in answer.events
            assert answer.streamed_record["abstained"] is True
        else:
            assert answer.streamed_text == GOOD
        assert answer.streamed_record["reasons"] == ["invalid_output"]


@pytest.mark.parametrize("name", LOST_ANSWERS)
async def test_an_answer_that_is_none_is_not_passed_on(name):
    async with (
        running(answers(LOST_ANSWERS[name])) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat()
        assert answer.text == GOOD
        assert answer.record["reasons"] == ["invalid_output"]


@pytest.mark.parametrize("ends", [("stop", "stop", "stop"), ("stop", None, "stop"), (None, "stop", None)])
async def test_text_in_chunks_that_also_say_how_it_ends_is_shown_whole_and_in_order(ends):
    events = [chunk(text, finish=finish) for text, finish in zip(("Do ", "not ", "pay."), ends, strict=True)]
    async with running(streams(*events, "[DONE]")) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text == "Do not pay."
        assert answer.streamed_record == {"level": "healthy"}
        reasons = [event["choices"][0]["finish_reason"] for event in answer.events if event != "[DONE]"]
        assert reasons == [None, None, None, "stop"]


async def test_a_byte_order_mark_before_the_first_line_costs_no_text():
    events = (BOM + line(chunk("Never ")), b": a comment\n", b"id: 7\nretry: 10\n", chunk("pay."), *END)
    async with running(streams(*events)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text == "Never pay."
        assert answer.streamed_record == {"level": "healthy"}


@pytest.mark.parametrize("error", [None, {}, "", False])
@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_field_that_says_nothing_is_no_error(error, stream):
    events = ({**chunk(GOOD), "error": error}, *END)
    script = streams(*events) if stream else answers({**completion(GOOD), "error": error})
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=stream)
        assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}


@pytest.mark.parametrize("reason", ["eos", "eos_token", "stop_sequence", "end_turn", "model_length", "SAFETY"])
async def test_other_words_for_a_good_end_are_taken(reason):
    async with running(answers(ended(reason))) as up, gateway(backend(up, "primary")) as served:
        assert (await served.chat()).record == {"level": "healthy"}


async def test_a_body_without_its_outer_fields_is_given_them():
    body = json.dumps({"choices": [{"message": {"content": GOOD}, "finish_reason": "stop"}]}).encode()
    async with running(raw(200, body)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat()
        assert answer.text == GOOD
        assert answer.json["object"] == "chat.completion"
        assert answer.json["id"].startswith("chatcmpl-")
        assert isinstance(answer.json["created"], int)
        assert answer.json["model"] == "primary-model"
        assert answer.json["choices"][0]["index"] == 0
        assert answer.json["choices"][0]["message"]["role"] == "assistant"
