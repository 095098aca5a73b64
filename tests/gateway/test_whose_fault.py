"""Whose fault a backend's refusal is: no client steers that by what it writes, nor what it is taken for."""

import json

import pytest
from misbehaviour import CONTEXT_WORDINGS
from served import backend, gateway
from upstream_stub import answers, running, says, streams

from gateway.backends.error_body import error_body
from gateway.backends.failures import error_reason, failure_inside, failure_of
from gateway.errors import BadRequest, Blame, UpstreamError

GOOD = "Paris is the capital of France."
WORDS = {
    "out_of_memory": "CUDA out of memory",
    "kernel_failure": "CUDNN_STATUS_EXECUTION_FAILED",
    "context_too_long": "maximum context length",
}


def echoes(words, **error):
    """As FastAPI, vLLM and others quote what they were sent."""
    return {"error": {"message": f"[{{'type': 'int_parsing', 'loc': ('body', 'top_k'), 'input': '{words}'}}]", **error}}


def of(status, body, *, sent=b"{}", **more):
    return failure_of(status, json.dumps(body).encode(), None, name="b", now_unix_s=lambda: 0.0, sent=sent, **more)


@pytest.mark.parametrize("words", [*WORDS.values(), "OUT OF MEMORY", "std::bad_alloc", "prompt is too long"])
@pytest.mark.parametrize("status", [400, 413, 422])
def test_words_that_the_client_wrote_make_its_own_mistake_nothing_else(status, words):
    found = of(status, echoes(words), sent=json.dumps({"top_k": words}).encode())
    assert isinstance(found, BadRequest)
    assert "int_parsing" in str(found)


@pytest.mark.parametrize("status", [400, 403, 409, 413, 422, 451])
def test_memory_that_ran_out_is_believed_in_a_4xx_only_by_type_or_code(status):
    assert isinstance(found := of(status, echoes("no memory left", type="OutOfMemoryError")), UpstreamError)
    assert found.reason == "out_of_memory"
    wrote = of(status, {"error": {"message": "CUDA out of memory"}})
    assert isinstance(wrote, BadRequest) or (wrote.reason, wrote.blame) == ("backend_error", Blame.NEUTRAL)
    nested = of(status, {"detail": [{"msg": "bad", "input": {"type": "OutOfMemoryError", "code": "out_of_memory"}}]})
    assert isinstance(nested, BadRequest) or nested.reason == "backend_error"


@pytest.mark.parametrize("reason", WORDS)
def test_in_a_500_and_in_an_error_event_words_of_the_client_prove_nothing_and_words_of_the_backend_do(reason):
    words = WORDS[reason]
    sent = json.dumps({"guided_regex": words}).encode()
    event = error_body(json.dumps(echoes(words)).encode())
    assert of(500, echoes(words), sent=sent).reason == "backend_error"
    assert failure_inside(event, "an error event", sent=sent).reason == "backend_error"
    assert of(500, echoes(words)).reason == reason
    assert failure_inside(event, "an error event", sent=b"{}").reason == reason


def test_a_backend_that_begins_with_the_words_is_believed_whatever_the_prompt_is_about():
    sent = b"Why does it say CUDA out of memory, and what is the maximum context length?"
    for text in ("CUDA out of memory. Tried to allocate 2.00 GiB", "torch.OutOfMemoryError: CUDA out of memory."):
        assert error_reason(error_body(text.encode()), sent=sent) == "out_of_memory"
    for wording in CONTEXT_WORDINGS.values():
        every = json.dumps(list(CONTEXT_WORDINGS.values())).encode()
        assert of(400, wording, sent=sent + every).reason == "context_too_long"


LONG = "Invalid '{}': string too long. Expected a string with maximum length 1024, but got one of 2000."


@pytest.mark.parametrize(
    ("param", "is_context"),
    [
        ("tools[0].function.description", False),
        ("metadata.key", False),
        ("messages[0].name", False),
        ("messages[0].content", True),
        ("messages[12].content[1].text", True),
    ],
)
def test_a_text_that_is_too_long_is_a_long_context_only_where_it_is_a_message(param, is_context):
    error = {"message": LONG.format(param), "type": "invalid_request_error", "param": param}
    found = of(400, {"error": {**error, "code": "string_above_max_length"}})
    assert isinstance(found, BadRequest) is not is_context
    assert is_context or "string too long" in str(found)


CLIENTS = (400, 413, 414, 415, 422, 431)
ANYBODYS = (403, 406, 409, 412, 416, 418, 423, 451, 499, 501)
BACKENDS = (301, 401, 402, 404, 405, 407, 410, 411, 417, 421, 424, 425, 426, 428, 500, 502, 503, 504)


@pytest.mark.parametrize("status", [*CLIENTS, *ANYBODYS, *BACKENDS, 408])
async def test_only_what_is_the_backends_fault_opens_its_breaker(status):
    async with (
        running(answers({"error": {"message": "no"}}, status)) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary"), backend(other, "secondary"), tick_s=3600.0) as served,
    ):
        for _ in range(3):
            answer = await served.chat()
            assert answer.status == (400 if status in CLIENTS else 200)
            assert len(other.seen) == (0 if status in CLIENTS else len(up.seen))
        breaker = served.runtime.backends["primary"].breaker
        assert breaker.trips == (1 if status in (*BACKENDS, 408) else 0)


@pytest.mark.parametrize("status", [401, 404, 405, 403])
async def test_a_refused_key_is_the_gateways_whatever_type_the_refusal_has(status):
    error = {"message": "no", "type": "invalid_request_error", "code": "invalid_api_key"}
    async with (
        running(answers({"error": error}, status)) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary"), backend(other, "secondary"), tick_s=3600.0) as served,
    ):
        for _ in range(3):
            await served.chat()
        assert served.runtime.backends["primary"].breaker.trips == (1 if status in BACKENDS else 0)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "trips"),
    [
        ({"message": "bad guided_regex", "type": "BadRequestError", "code": 400}, 0),
        ({"message": "bad guided_regex", "type": "invalid_request_error"}, 0),
        ({"message": "This model's maximum context length is 10 tokens", "code": 400}, 0),
        ({"message": "boom", "type": "InternalServerError", "code": 500}, 1),
        ({"message": "boom"}, 1),
    ],
)
async def test_an_error_inside_a_200_that_calls_itself_the_clients_opens_no_breaker(error, trips, stream):
    script = streams({"error": error}, "[DONE]") if stream else answers({"error": error})
    async with (
        running(script) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary"), backend(other, "secondary"), tick_s=3600.0) as served,
    ):
        for _ in range(3):
            answer = await served.chat(stream=stream)
            assert (answer.streamed_text if stream else answer.text) == GOOD
        assert served.runtime.backends["primary"].breaker.trips == trips


async def test_one_client_that_writes_of_memory_degrades_nobody():
    async def strict(writer, body):
        if "top_k" in body:
            await answers(echoes(body["top_k"], code=400), 400)(writer, body)
        elif "grammar" in body:
            await answers(echoes(body["grammar"], code=400), 500)(writer, body)
        else:
            await says(GOOD)(writer, body)

    async with running(strict) as up, gateway(backend(up, "primary")) as served:
        for _ in range(4):
            assert (await served.chat(top_k="CUDA out of memory")).status == 400
            assert (await served.chat(grammar="CUDA out of memory")).record["reasons"] == ["backend_error"]
        assert not served.runtime.out_of_memory
        assert (await served.chat()).record == {"level": "healthy"}


@pytest.mark.parametrize("status", [401, 402, 403, 429])
async def test_a_key_of_the_clients_own_that_is_refused_is_its_own_affair(status):
    async def only_good_keys(writer, body):
        if "authorization: bearer bad" in up.heads[-1].lower():
            await answers({"error": {"message": "not with that key"}}, status, "Retry-After: 600")(writer, body)
        else:
            await says(GOOD)(writer, body)

    async with (
        running(only_good_keys) as up,
        gateway(backend(up, "primary"), forward_headers=("authorization",)) as served,
    ):
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        for _ in range(4):
            refused = await served.post("/v1/chat/completions", body, Authorization="Bearer bad")
            assert refused.status == status
        good = await served.post("/v1/chat/completions", body, Authorization="Bearer good")
        assert good.record == {"level": "healthy"}


async def test_a_request_that_alone_is_more_than_the_limit_does_not_keep_the_backend_from_others():
    error = {
        "message": "Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 20000.",
        "type": "tokens",
    }

    async def limited(writer, body):
        long = len(body["messages"][0]["content"]) > 1000
        await (answers({"error": error}, 429) if long else says(GOOD))(writer, body)

    async with (
        running(limited) as up,
        running(says(GOOD)) as large,
        gateway(backend(up, "primary"), backend(large, "secondary")) as served,
    ):
        assert (await served.chat("word " * 400)).record["reasons"] == ["context_too_long"]
        assert (await served.chat()).record == {"level": "healthy"}
