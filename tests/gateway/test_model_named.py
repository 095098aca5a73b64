"""`model` names the model that served, in a stream as in JSON, and in every chunk of it."""

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, running, says, streams

GOOD = "Paris is the capital."
ALL_AT_ONCE = streams({**chunk(GOOD, finish="stop"), "usage": {"prompt_tokens": 1, "completion_tokens": 1}}, "[DONE]")


def models(answer, *, stream):
    if not stream:
        return {answer.json["model"]}
    return {event["model"] for event in answer.events if event != "[DONE]"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("hold", ["error_event", "hold_all"])
@pytest.mark.parametrize(
    ("script", "at_once"), [(says(GOOD), False), (ALL_AT_ONCE, True), (answers(completion(GOOD)), True)]
)
async def test_the_model_that_served_in_anothers_place_is_named(stream, hold, script, at_once):
    if at_once and not stream:
        script = answers(completion(GOOD))
    async with (
        running(answers({}, 500)) as bad,
        running(script) as up,
        gateway(
            backend(bad, "primary"), backend(up, "secondary"), policy=policy_of(paths={"stream_failover": hold})
        ) as served,
    ):
        answer = await served.chat(stream=stream, stream_options={"include_usage": True} if stream else None)
        record = answer.streamed_record if stream else answer.record
        assert record["model_served"] == "secondary-model"
        assert models(answer, stream=stream) == {"secondary-model"}
        assert (answer.streamed_text if stream else answer.text) == GOOD


@pytest.mark.parametrize("stream", [False, True])
async def test_the_model_that_was_meant_keeps_the_name_that_it_gives_itself(stream):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=stream)
        assert (answer.streamed_record if stream else answer.record) == {"level": "healthy"}
        assert models(answer, stream=stream) == {"m"}


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_without_a_model_is_named_by_its_path(stream):
    policy = policy_of(paths={"order": ["primary", "template"]})
    async with running(answers({}, 500)) as up, gateway(backend(up, "primary"), policy=policy) as served:
        answer = await served.chat(stream=stream)
        assert models(answer, stream=stream) == {"template"}
