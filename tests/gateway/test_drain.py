"""SIGTERM while the gateway works: what was accepted is finished, also what still waits, and the process ends well."""

import asyncio
import json
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from served import Answer
from upstream_stub import chunk, completion, running

from gateway.clock import SystemClock

ROOT = Path(__file__).parents[2]
CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
CONFIG = """
[server]
log = "off"
[[backends]]
name = "primary"
url = "http://127.0.0.1:{port}/v1"
model = "m"
max_concurrent = 2
"""


class Held:
    """Answers well once it may; of a stream it sends the first half before."""

    def __init__(self):
        self.go = asyncio.Event()

    async def __call__(self, writer, body):
        if not body.get("stream"):
            await self.go.wait()
            raw = json.dumps(completion(GOOD)).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(raw), raw))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(f"data: {json.dumps(chunk(GOOD[:10]))}\n\n".encode())
        await writer.drain()
        await self.go.wait()
        for event in (json.dumps(chunk(GOOD[10:])), json.dumps(chunk(finish="stop")), "[DONE]"):
            writer.write(f"data: {event}\n\n".encode())
        writer.close()


@asynccontextmanager
async def process_of(config, *more):
    """The command itself, and where it listens."""
    command = (sys.executable, "-m", "harness.cli", "gateway", "--config", str(config), "--port", "0", *more)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process, json.loads(await process.stdout.readline())["url"]
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ask(session, url, *, stream):
    body = {"messages": [{"role": "user", "content": "What is the capital?"}], "stream": stream}
    async with session.post(f"{url}/v1/chat/completions", json=body) as response:
        return Answer(response.status, dict(response.headers), await response.read())


async def waiting_in(session, url):
    async with session.get(f"{url}/metrics") as response:
        return 'truefall_waiting{backend="primary"} 1.0' in await response.text()


async def is_deaf(url):
    """Whether nobody new is let in."""
    host, port = url.removeprefix("http://").split(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionError:  # refused, or reset in the very moment in which the gateway stopped listening
        return True
    writer.close()
    return False


@pytest.mark.slow
async def test_sigterm_finishes_a_json_answer_a_stream_and_one_that_waits_for_its_turn(tmp_path):
    held = Held()
    async with running(held) as up, asyncio.timeout(120):
        (tmp_path / "gateway.toml").write_text(CONFIG.format(port=up.port))
        async with process_of(tmp_path / "gateway.toml") as (process, url), aiohttp.ClientSession() as session:
            asked = [asyncio.create_task(ask(session, url, stream=stream)) for stream in (False, True)]
            while len(up.seen) < 2:
                await CLOCK.sleep(0.01)
            asked.append(asyncio.create_task(ask(session, url, stream=False)))
            while not await waiting_in(session, url):
                await CLOCK.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            while not await is_deaf(url):
                await CLOCK.sleep(0.01)
            assert len(up.seen) == 2  # the third still waits
            held.go.set()
            whole, streamed, queued = await asyncio.gather(*asked)
            assert await process.wait() == 0
            assert await process.stderr.read() == b""
    for answer in (whole, queued):
        assert (answer.status, answer.text, answer.record) == (200, GOOD, {"level": "healthy"})
    assert (streamed.streamed_text, streamed.events[-1]) == (GOOD, "[DONE]")
    assert streamed.streamed_record == {"level": "healthy"}
    assert len(up.seen) == 3
