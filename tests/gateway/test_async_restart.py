"""A gateway that ends, or is killed, at work on a request for later: the next one does it, or says it is lost."""

import asyncio
import json
import signal
from contextlib import asynccontextmanager

import aiohttp
import pytest
from served import Answer
from test_drain import CLOCK, GOOD, process_of
from upstream_stub import hangs, running, says

CONFIG = """
[server]
log = "off"
[[backends]]
name = "primary"
url = "http://127.0.0.1:{port}/v1"
model = "m"
[deferred]
path = "async.db"
lease_s = 1.0
"""
POLICY = """
[decision]
apply = "always"
asynchronous = "always"
most_latency_ms = 0.001
least_confidence = 0.0
forget_s = 3600.0
"""  # whatever has been answered once is slow
pytestmark = pytest.mark.slow


@asynccontextmanager
async def started(tmp_path, up):
    (tmp_path / "gateway.toml").write_text(CONFIG.format(port=up.port))
    (tmp_path / "policy.toml").write_text(POLICY)
    more = ("--policy", str(tmp_path / "policy.toml"))
    async with process_of(tmp_path / "gateway.toml", *more) as (process, url), aiohttp.ClientSession() as session:
        yield process, url, session


async def ask(session, url):
    body = {"messages": [{"role": "user", "content": "What is the capital?"}]}
    async with session.post(f"{url}/v1/chat/completions", json=body) as response:
        return Answer(response.status, dict(response.headers), await response.read())


async def fetched(session, place):
    while True:
        async with session.get(place) as response:
            if response.status != 202:
                return Answer(response.status, dict(response.headers), await response.read())
            assert (await response.json())["status"] in ("queued", "running")
        await CLOCK.sleep(0.05)


async def accepted(tmp_path, up, number):
    """Where a job is fetched that ran when its gateway got the signal."""
    async with started(tmp_path, up) as (process, url, session):
        assert (await ask(session, url)).status == 200
        up.script = hangs()
        answer = await ask(session, url)
        assert answer.status == 202
        await until_asked(up, 2)
        process.send_signal(number)
        assert await process.wait() == (0 if number is signal.SIGTERM else -number)
        return answer.headers["Location"]


async def until_asked(up, count):
    while len(up.seen) < count:
        await CLOCK.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
async def test_a_job_that_ran_when_its_process_ended_is_done_by_the_next(tmp_path, number):
    async with running(says(GOOD)) as up, asyncio.timeout(120):
        place = await accepted(tmp_path, up, number)
        up.script = says(GOOD)
        async with started(tmp_path, up) as (_, url, session):
            answer = await fetched(session, url + place)
            assert (answer.status, answer.text, answer.record) == (200, GOOD, {"level": "healthy"})
    assert [json.dumps(body["messages"]) for body in up.seen[1:]] == [json.dumps(up.seen[1]["messages"])] * 2


async def test_a_job_during_which_two_processes_were_killed_is_told_lost_and_not_tried_again(tmp_path):
    async with running(says(GOOD)) as up, asyncio.timeout(120):
        place = await accepted(tmp_path, up, signal.SIGKILL)
        async with started(tmp_path, up) as (process, _, _):
            await until_asked(up, 3)
            process.kill()
            await process.wait()
        async with started(tmp_path, up) as (_, url, session):
            answer = await fetched(session, url + place)
            assert (answer.status, answer.record["reasons"]) == (206, ["async_lost"])
    assert len(up.seen) == 3
