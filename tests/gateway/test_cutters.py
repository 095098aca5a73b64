"""Long prompts are cut in a few threads, within the deadline, and for nobody who has left."""

import asyncio
import json
import threading

import pytest
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway import shape
from gateway.admin import Admin
from gateway.clock import SystemClock
from gateway.cutters import Cutters
from gateway.errors import Abandoned, ContextTooLong, QueueFull
from gateway.policies.holder import ManifestHolder
from gateway.prompt.compress import can_compress, compress
from gateway.prompt.passage import Passage
from gateway.prompt.tokens import CharCounter
from gateway.prompt.truncate import fit

LONG = {"messages": [{"role": "user", "content": "A line of text. " * 2_000}]}


class Endless:
    """Work that ends only where its checkpoint ends it, or the test does."""

    def __init__(self):
        self.begun, self.ended, self.stop = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, checkpoint):
        self.begun.set()
        try:
            while not self.stop.wait(0.001):
                checkpoint()
        finally:
            self.ended.set()

    def fit(self, messages, *, checkpoint=lambda: None, **_):
        self(checkpoint)


@pytest.fixture
def endless():
    work = Endless()
    yield work
    work.stop.set()


async def until(happened):
    async with asyncio.timeout(20):
        while not happened():
            await SystemClock().sleep(0.002)


async def test_work_that_takes_too_long_is_given_up_and_ends(endless):
    cutters = Cutters(SystemClock())
    async with asyncio.timeout(20):
        with pytest.raises(TimeoutError):
            await cutters.run(endless, wait_s=1.0, left_s=lambda: 0.05)
        await until(endless.ended.is_set)
        assert await cutters.run(lambda _: 7, wait_s=1.0, left_s=lambda: 20.0) == 7
    cutters.close()


async def test_work_whose_client_left_ends_and_only_then_is_its_thread_free(endless):
    cutters = Cutters(SystemClock(), threads=1)
    task = asyncio.create_task(cutters.run(endless, wait_s=1.0, left_s=lambda: 20.0))
    await until(endless.begun.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(endless.ended.is_set)
    await until(lambda: cutters.view().running == 0)
    cutters.close()


async def test_more_than_may_wait_are_refused_at_once(endless):
    cutters = Cutters(SystemClock(), threads=1, most_waiting=1)
    tasks = [asyncio.create_task(cutters.run(endless, wait_s=20.0, left_s=lambda: 20.0)) for _ in range(2)]
    await until(lambda: cutters.view().waiting == 1)
    with pytest.raises(QueueFull):
        await cutters.run(endless, wait_s=20.0, left_s=lambda: 20.0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    cutters.close()


async def test_work_that_cannot_begin_any_more_takes_no_place():
    cutters = Cutters(SystemClock(), threads=1)
    cutters.close()
    with pytest.raises(Abandoned):
        await cutters.run(lambda _: 7, wait_s=1.0, left_s=lambda: 20.0)
    assert cutters.view().running == 0


async def test_what_waits_or_is_being_cut_at_the_close_is_abandoned(endless):
    cutters = Cutters(SystemClock(), threads=1)
    tasks = [asyncio.create_task(cutters.run(endless, wait_s=20.0, left_s=lambda: 20.0)) for _ in range(2)]
    await until(endless.begun.is_set)
    cutters.close()
    async with asyncio.timeout(20):
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in ended] == [Abandoned, Abandoned]
    assert cutters.view().running == 0


@pytest.mark.slow
async def test_a_long_prompt_at_the_close_is_answered_without_a_model():
    async with (
        asyncio.timeout(20),
        running(says("Yes.")) as up,
        gateway(backend(up, "primary")) as served,
    ):
        served.runtime.pipeline.shaper.cutters.close()
        answer = await served.post("/v1/chat/completions", json.dumps(LONG).encode())
        assert (answer.status, up.seen) == (200, [])
    assert answer.record["attempts"][0] | {"duration_ms": 0} == {
        **{"path": "primary", "outcome": "refused", "reason": "deadline_exceeded", "duration_ms": 0}
    }


@pytest.mark.slow
async def test_a_prompt_that_cannot_be_cut_in_time_is_answered_at_the_deadline_without_a_model(endless, monkeypatch):
    monkeypatch.setattr(shape, "fit", endless.fit)
    order = {"order": ["primary", "template", "structured"]}
    policy = policy_of(paths=order, deadline={"request_s": 0.7, "reserve_s": 0.3}, truncation={"compress": False})
    async with (
        asyncio.timeout(20),
        running(says("Yes.")) as up,
        gateway(backend(up, "primary"), policy=policy) as served,
    ):
        answer = await served.post("/v1/chat/completions", json.dumps(LONG).encode())
        await until(endless.ended.is_set)
        assert (await served.chat("Does it?")).record["level"] == "healthy"
    assert answer.status == 200
    assert answer.record["path"] == "template"
    assert "deadline_exceeded" in answer.record["reasons"]
    assert len(up.seen) == 1


@pytest.mark.slow
async def test_a_prompt_whose_client_has_left_is_not_cut_on(endless, monkeypatch):
    monkeypatch.setattr(shape, "fit", endless.fit)
    async with (
        asyncio.timeout(20),
        running(says("Yes.")) as up,
        gateway(backend(up, "primary"), policy=policy_of(truncation={"compress": False})) as served,
    ):
        asking = asyncio.create_task(served.post("/v1/chat/completions", json.dumps(LONG).encode()))
        await until(endless.begun.is_set)
        asking.cancel()
        await until(endless.ended.is_set)


@pytest.mark.slow
async def test_where_too_many_long_prompts_wait_the_next_is_told_to_come_later(endless, monkeypatch):
    monkeypatch.setattr(shape, "fit", endless.fit)
    async with (
        asyncio.timeout(20),
        running(says("Yes.")) as up,
        gateway(backend(up, "primary", max_concurrent=99), policy=policy_of(truncation={"compress": False})) as served,
    ):
        cutters = served.runtime.pipeline.shaper.cutters = Cutters(SystemClock(), threads=1, most_waiting=0)
        first = asyncio.create_task(served.post("/v1/chat/completions", json.dumps(LONG).encode()))
        await until(endless.begun.is_set)
        page = (await served.request("GET", "/metrics")).body.decode()
        assert {"truefall_cutting_running 1.0", "truefall_cutting_waiting 0.0"} <= set(page.splitlines())
        second = await served.post("/v1/chat/completions", json.dumps(LONG).encode())
        assert (await served.chat("Does it?")).record["level"] == "healthy"
        first.cancel()
        await until(lambda: cutters.view().running == 0)
        cutters.close()
    assert second.status == 429
    assert "queue_full" in second.record["reasons"]


async def test_the_line_for_a_thread_shows_in_metrics_admin_state_and_the_manifests_gauge(endless, monkeypatch):
    async with asyncio.timeout(20), running(says("Yes.")) as up, gateway(backend(up, "primary")) as served:
        served.runtime.pipeline.shaper.cutters.close()
        cutters = served.runtime.pipeline.shaper.cutters = Cutters(SystemClock(), threads=1)
        tasks = [asyncio.create_task(cutters.run(endless, wait_s=20.0, left_s=lambda: 20.0)) for _ in range(3)]
        await until(lambda: cutters.view().waiting == 2)
        page = (await served.request("GET", "/metrics")).body.decode()
        assert {"truefall_cutting_running 1.0", "truefall_cutting_waiting 2.0"} <= set(page.splitlines())
        cutting = Admin(served.runtime)._state()["cutting"]
        assert (cutting["running"], cutting["waiting"]) == (1, 2)
        gauges = []
        monkeypatch.setattr(ManifestHolder, "tick", lambda _, reading: gauges.append(reading))
        served.runtime.judge_manifests(served.runtime.facts())
        assert gauges[0].queue_waiting == 2
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("text", ["a", "Number one. Number two.\n\nAnd three"])
def test_very_many_messages_cost_more_than_their_text(text):
    messages = [{"role": "user", "content": text}] * 20_000
    assert not can_compress(messages)
    with pytest.raises(ContextTooLong, match="20000 messages"):
        fit(messages, limit_tokens=1_000, count=CharCounter())


def test_very_many_messages_that_fit_are_left_as_they_are():
    messages = [{"role": "user", "content": "a"}] * 20_000
    assert fit(messages, limit_tokens=200_000, count=CharCounter()).messages == messages


@pytest.mark.parametrize("shorten", [compress, fit])
def test_work_on_a_prompt_stops_at_a_checkpoint_within_it(shorten):
    passed = iter(range(20))

    def checkpoint():
        if next(passed, None) is None:
            raise Abandoned

    messages = [{"role": "user", "content": f"Number {index} of them. It is one of many."} for index in range(300)]
    with pytest.raises(Abandoned):
        shorten(messages, limit_tokens=500, count=CharCounter(), checkpoint=checkpoint)
    text = [{"role": "user", "content": "It is one of many. " * 900}]
    with pytest.raises(Abandoned):
        fit(text, limit_tokens=500, count=CharCounter(), checkpoint=checkpoint)


def test_a_conversation_that_no_user_opened_is_looked_through_once():
    class Counted(list):
        looked = 0

        def __getitem__(self, index):
            Counted.looked += 1
            return super().__getitem__(index)

    passage = Passage([{"role": "assistant", "content": "It is. "}] * 500)
    passage.messages = Counted(passage.messages)
    passage.rebuilt({3, 4, 499})
    assert Counted.looked < 5_000
