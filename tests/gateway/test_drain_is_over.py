"""SIGTERM while calls run that do not end in time: who waits gets an answer that says so, and the process ends well."""

import asyncio
import json
import signal

import aiohttp
import pytest
from served import Answer, backend, gateway
from test_drain import CLOCK, GOOD, is_deaf, process_of, waiting_in
from upstream_stub import chunk, hangs, running

from gateway.config import Config, Server
from gateway.draining import backends_end_s, short_drain
from gateway.policy import Deadline, Policy

CONFIG = """
[server]
log = "off"
drain_s = {drain_s}
[[backends]]
name = "primary"
url = "http://127.0.0.1:{port}/v1"
model = "m"
max_concurrent = {room}
"""
POLICY = """
[limits.default]
connect_s = 60.0
first_token_s = 60.0
idle_s = 60.0
total_s = 60.0
[overload]
queue_wait_s = 60.0
"""  # nothing ends before the drain does, however busy the machine
BEGUN = "begun"  # in the question: the stream begins, and goes on only in the end


async def dawdles(writer, body):
    if BEGUN in body["messages"][0]["content"]:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(f"data: {json.dumps(chunk(GOOD[:10]))}\n\n".encode())
        await writer.drain()
    await asyncio.Event().wait()


async def floods(writer, _body):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    event = f"data: {json.dumps(chunk(GOOD * 1000))}\n\n".encode()
    while True:
        writer.write(event)
        await writer.drain()


def started(tmp_path, up, **fields):
    """A process of the command."""
    (tmp_path / "gateway.toml").write_text(CONFIG.format(port=up.port, room=3, **fields))
    (tmp_path / "policy.toml").write_text(POLICY)
    return process_of(tmp_path / "gateway.toml", "--policy", str(tmp_path / "policy.toml"))


def payload(text, **fields):
    return {"messages": [{"role": "user", "content": text}], **fields}


async def ask(session, url, text="What is the capital?", *, stream):
    async with session.post(f"{url}/v1/chat/completions", json=payload(text, stream=stream)) as response:
        return Answer(response.status, dict(response.headers), await response.read())


async def until(seen, count):
    while len(seen) < count:
        await CLOCK.sleep(0.01)


def warned(raw):
    """The start's only words: that this drain is short."""
    (line,) = raw.decode().splitlines()
    assert line.startswith("WARNING: server.drain_s is ")


@pytest.mark.slow
async def test_a_drain_that_is_over_answers_without_a_model_and_ends_a_begun_stream_with_an_error(tmp_path):
    async with (
        running(dawdles) as up,
        asyncio.timeout(120),
        started(tmp_path, up, drain_s=4) as (process, url),
        aiohttp.ClientSession() as session,
    ):
        asked = [asyncio.create_task(ask(session, url, stream=stream)) for stream in (False, True)]
        asked.append(asyncio.create_task(ask(session, url, BEGUN, stream=True)))
        await until(up.seen, 3)
        asked.append(asyncio.create_task(ask(session, url, stream=False)))
        while not await waiting_in(session, url):
            await CLOCK.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        whole, silent, begun, queued = await asyncio.gather(*asked)
        assert await process.wait() == 0
        warned(await process.stderr.read())
    for answer, record, ran in ((whole, whole.record, "indeterminate"), (queued, queued.record, "refused")):
        assert (answer.status, record["path"], record["reasons"]) == (200, "template", ["draining"])
        assert (record["level"], record["abstained"]) == ("critical", True)
        assert [(one["path"], one["outcome"]) for one in record["attempts"]] == [("primary", ran)]
    assert (silent.streamed_record["path"], silent.events[-1]) == ("template", "[DONE]")
    assert silent.streamed_record["reasons"] == ["draining"]
    assert begun.streamed_text == GOOD[:10]
    assert begun.events[-1]["error"]["code"] == "draining"  # and no [DONE], as in every stream that broke
    assert begun.streamed_record["reasons"] == ["draining"]
    assert begun.streamed_record["level"] == "critical"
    assert len(up.seen) == 3


@pytest.mark.slow
async def test_who_does_not_read_his_answer_keeps_no_process_from_ending(tmp_path):
    async with running(floods) as up, asyncio.timeout(120), started(tmp_path, up, drain_s=1) as (process, url):
        host, port = url.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, int(port), limit=1024)
        body = json.dumps(payload("x", stream=True)).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        writer.write(head + body)
        await until(up.seen, 1)
        process.send_signal(signal.SIGTERM)
        while not await is_deaf(url):
            await CLOCK.sleep(0.01)
        assert await process.wait() == 0
        warned(await process.stderr.read())
        writer.close()


@pytest.mark.parametrize(("drain_s", "ends_s"), [(65.0, 64.0), (4.0, 3.0), (1.0, 0.75)])
def test_a_part_of_the_drain_time_is_kept_for_answers_without_a_model(drain_s, ends_s):
    assert backends_end_s(drain_s) == ends_s


@pytest.mark.parametrize(
    ("drain_s", "request_s", "least"), [(30.0, 60.0, "61 s"), (60.0, 60.0, "61 s"), (1, 1, "1.34 s")]
)
def test_a_drain_shorter_than_a_request_may_take_is_told_with_what_would_be_enough(drain_s, request_s, least):
    config = Config(backends=(backend(1, "primary"),), server=Server(drain_s=drain_s))
    told = short_drain(config, Policy(deadline=Deadline(request_s=request_s)))
    assert told is not None
    assert told.endswith(f"at least {least} to let it end")
    long_enough = Config(backends=(backend(1, "primary"),), server=Server(drain_s=float(least[:-2]) + 0.01))
    assert short_drain(long_enough, Policy(deadline=Deadline(request_s=request_s))) is None


def test_by_default_the_drain_lasts_longer_than_a_request():
    assert short_drain(Config(backends=(backend(1, "primary"),)), Policy()) is None


async def test_a_policy_that_makes_the_drain_too_short_is_loaded_and_the_log_says_so(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('name = "short"\n')
    async with running(hangs()) as up, gateway(backend(up, "primary"), policy_path=path, watch_policy=False) as served:
        log = served.runtime.log
        assert (await served.admin("POST", "policy/reload")).status == 200
        log.flush()
        assert "drain_short" not in log._out.getvalue()
        path.write_text('name = "long"\n[deadline]\nrequest_s = 90.0\n')
        assert (await served.admin("POST", "policy/reload")).status == 200
        log.flush()
        assert '"event":"drain_short"' in log._out.getvalue()
