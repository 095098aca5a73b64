"""The official client works against the gateway unchanged: answers, streams, refusals and errors."""

import openai
import pytest
from served import Gateway, backend, gateway, policy_of
from upstream_stub import answers, chunk, running, says, streams

GOOD = "Paris is the capital of France."
ASKED = [{"role": "user", "content": "What is the capital?"}]


def client_of(served: Gateway) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="x", max_retries=0)


@pytest.mark.slow
async def test_an_answer_with_its_record():
    async with running(answers({}, 500)) as bad, running(says(GOOD)) as good:
        both = (backend(bad, "primary"), backend(good, "secondary"))
        async with gateway(*both) as served, client_of(served) as client:
            answer = await client.chat.completions.create(model="truefall", messages=ASKED)
            assert answer.choices[0].message.content == GOOD
            assert answer.model == "secondary-model"
            assert answer.model_extra["degradation"]["path"] == "secondary"
            assert "truefall" in [model.id async for model in client.models.list()]


@pytest.mark.slow
@pytest.mark.parametrize("include_usage", [False, True])
async def test_a_stream_with_its_record_in_the_last_chunk(include_usage):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary")) as served,
        client_of(served) as client,
    ):
        options = {"stream_options": {"include_usage": True}} if include_usage else {}
        stream = await client.chat.completions.create(model="primary", messages=ASKED, stream=True, **options)
        chunks = [one async for one in stream]
        assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == GOOD
        assert chunks[-1].model_extra["degradation"] == {"level": "healthy"}
        assert (chunks[-1].usage is not None) is include_usage
        assert include_usage or chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.slow
async def test_a_template_streams_and_a_broken_stream_raises():
    broken = streams(chunk("word "), {"error": {"message": "boom"}}, pause_after=1)
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary"), policy=policy_of(breaker={"consecutive_failures": 9})) as served,
        client_of(served) as client,
    ):
        stream = await client.chat.completions.create(model="truefall", messages=ASKED, stream=True)
        chunks = [one async for one in stream]
        assert chunks[-1].model_extra["degradation"]["abstained"] is True
        assert chunks[-1].choices[0].finish_reason == "stop"
        up.script = broken
        with pytest.raises(openai.APIError, match="not complete"):
            async for _ in await client.chat.completions.create(model="truefall", messages=ASKED, stream=True):
                pass


@pytest.mark.slow
async def test_refusals_and_errors_are_the_clients_own_exceptions():
    async with (
        running(answers({}, 429, "Retry-After: 3")) as up,
        gateway(backend(up, "primary")) as served,
        client_of(served) as client,
    ):
        with pytest.raises(openai.RateLimitError) as refused:
            await client.chat.completions.create(model="truefall", messages=ASKED)
        assert refused.value.response.headers["retry-after"] == "3"
        with pytest.raises(openai.BadRequestError, match="max_tokens is 0"):
            await client.chat.completions.create(model="truefall", messages=ASKED, max_tokens=0)
        with pytest.raises(openai.NotFoundError, match="truefall, primary"):
            await client.chat.completions.create(model="gpt-0", messages=ASKED)


@pytest.mark.slow
async def test_a_structured_body_is_readable_and_its_stream_raises():
    form = {"type": "json_object"}
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary")) as served,
        client_of(served) as client,
    ):
        answer = await client.chat.completions.create(model="truefall", messages=ASKED, response_format=form)
        assert answer.choices == []
        assert answer.model_extra["reason"] == "degraded"
        with pytest.raises(openai.APIError, match="try shorter input"):
            async for _ in await client.chat.completions.create(
                model="truefall", messages=ASKED, response_format=form, stream=True
            ):
                pass
