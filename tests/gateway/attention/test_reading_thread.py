"""The reading model's thread: late, busy, failing, gone; each time the gateway goes on without it and says so."""

import asyncio
import threading

import pytest
from prometheus_client import CollectorRegistry

from gateway.attention.config import AttentionConfig
from gateway.attention.model import Reading
from gateway.attention.probe import AttentionProbe, Focus, State
from gateway.clock import SystemClock

CLOCK = SystemClock()
SHORT = AttentionConfig(timeout_s=0.05, failures=2)


class Reader:
    """A token per character."""

    def __init__(self, *, fails=False):
        self.fails = fails
        self.held = threading.Event()
        self.held.set()

    def read(self, text, *, keep="start"):
        self.held.wait(10)
        if self.fails:
            raise RuntimeError("a kernel failed")
        size = range(len(text))
        return Reading(tuple(size), tuple(float(index) for index in size), tuple(0.5 for _ in size))


class Probed:
    def __init__(self, reader, config=SHORT):
        self.told = []
        self.registry = CollectorRegistry()
        self.probe = AttentionProbe(
            config, tell=lambda *line: self.told.append(line), registry=self.registry, opened=lambda _: reader()
        )

    async def until(self, state):
        self.probe.start()
        async with asyncio.timeout(10):
            while self.probe.state is not state:
                await CLOCK.sleep(0.002)

    def events(self):
        return [event for event, _ in self.told]

    def counted(self, outcome):
        return self.registry.get_sample_value("truefall_attention_readings_total", {"outcome": outcome}) or 0


async def test_before_it_is_loaded_nothing_is_read():
    one = Probed(Reader)
    assert one.probe.drops(["a", "b"]) is None
    assert await one.probe.focus("a", "b") is None
    assert one.counted("loading") == 2
    one.probe.close()


async def test_an_answer_is_read_after_its_context():
    one = Probed(Reader)
    await one.until(State.READY)
    assert await one.probe.focus("abc", "de") == Focus(entropy=4.5, concentration=0.5)
    assert await one.probe.focus("abc", "") is None
    assert len(await asyncio.to_thread(one.probe.drops, ["abc", "de", "f"])) == 2
    one.probe.close()
    assert await one.probe.focus("abc", "de") is None


async def test_a_model_that_cannot_be_loaded_is_off_and_said_so():
    def broken():
        raise OSError("no weights here")

    one = Probed(broken)
    await one.until(State.OFF)
    await CLOCK.sleep(0)
    assert one.events() == ["attention_off"]
    assert "no weights here" in one.told[0][1]
    assert one.probe.drops(["a", "b"]) is None
    one.probe.close()


@pytest.mark.parametrize("way", ["drops", "focus"])
async def test_late_readings_are_not_waited_for_and_end_it(way):
    reader = Reader()
    reader.held.clear()
    one = Probed(lambda: reader)
    await one.until(State.READY)

    async def asked():
        if way == "focus":
            return await one.probe.focus("a", "b")
        return await asyncio.to_thread(one.probe.drops, ["a", "b"])

    assert await asked() is None
    assert await asked() is None  # at once: the thread is still at the first
    assert (one.counted("late"), one.counted("busy")) == (1, 1)
    reader.held.set()
    while one.probe._busy.locked():
        await CLOCK.sleep(0.002)
    reader.held.clear()
    assert await asked() is None
    reader.held.set()
    await CLOCK.sleep(0)
    assert one.events()[-2:] == ["attention_failed", "attention_off"]
    one.probe.close()


async def test_failures_in_a_row_end_it_and_a_success_between_them_does_not():
    reader = Reader(fails=True)
    one = Probed(lambda: reader)
    await one.until(State.READY)
    for fails, state in ((True, State.READY), (False, State.READY), (True, State.READY), (True, State.OFF)):
        reader.fails = fails
        assert (await one.probe.focus("a", "b") is None) is fails
        assert one.probe.state is state
    await CLOCK.sleep(0)
    assert "a kernel failed" in one.told[-1][1]
    one.probe.close()
