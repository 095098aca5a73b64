"""In which field a backend is told how long its answer may be, and what happens to one that knows another."""

import asyncio
import json

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, running, says

from gateway.backends.breaker import State
from gateway.backends.failures import failure_of
from gateway.clock import SystemClock
from gateway.errors import FieldRefused, RefusedByBackend

GOOD = "Paris is the capital of France."
REFUSAL = {
    "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "type": "invalid_request_error",
    "param": "max_tokens",
    "code": "unsupported_parameter",
}
NEWER = {"max_tokens_field": "max_completion_tokens"}


async def newer(writer, body):
    """Knows `max_completion_tokens` only, and no other temperature than its own."""
    if "max_tokens" in body or "temperature" in body:
        await answers({"error": REFUSAL}, 400)(writer, body)
    else:
        await says(GOOD)(writer, body)


@pytest.mark.parametrize("asked", [{}, {"max_tokens": 7}, {"max_completion_tokens": 7}])
async def test_the_limit_stands_in_the_backends_own_field_whatever_the_client_calls_it(asked):
    async with running(newer) as up, gateway(backend(up, "primary", **NEWER)) as served:
        assert (await served.chat(**asked)).record == {"level": "healthy"}
        assert (await served.chat(stream=True, **asked)).streamed_record == {"level": "healthy"}
    assert [("max_tokens" in body, body["max_completion_tokens"]) for body in up.seen] == [
        (False, 7 if asked else 512)
    ] * 2


def events(served, name):
    served.runtime.log.flush()
    lines = [json.loads(line) for line in served.runtime.log._out.getvalue().splitlines()]
    return [line for line in lines if line.get("event") == name]


async def test_a_backend_that_does_not_know_the_field_is_passed_over_and_the_log_says_what_to_set():
    async with (
        running(newer) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary"), backend(other, "secondary"), tick_s=3600.0) as served,
    ):
        for _ in range(2):
            answer = await served.chat()
            assert (answer.status, answer.record["path"]) == (200, "secondary")
        (told,) = events(served, "field_refused")
    assert 'primary does not know max_tokens; set max_tokens_field = "max_completion_tokens"' in told["detail"]


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, NEWER], ids=["another field", "its own field"])
async def test_a_probe_is_no_success_where_the_backend_knows_another_field(fields):
    policy = policy_of(breaker={"open_s": 0.05, "consecutive_failures": 1})
    async with (
        asyncio.timeout(20),
        running(answers({}, 500)) as up,
        running(says(GOOD)) as other,
        gateway(backend(up, "primary", **fields), backend(other, "secondary"), policy=policy) as served,
    ):
        await served.chat()
        up.script = newer
        event = "probe_succeeded" if fields else "probe_failed"
        while not [line for line in events(served, event) if "500" not in (line.get("detail") or "")]:
            await SystemClock().sleep(0.01)
        state = served.runtime.backends["primary"].breaker.state
        told = events(served, event)[-1].get("detail")
    assert (state is State.CLOSED) is bool(fields)
    assert fields or "set max_tokens_field" in told


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (REFUSAL, True),
        ({**REFUSAL, "param": None, "code": None}, True),
        ({"message": "Unrecognized request argument supplied: max_tokens"}, True),
        ({**REFUSAL, "message": "no", "param": "max_completion_tokens"}, True),
        ({"message": "max_tokens is too large: 9000", "param": "max_tokens", "code": "invalid_value"}, False),
        ({**REFUSAL, "message": "Unsupported parameter: 'top_k'", "param": "top_k"}, False),
    ],
)
def test_only_a_field_that_is_unknown_is_the_gateways_own_fault(error, refused):
    body = json.dumps({"error": error}).encode()
    found = failure_of(400, body, None, name="b", now_unix_s=lambda: 0.0, sent=b'{"max_tokens": 9000}')
    assert isinstance(found, FieldRefused if refused else RefusedByBackend)


def test_what_the_client_wrote_makes_no_field_unknown():
    words = "unknown field max_tokens"
    body = json.dumps({"error": {"message": f"[{{'input': '{words}'}}]"}}).encode()
    sent = json.dumps({"top_k": words}).encode()
    assert isinstance(failure_of(400, body, None, name="b", now_unix_s=lambda: 0.0, sent=sent), RefusedByBackend)
