"""A vLLM backend's own page over real HTTP: read again and again, and what happens where it cannot be read."""

import asyncio

import pytest
from measured import BYTE_PER_TOKEN, GOOD, asking
from served import backend, gateway
from upstream_stub import raw, running, says

from gateway.clock import SystemClock
from gateway.config import Memory

CLOCK = SystemClock()


class Engine:
    """`/metrics` beside `/v1`, on one port; a GET has no body."""

    def __init__(self, usage):
        self.usage(usage)

    def usage(self, share):
        self.status, self.page = 200, f'vllm:kv_cache_usage_perc{{engine="0",model_name="m"}} {share}\n'

    async def __call__(self, writer, body):
        await (says(GOOD) if body else raw(self.status, self.page.encode(), "Content-Type: text/plain"))(writer, body)


def memory(**fields):
    return Memory(probe="vllm", kv_capacity_bytes=1000, margin_bytes=100, shape=BYTE_PER_TOKEN, **fields)


async def until_read(guard, free_bytes):
    async with asyncio.timeout(20):
        while (reading := guard.reading()) is None or reading.free_bytes != free_bytes:
            await CLOCK.sleep(0.005)


@pytest.mark.slow
async def test_requests_are_admitted_by_what_the_page_says_now():
    engine = Engine(0.6)
    async with running(engine) as up, gateway(backend(up, "primary", memory=memory())) as served:
        guard = served.runtime.backends["primary"].guard
        await until_read(guard, 400)
        assert (await served.chat(**asking(served, 301, "What is it?"))).record["reasons"] == ["memory_full"]
        assert (await served.chat(**asking(served, 300, "What is it?"))).record == {"level": "healthy"}
        engine.usage(0.2)
        await until_read(guard, 800)
        assert (await served.chat(**asking(served, 301, "What is it?"))).record == {"level": "healthy"}
        assert "GET /metrics HTTP/1.1" in {head.split("\r\n")[0] for head in up.heads}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "page"),
    [(200, "<html>"), (200, "vllm:kv_cache_usage_perc 1.5\n"), (503, "vllm:kv_cache_usage_perc 0.0\n"), (200, "")],
)
async def test_a_page_that_cannot_be_read_is_logged_counts_as_full_once_it_is_old_and_ends_nothing(status, page):
    engine = Engine(0.1)
    async with (
        running(engine) as up,
        gateway(backend(up, "primary", memory=memory(max_age_s=0.2))) as served,
    ):
        guard = served.runtime.backends["primary"].guard
        await until_read(guard, 900)
        engine.status, engine.page = status, page
        async with asyncio.timeout(20):
            while guard.reading() is not None:
                await CLOCK.sleep(0.005)
        assert (await served.chat(**asking(served, 100, "What is it?"))).record["reasons"] == ["memory_full"]
        assert served.runtime.facts().device_memory_share is None  # not measured is no reason for another level
        served.runtime.log.flush()
        assert "metrics_unreadable" in served.runtime.log._out.getvalue()
        engine.usage(0.3)
        await until_read(guard, 700)  # the supervision goes on
        assert (await served.chat(**asking(served, 100, "What is it?"))).record == {"level": "healthy"}


@pytest.mark.slow
async def test_the_page_may_be_elsewhere():
    page = Engine(0.5)
    async with running(page) as there, running(says(GOOD)) as up:
        elsewhere = memory(metrics_url=f"http://127.0.0.1:{there.port}/other?a=1")
        async with gateway(backend(up, "primary", memory=elsewhere)) as served:
            await until_read(served.runtime.backends["primary"].guard, 500)
            assert there.heads[0].startswith("GET /other?a=1 ")
