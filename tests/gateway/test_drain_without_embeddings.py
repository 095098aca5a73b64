"""An embedding server that hangs while the gateway stops: who waits for it is answered before he is cut off."""

import asyncio

import pytest
from served import backend, gateway, policy_of
from test_drain import CLOCK, GOOD
from upstream_stub import answers, hangs, running, says

from gateway.config import Answers, Embeddings
from gateway.draining import STEP_SHARE, Closing
from gateway.errors import Closed

TEMPLATES = [{"lang": "en", "text": "hours", "examples": ["When are you open?"]}, {"lang": "en", "text": "default"}]
LONG = {"connect_s": 60.0, "first_token_s": 60.0, "idle_s": 60.0, "total_s": 60.0}


def policy(*backends, **fields):
    return policy_of(
        templates=TEMPLATES,
        limits={"default": LONG},
        deadline={"request_s": 90.0},
        paths={"order": [*backends, "cache", "template"]},
        **fields,
    )


def hanging(embeddings):
    return Answers(embeddings=Embeddings(url=f"http://127.0.0.1:{embeddings.port}/v1", model="e", timeout_s=60.0))


async def until_asked(up):
    while not up.seen:
        await CLOCK.sleep(0.01)


@pytest.mark.slow
async def test_who_waited_for_a_backend_does_not_wait_for_embeddings_after_it():
    async with (
        running(hangs()) as up,
        running(hangs()) as embeddings,
        gateway(backend(up, "primary"), policy=policy("primary"), answers=hanging(embeddings)) as served,
        asyncio.timeout(25),
    ):
        asked = asyncio.create_task(served.chat())
        await until_asked(up)
        served.runtime.closing.end()
        record = (await asked).record
        assert (record["path"], record["reasons"]) == ("structured", ["draining"])


@pytest.mark.slow
async def test_who_waits_for_embeddings_when_the_time_ends_is_answered():
    async with (
        running(answers({}, 500)) as up,
        running(hangs()) as embeddings,
        gateway(backend(up, "primary"), policy=policy("primary"), answers=hanging(embeddings)) as served,
        asyncio.timeout(25),
    ):
        asked = asyncio.create_task(served.chat())
        await until_asked(embeddings)
        served.runtime.closing.end()
        record = (await asked).record
        assert (record["path"], record["reasons"]) == ("structured", ["backend_error", "draining"])


@pytest.mark.slow
async def test_an_answer_that_the_semantic_gate_had_no_time_for_is_not_given():
    async with (
        running(answers({}, 500)) as up,
        running(says(GOOD)) as second,
        running(hangs()) as embeddings,
        gateway(
            backend(up, "primary"),
            backend(second, "second"),
            policy=policy("primary", "second", semantic_gate={"apply": "degraded"}),
            answers=hanging(embeddings),
        ) as served,
        asyncio.timeout(25),
    ):
        asked = asyncio.create_task(served.chat(f"{GOOD}\n\nWhat is the capital of France?"))
        await until_asked(embeddings)
        served.runtime.closing.end()
        record = (await asked).record
        assert (record["path"], record["reasons"]) == ("structured", ["backend_error", "draining"])
        assert [one["outcome"] for one in record["attempts"]] == ["failed", "indeterminate"]


async def test_a_step_of_the_rest_has_its_share_and_a_backend_none():
    closing = Closing()
    closing.end(0.01)
    with pytest.raises(Closed):
        async with closing.within():
            pass
    async with closing.within(STEP_SHARE):
        pass
    with pytest.raises(Closed):
        async with closing.within(STEP_SHARE):
            await asyncio.Event().wait()
