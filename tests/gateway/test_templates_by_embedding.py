"""Templates are compared in the space of the configured embedding server, else by hashing; never in both at once."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from served import backend, gateway, policy_of
from upstream_stub import answers, running

from gateway.answers.embedding_health import Asked, EmbeddingHealth
from gateway.answers.template_examples import ExampleVectors
from gateway.config import Answers, Embeddings
from gateway.errors import ConfigError

TEMPLATES = [
    {"lang": "en", "text": "refund", "examples": ["How do I get my money back?", "I want to return this."]},
    {"lang": "en", "text": "hours", "examples": ["What are your opening hours?"]},
    {"lang": "en", "text": "default"},
    {"lang": "zh", "text": "退款", "examples": ["怎么退款"]},
    {"lang": "zh", "text": "默认"},
]
MEANING = {"money": [1, 0, 0], "return": [1, 0.1, 0], "reimburse": [1, 0.05, 0], "hours": [0, 1, 0], "退款": [0, 0, 1]}


class Server:
    """Embeds by meaning; `asked` holds the texts, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken_for: set[str] = set()

    async def answer(self, request: web.Request) -> web.Response:
        text = (await request.json())["input"]
        self.asked.append(text)
        if text in self.broken_for:
            return web.Response(status=500)
        vector = next((vector for word, vector in MEANING.items() if word in text), [1, 1, 1])
        return web.json_response({"data": [{"embedding": vector}]})


@asynccontextmanager
async def templated(marks=None):
    """A gateway whose backend fails, beside an embedding server."""
    server, app = Server(), web.Application()
    app.router.add_post("/v1/embeddings", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    policy = policy_of(templates=TEMPLATES, template_match=marks or {}, paths={"order": ["primary", "template"]})
    files = Answers(embeddings=Embeddings(url=url, model="e", timeout_s=2.0))
    try:
        async with (
            running(answers({}, 500)) as up,
            gateway(backend(up, "primary"), policy=policy, answers=files) as served,
        ):
            yield served, server, runner
    finally:
        await runner.cleanup()


async def test_a_template_is_found_by_meaning_where_hashing_sees_nothing_in_common():
    async with templated() as (served, server, _):
        assert (await served.chat("Will you reimburse me?")).text == "refund"
        assert sorted(server.asked) == sorted(
            [*TEMPLATES[0]["examples"], *TEMPLATES[1]["examples"], "Will you reimburse me?"]
        )
        assert (await served.chat("能退款吗")).text == "退款"
        server.asked.clear()
        assert (await served.chat("Will you reimburse me?")).text == "refund"
        assert server.asked == ["Will you reimburse me?"]  # the examples are asked for once


async def test_the_space_has_its_own_mark():
    async with templated({"min_similarity": 0.0, "embedded_min_similarity": 0.99}) as (served, _, _):
        assert (await served.chat("Where is the moon?")).text == "default"
    async with templated({"min_similarity": 1.0, "embedded_min_similarity": 0.5}) as (served, _, _):
        assert (await served.chat("Where is the moon?")).text in {"refund", "hours"}


async def test_one_missing_example_or_a_server_that_is_gone_means_hashing_for_all():
    async with templated() as (served, server, runner):
        server.broken_for = {"I want to return this."}
        assert (await served.chat("Will you reimburse me?")).text == "default"
        assert (await served.chat("What are the opening hours?")).text == "hours"  # by its words
        server.broken_for = set()
        assert (await served.chat("Will you reimburse me?")).text == "refund"
        await runner.cleanup()
        assert (await served.chat("Will you reimburse me?")).text == "default"
        assert (await served.chat("What are the opening hours?")).text == "hours"


def told(served):
    served.runtime.log.flush()
    found = [json.loads(line) for line in served.runtime.log._out.getvalue().splitlines()]
    return [(one["event"], one["detail"]) for one in found if one["event"].startswith("embeddings_")]


async def test_a_server_that_fails_is_told_once_and_counted_until_it_works_again():
    async with templated() as (served, server, _):
        texts = {*TEMPLATES[0]["examples"], *TEMPLATES[1]["examples"], "Will you reimburse me?"}
        server.broken_for = set(texts)
        for _ in range(4):
            assert (await served.chat("Will you reimburse me?")).text == "default"
        ((event, detail),) = told(served)
        assert event == "embeddings_failing"
        assert detail.endswith(
            "/v1/embeddings: answered 500; questions are compared by the built-in hashing until it answers"
        )
        server.broken_for = set()
        assert (await served.chat("Will you reimburse me?")).text == "refund"
        assert [event for event, _ in told(served)] == ["embeddings_failing", "embeddings_working"]
        page = (await served.request("GET", "/metrics")).body.decode()
        counted = {line.split('"')[1] for line in page.splitlines() if line.startswith("truefall_embeddings_total")}
        assert counted == {"ok", "refused", "unreachable", "late", "unreadable"}
        assert 'truefall_embeddings_total{outcome="refused"} 0.0' not in page


def test_a_text_that_the_server_does_not_like_is_no_trouble_of_the_server():
    lines, counted = [], []
    health = EmbeddingHealth(counted.append, lambda *line: lines.append(line))
    for outcome in (Asked.REFUSED, Asked.OK, Asked.LATE, Asked.LATE, Asked.OK):
        health.saw(outcome)
    assert (lines, len(counted)) == ([], 5)


@pytest.mark.parametrize(
    ("environ", "why"), [({}, "is not set"), ({"KEY": ""}, "is empty"), ({"KEY": "a\n"}, "line break")]
)
async def test_a_key_that_cannot_be_sent_is_refused_at_the_start(environ, why):
    answers_ = Answers(embeddings=Embeddings(url="http://127.0.0.1:9/v1", model="e", api_key_env="KEY"))
    with pytest.raises(ConfigError, match=rf"answers\.embeddings: the variable KEY \(api_key_env\) .*{why}"):
        async with gateway(backend(9, "primary"), answers=answers_, environ=environ):
            pass


class Slow:
    """An embedding server that answers when told to."""

    timeout_s = 0.01

    def __init__(self) -> None:
        self.may, self.asked = asyncio.Event(), 0

    async def embed(self, text: str) -> dict[int, float]:
        self.asked += 1
        await self.may.wait()
        return {0: 1.0}


async def test_examples_that_take_long_are_learned_on_by_one_task_and_nobody_waits_twice_as_long():
    slow = Slow()
    examples = ExampleVectors(slow)
    assert await asyncio.gather(*(examples.of(["a", "b"]) for _ in range(5))) == [None] * 5
    assert slow.asked == 2
    slow.may.set()
    assert await examples.of(["a", "b"]) == {"a": {0: 1.0}, "b": {0: 1.0}}
    assert slow.asked == 2
    assert await examples.of([str(number) for number in range(5000)]) is None
    assert slow.asked == 2
    await examples.close()


@pytest.mark.parametrize("old", [4095, 4096])
async def test_vectors_of_templates_that_are_gone_do_not_pile_up(old):
    slow = Slow()
    slow.may.set()
    slow.timeout_s = 60.0
    examples = ExampleVectors(slow)
    assert len(await examples.of([str(number) for number in range(old)])) == old
    assert len(await examples.of(["0", "new", "newer"])) == 3


async def test_closing_ends_the_learning():
    slow = Slow()
    examples = ExampleVectors(slow)
    await examples.close()
    await examples.of(["a"])
    await examples.close()
    assert len(asyncio.all_tasks()) == 1
