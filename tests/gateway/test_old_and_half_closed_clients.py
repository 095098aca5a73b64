"""Clients of HTTP/1.0, and those that end their sending side and still listen."""

import asyncio
import json
import subprocess
import sys

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, completion, hangs, running, says, text_events

from gateway.clock import SystemClock

GOOD = "Paris is the capital of France."
CLOCK = SystemClock()
PATIENT = policy_of(limits={"default": {"first_token_s": 60.0, "total_s": 60.0}}, deadline={"request_s": 60.0})


def request(*, version="1.1", stream=False, headers=()):
    body = json.dumps({"messages": [{"role": "user", "content": "Where?"}], "stream": stream}).encode()
    lines = [f"POST /v1/chat/completions HTTP/{version}", "Host: x", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def parts(raw):
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    return lines[0], dict(line.split(": ", 1) for line in lines[1:]), body


def text_of(body):
    if not body.startswith(b"data: "):
        return json.loads(body)["choices"][0]["message"]["content"]
    events = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
    assert events.pop() == "[DONE]"
    deltas = [one["choices"][0]["delta"] for one in map(json.loads, events) if one.get("choices")]
    return "".join(delta.get("content") or "" for delta in deltas)


def held(script):
    """The script, once its event is set."""
    go = asyncio.Event()

    async def held_script(writer, body):
        await go.wait()
        await script(writer, body)

    return held_script, go


async def connected(served):
    host, port = served.url.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


async def until(true):
    async with asyncio.timeout(20):
        while not true():
            await CLOCK.sleep(0.005)


@pytest.mark.parametrize("keep_alive", [(), ("Connection: keep-alive",)], ids=["plain", "keep alive"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_of_http_1_0_gets_no_chunks_and_the_end_of_its_answer_by_length_or_by_the_end(
    stream, keep_alive
):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        status, headers, body = parts(await served.raw(request(version="1.0", stream=stream, headers=keep_alive)))
    assert status == "http/1.1 200 ok"
    assert "transfer-encoding" not in headers
    assert headers["connection"] == "close"
    assert ("content-length" in headers) is not stream
    assert int(headers.get("content-length", len(body))) == len(body)
    assert text_of(body) == GOOD


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/nowhere"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_all_else_has_a_length_for_http_1_0_too(method, path):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        _, headers, body = parts(await served.raw(f"{method} {path} HTTP/1.0\r\n\r\n".encode()))
    assert "transfer-encoding" not in headers
    assert int(headers["content-length"]) > 0
    assert len(body) == (0 if method == "HEAD" else int(headers["content-length"]))


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_a_client_that_shuts_its_sending_side_after_its_request_gets_the_answer(version, stream):
    script, go = held(says(GOOD))
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        reader, writer = await connected(served)
        writer.write(request(version=version, stream=stream))
        writer.write_eof()
        assert await reader.readexactly(1) == b"H"  # the end is known, and the answer begun
        go.set()
        status, headers, body = parts(b"H" + await reader.read())
        writer.close()
    assert status == "http/1.1 200 ok"
    assert headers["connection"] == "close"
    assert b"Paris" in body
    if "transfer-encoding" not in headers:
        assert text_of(body) == GOOD


async def test_the_same_in_the_middle_of_a_stream():
    go = asyncio.Event()

    async def in_two_halves(writer, _):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for index, event in enumerate(text_events(GOOD)):
            if index == 3:
                await go.wait()
            writer.write(f"data: {event if event == '[DONE]' else json.dumps(event)}\n\n".encode())
        writer.close()

    async with running(in_two_halves) as up, gateway(backend(up, "primary")) as served:
        reader, writer = await connected(served)
        writer.write(request(version="1.0", stream=True))
        head = await reader.readuntil(b"Paris")
        writer.write_eof()
        await CLOCK.sleep(0.02)  # the end of the client arrives first, mostly; the answer is the same either way
        go.set()
        assert text_of(parts(head + await reader.read())[2]) == GOOD
        writer.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", ["closed", "closed after its sending side", "reset"])
@pytest.mark.slow
async def test_one_that_is_really_gone_frees_the_backend(how, stream):
    async with running(hangs(60.0)) as up, gateway(backend(up, "primary"), policy=PATIENT) as served:
        lane = served.runtime.backends["primary"].lane
        reader, writer = await connected(served)
        writer.write(request(stream=stream))
        await until(lambda: lane.view().running == 1)
        if how == "closed after its sending side":
            writer.write_eof()
            assert await reader.readexactly(1) == b"H"
        writer.transport.abort() if how == "reset" else writer.close()
        await until(lambda: lane.view().running == 0)
        await until(lambda: served.runtime.in_flight == 0)
        await until(lambda: up.broken_off == 1)
        assert served.runtime.backends["primary"].breaker._failures == 0


@pytest.mark.parametrize("sent", [request()[:-1], request()[:20], b""], ids=["body", "head", "nothing"])
async def test_half_a_request_and_the_end_is_the_end(sent):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        reader, writer = await connected(served)
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        assert up.seen == []


@pytest.mark.slow
async def test_a_half_closed_client_is_answered_by_the_command_too(tmp_path):
    """There it is another event loop."""
    script, go = held(answers(completion(GOOD)))
    async with running(script) as up:
        config = tmp_path / "gateway.toml"
        config.write_text(
            f'[server]\nport = 0\n[[backends]]\nname = "primary"\nurl = "{up.url}"\nmodel = "m"\n', "utf-8"
        )
        argv = [sys.executable, "-m", "harness.cli", "gateway", "--config", str(config)]
        process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            port = json.loads(await process.stdout.readline())["port"]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request())
            writer.write_eof()
            assert await reader.readexactly(1) == b"H"
            go.set()
            assert text_of(parts(b"H" + await reader.read())[2]) == GOOD
            writer.close()
            _, left = await asyncio.open_connection("127.0.0.1", port)
            go.clear()
            left.write(request())
            await until(lambda: len(up.seen) == 2)
            left.close()
            await until(lambda: up.broken_off == 1)
        finally:
            process.terminate()
            await process.wait()


async def test_a_client_that_leaves_with_requests_in_its_pipeline_is_no_mistake_of_ours(capsys):
    script, go = held(says(GOOD))
    async with running(script) as up, gateway(backend(up, "primary")) as served:
        _, writer = await connected(served)
        writer.write(request() + request())
        await until(lambda: len(up.seen) == 1)
        writer.transport.abort()
        await until(lambda: served.runtime.in_flight == 0)
        go.set()
        answer = await served.chat()
    assert answer.status == 200
    assert len(up.seen) == 2
    assert capsys.readouterr().err == ""
