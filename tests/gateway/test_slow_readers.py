"""Time that is the client's or the request's own: no breaker, level or queue holds it against a backend."""

import asyncio
import json
import socket

import pytest
from served import backend, gateway, policy_of
from upstream_stub import chunk, hangs, running, says, streams

from gateway.backends.client import Call, Client
from gateway.clock import SystemClock
from gateway.errors import Blame, UpstreamError
from gateway.policy import Limits

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
LONG = 30.0
LARGE = streams(*[chunk("x" * 50_000) for _ in range(80)], chunk(finish="stop"), "[DONE]")  # more than sockets hold


def limits(**own):
    return Limits(**{"connect_s": LONG, "first_token_s": LONG, "idle_s": LONG, "total_s": LONG, **own})


def client_of(up):
    return Client(name="b", url=up.url, api_key=None, done_required=True)


async def blame_of(up, *, stream, left_s, **own):
    """Of a call that comes to nothing."""
    mine = limits(**own)
    call = Call(body=b"{}", limits=mine, total_s=mine.total_s, left_s=left_s)
    client = client_of(up)

    async def take(_):
        """Reads at once."""

    with pytest.raises(UpstreamError) as caught:
        await (client.stream(call, take=take) if stream else client.complete(call))
    return caught.value.blame


@pytest.mark.parametrize(
    ("own", "left_s", "blame"),
    [
        ({"total_s": 0.2}, LONG, Blame.TIMEOUT),
        ({"total_s": 0.2}, 0.2, Blame.TIMEOUT),  # it had at least its own limit
        ({"total_s": LONG}, 0.2, Blame.NEUTRAL),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_try_that_the_requests_deadline_cuts_short_is_nobodys_fault(stream, own, left_s, blame):
    async with running(hangs(LONG)) as up:
        assert await blame_of(up, stream=stream, left_s=left_s, **own) is blame


@pytest.mark.slow
@pytest.mark.parametrize(("own", "blame"), [({"idle_s": 0.2}, Blame.TIMEOUT), ({}, Blame.NEUTRAL)])
async def test_silence_is_the_backends_only_where_its_own_limit_is_over(own, blame):
    async with running(streams(chunk("Par"), hold=LONG)) as up:
        assert await blame_of(up, stream=True, left_s=1.0, **own) is blame


@pytest.mark.slow
async def test_a_healthy_fallback_that_gets_what_is_left_of_the_time_keeps_its_breaker():
    async def good_later(writer, body):
        await CLOCK.sleep(5.0)  # more than is left, less than its own limit
        await says(GOOD)(writer, body)

    policy = policy_of(
        limits={"default": {"connect_s": LONG, "total_s": LONG}, "a": {"connect_s": LONG, "total_s": 0.5}},
        deadline={"request_s": 2.0},
        breaker={"consecutive_failures": 1},
    )
    async with (
        running(hangs(LONG)) as a,
        running(good_later) as b,
        gateway(backend(a, "a"), backend(b, "b"), policy=policy, tick_s=3600.0) as served,
    ):
        answer = await served.chat()
        assert [one["reason"] for one in answer.record["attempts"]] == ["timeout", "timeout"]
        assert [served.runtime.backends[name].breaker.trips for name in "ab"] == [1, 0]


@pytest.mark.slow
async def test_the_limits_stand_still_while_the_client_does_not_read():
    async def slow(_):
        await CLOCK.sleep(0.5)  # the client that does not read

    mine = limits(total_s=0.4, idle_s=0.4, first_token_s=0.4)
    async with running(streams(chunk("Par"), chunk("is"), chunk(finish="stop"), "[DONE]", pause_after=1)) as up:
        reader = await client_of(up).stream(Call(body=b"{}", limits=mine, total_s=mine.total_s), take=slow)
    assert reader.done


@pytest.mark.slow
async def test_a_client_that_never_reads_is_ended_by_the_deadline_and_the_backend_is_not_blamed():
    async def never(_):
        await CLOCK.sleep(LONG)  # the client that does not read

    mine = limits(total_s=0.1)
    call = Call(body=b"{}", limits=mine, total_s=mine.total_s, left_s=0.4)
    async with running(streams(chunk("Par"), hold=LONG)) as up, asyncio.timeout(20):
        with pytest.raises(UpstreamError) as caught:
            await client_of(up).stream(call, take=never)
    assert caught.value.blame is Blame.NEUTRAL


class Reader:
    """A client that asks for a stream and takes none of it until it is told to."""

    def __init__(self, served):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.socket.connect(("127.0.0.1", int(served.url.rpartition(":")[2])))
        body = json.dumps({"messages": [{"role": "user", "content": "much"}], "stream": True}).encode()
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.socket.sendall(head % len(body) + body)

    def read(self):
        with self.socket:
            data = b""
            while more := self.socket.recv(1 << 20):
                data += more
            return data


@pytest.mark.slow
async def test_a_client_that_reads_late_moves_no_breaker_no_level_and_no_queue():
    policy = policy_of(
        limits={"default": {"connect_s": LONG, "first_token_s": LONG, "idle_s": 2.0, "total_s": 2.0}},
        breaker={"consecutive_failures": 1, "slow_s": 3.0, "min_calls": 1},
        health={"p99_ms": 3000.0, "window_s": 3600.0},
    )
    async with (
        running(LARGE) as up,
        gateway(backend(up, "primary", max_concurrent=1), policy=policy, tick_s=3600.0) as served,
    ):
        late = Reader(served)
        lane = served.runtime.backends["primary"].lane
        async with asyncio.timeout(20):
            while not lane.view().running:
                await CLOCK.sleep(0.005)
        await CLOCK.sleep(4.0)  # while the client does not read
        assert lane.view().running == 1
        data = await asyncio.to_thread(late.read)
        async with asyncio.timeout(20):
            while not served.runtime.latencies:
                await CLOCK.sleep(0.005)
        assert b"[DONE]" in data
        assert served.runtime.backends["primary"].breaker.trips == 0
        assert served.runtime.facts().p99_ms < 3000.0
        assert lane.view().service_s < 3.0
