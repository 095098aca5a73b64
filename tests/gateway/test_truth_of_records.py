"""The record says what was sent, shown and lost, and nothing else, however the answer ended."""

import pytest
from misbehaviour import FORMAT, TOOL
from published import has_published_shape
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, running, says, streams

GOOD = "Opened software cannot be refunded."
LONG = " ".join(f"Sentence number {index} says nothing." for index in range(300)) + "\n\nWhat do they say?"
CUT = streams(chunk("Let me see, "), chunk("it"), pause_after=1)
JSON_CUT = streams(chunk('{"city": '), chunk('"Par'), pause_after=1)
OWN_DEGRADED = {**chunk(finish="stop"), "degradation": {"level": "degraded", "path": "small"}}


def require_as_it_began(answer):
    """The record of a stream that failed says all that its headers said, and first."""
    has_published_shape(answer)
    (record,) = [event["degradation"] for event in answer.events if "degradation" in event]
    began = [reason for reason in answer.headers.get("x-degrade-reason", "").split(",") if reason]
    assert record["reasons"][: len(began)] == began
    assert record["path"] == answer.headers.get("x-degradation-path", record["path"])
    assert (record["level"], record["abstained"]) == ("critical", True)
    assert answer.events[-1]["error"]["code"] == record["attempts"][-1]["reason"]
    return record


async def dropped(served):
    """What the metrics count, by kind."""
    lines = (await served.request("GET", "/metrics")).body.decode().splitlines()
    return [
        line for line in lines if line.startswith(("truefall_dropped_total", "truefall_dropped_prompt_tokens_total"))
    ]


@pytest.mark.parametrize(("script", "fields"), [(CUT, {"tools": [TOOL]}), (JSON_CUT, {"response_format": FORMAT})])
async def test_a_broken_stream_did_not_lose_the_tools_or_the_schema_that_its_backend_was_sent(script, fields):
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, **fields)
        record = require_as_it_began(answer)
        assert answer.headers["x-degradation-level"] == "healthy"
        assert {key: up.seen[0][key] for key in fields} == fields
        assert (record["reasons"], record["model_served"]) == (["stream_cut"], "primary-model")
        assert "dropped" not in record
        assert await dropped(served) == []


async def test_a_broken_stream_still_tells_what_was_cut_from_its_prompt():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary", context_tokens=512)) as served:
        whole = (await served.chat(LONG, stream=True)).streamed_record
        up.script = CUT
        record = require_as_it_began(await served.chat(LONG, stream=True))
        assert record["reasons"] == ["prompt_truncated", "stream_cut"]
        assert record["dropped"] == whole["dropped"]
        lost = whole["dropped"]["prompt_tokens"]
        assert lost > 2000
        assert (record["notice"], record["model_served"]) == (whole["notice"], "primary-model")
        assert await dropped(served) == [f'truefall_dropped_prompt_tokens_total{{how="cut"}} {2.0 * lost}']


async def test_a_fallback_that_breaks_off_is_named_with_its_model_and_with_all_that_was_tried():
    async with (
        running(answers({}, 500)) as bad,
        running(CUT) as cut,
        gateway(backend(bad, "primary"), backend(cut, "secondary")) as served,
    ):
        record = require_as_it_began(await served.chat(stream=True, tools=[TOOL]))
    assert (record["path"], record["model_served"]) == ("secondary", "secondary-model")
    assert [(one["path"], one["reason"]) for one in record["attempts"]] == [
        ("primary", "backend_error"),
        ("secondary", "stream_cut"),
    ]
    assert "dropped" not in record
    assert "secondary-model" in record["notice"]


async def test_the_reason_of_the_end_is_the_errors_code_even_where_it_was_met_before():
    async with (
        running(streams()) as one,
        running(CUT) as two,
        gateway(backend(one, "primary"), backend(two, "secondary", context_tokens=512)) as served,
    ):
        record = require_as_it_began(await served.chat(LONG, stream=True))
    assert record["reasons"] == ["stream_cut", "prompt_truncated"]


async def test_what_shows_only_at_the_end_of_a_stream_is_in_the_record_of_its_failure():
    script = streams(chunk("It has 4711 doors. "), OWN_DEGRADED, "[DONE]", pause_after=1)
    policy = policy_of(grounding={"apply": "always"})
    async with running(script) as up, gateway(backend(up, "primary"), policy=policy) as served:
        record = require_as_it_began(await served.chat(stream=True))
    assert set(record["reasons"]) == {"backend_degraded", "ungrounded"}


async def test_a_mistake_of_our_own_within_a_stream_is_told_as_any_other_end(monkeypatch):
    monkeypatch.setattr("gateway.attempt.distrust", lambda *_, **__: 1 / 0)
    policy = policy_of(grounding={"apply": "always"})
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        answer = await served.chat(stream=True, tools=[TOOL])
        record = require_as_it_began(answer)
        assert (record["path"], record["model_served"]) == ("primary", "primary-model")
        assert record["reasons"] == ["internal_error"]
        assert "dropped" not in record
        told = (await served.chat(tools=[TOOL])).record
    assert [(one["path"], one["reason"]) for one in told["attempts"]] == [("primary", "internal_error")]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_on_purpose_drops_nothing_for_there_is_no_answer(stream):
    async with (
        running(answers({}, 429, "Retry-After: 1")) as up,
        gateway(backend(up, "primary")) as served,
    ):
        answer = await served.chat(stream=stream, tools=[TOOL], response_format=FORMAT)
        served.runtime.draining = True
        drained = await served.chat(stream=stream, tools=[TOOL], response_format=FORMAT)
        assert answer.status == drained.status == 429
        assert "dropped" not in answer.record
        assert "dropped" not in drained.record
        assert await dropped(served) == []


async def test_an_earlier_answer_by_the_same_schema_has_not_lost_it():
    policy = policy_of(paths={"order": ["primary", "cache", "structured"]})
    async with running(says('{"city": "Paris"}')) as up, gateway(backend(up, "primary"), policy=policy) as served:
        await served.chat(response_format=FORMAT)
        up.script = answers({}, 500)
        answer = await served.chat(response_format=FORMAT)
        assert (answer.record["path"], answer.text) == ("cache", '{"city": "Paris"}')
        assert "dropped" not in answer.record
        assert await dropped(served) == []


async def test_no_earlier_answer_follows_one_that_was_shown_already():
    policy = policy_of(
        semantic_gate={"apply": "degraded"},
        paths={"order": ["primary", "secondary", "cache"]},
        breaker={"consecutive_failures": 99},
    )
    ask = f"{GOOD} Summarise the refund rule for opened software"
    async with (
        running(says(GOOD)) as first,
        running(says("Opened software cannot be refunded")) as second,
        gateway(backend(first, "primary"), backend(second, "secondary"), policy=policy) as served,
    ):
        await served.chat(ask)
        first.script = answers({}, 500)
        assert (await served.chat(ask)).record["path"] == "cache"
        answer = await served.chat(ask, stream=True)
        assert answer.streamed_text == "Opened software cannot be refunded"
        assert answer.streamed_record["path"] == answer.headers["x-degradation-path"] == "secondary"
