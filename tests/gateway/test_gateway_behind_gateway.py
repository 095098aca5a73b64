"""A backend may be such a gateway itself: what it says of its answer is not lost on the way."""

import pytest
from served import backend, gateway
from upstream_stub import answers, chunk, completion, running, says, streams

GOOD = "Paris is the capital of France."
DEGRADED = {"level": "degraded", "path": "small", "reasons": ["timeout"], "notice": "Answered by small."}
ABSTAINED = {"level": "critical", "path": "template", "reasons": ["timeout"], "abstained": True}


def inner(record, *, stream, usage=False):
    if not stream:
        return answers({**completion(GOOD), "degradation": record})
    end = chunk(finish="stop")
    if not usage:
        return streams(chunk(GOOD), {**end, "degradation": record}, "[DONE]")
    last = {**end, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 5}, "degradation": record}
    return streams(chunk(GOOD), end, last, "[DONE]")


@pytest.mark.parametrize("usage", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("always", [False, True])
async def test_what_the_inner_gateway_degraded_is_not_called_healthy(stream, usage, always):
    script = inner(DEGRADED, stream=stream or always, usage=usage)
    one = {"upstream_stream": "always"} if always else {}
    async with running(script) as up, gateway(backend(up, "primary", **one)) as served:
        answer = await served.chat(stream=stream)
        record = answer.streamed_record if stream else answer.record
        assert (record["level"], record["path"], record["reasons"]) == ("degraded", "primary", ["backend_degraded"])
        assert record["notice"] == "Answered by primary-model in a reduced configuration."
        assert (answer.streamed_text if stream else answer.text) == GOOD


@pytest.mark.parametrize("stream", [False, True])
async def test_what_the_inner_gateway_abstains_from_is_no_answer(stream):
    async with (
        running(inner(ABSTAINED, stream=stream)) as up,
        running(says(GOOD)) as good,
        gateway(backend(up, "primary"), backend(good, "secondary")) as served,
    ):
        answer = await served.chat(stream=stream)
        if stream:  # its words have been shown
            assert answer.streamed_record["abstained"] is True
            assert "[DONE]" not in answer.events
        else:
            assert answer.record["path"] == "secondary"
            assert answer.record["reasons"] == ["backend_degraded"]


@pytest.mark.parametrize("record", [{"level": "healthy"}, None, "degraded", {}])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_healthy_inner_gateway_is_healthy(stream, record):
    async with running(inner(record, stream=stream)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=stream)
        assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}


@pytest.mark.parametrize(
    ("reasons", "trips"),
    [
        (["invalid_output"], 0),
        (["prompt_truncated", "tools_violated"], 0),
        (["invalid_output", "timeout"], 1),
        (["timeout"], 1),
        ([], 1),
        ([["x"]], 1),
        ("none", 1),
    ],
)
async def test_an_abstention_that_a_request_can_bring_about_opens_no_breaker(reasons, trips):
    script = inner({**ABSTAINED, "reasons": reasons}, stream=False)
    async with (
        running(script) as up,
        running(says(GOOD)) as good,
        gateway(backend(up, "primary"), backend(good, "secondary"), tick_s=3600.0) as served,
    ):
        for _ in range(3):
            assert (await served.chat()).record["path"] == "secondary"
        assert served.runtime.backends["primary"].breaker.trips == trips
