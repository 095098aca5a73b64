"""The connection to a backend, against servers that say exactly these bytes."""

import asyncio
import gzip
import zlib
from contextlib import asynccontextmanager

import pytest

from gateway.backends import client as client_module
from gateway.backends import origin as origin_module
from gateway.backends.client import Call, Client
from gateway.backends.exchange import Connection
from gateway.backends.origin import Origin
from gateway.errors import Blame, BrokenOff, CannotConnect, Disconnected, NotHttp, TooLong, UpstreamError
from gateway.policy import Limits

MOST_BYTES = 1_000_000
REQUEST = b"POST /v1 HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
HEAD = b"HTTP/1.1 200 OK\r\n"
ENDLESS = [b"x: y\r\n" * 3000] * 4


def chunked(*parts):
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return HEAD + b"transfer-encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"


class Server:
    """Answers each request with the next of `answers`, piece by piece; None ends the connection there."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.connections = self.open = 0
        self.deaf = False  # answers before it has read anything, and reads nothing
        self.deaf_ones = []
        self.lost = asyncio.Event()  # one of them
        self.full = asyncio.Event()  # the client reads more slowly than we write


class Served(asyncio.Protocol):
    def __init__(self, server):
        self.server = server
        self.asked = b""

    def connection_made(self, transport):
        self.server.connections += 1
        self.server.open += 1
        self.transport = transport
        if self.server.deaf:
            self.server.deaf_ones.append(transport)
            transport.pause_reading()
            self.say(self.server.answers.pop(0))

    def data_received(self, data):
        self.asked += data
        if self.asked.endswith(b"hi") or not self.asked.startswith(b"POST"):
            self.asked = b""
            answer = self.server.answers.pop(0)
            self.say(answer if isinstance(answer, tuple) else (answer,))

    def say(self, pieces):
        if not pieces or self.transport.is_closing():
            return
        if pieces[0] is None:
            self.transport.write_eof() if self.server.deaf else self.transport.close()
            return
        self.transport.write(pieces[0])
        asyncio.get_running_loop().call_later(0.01, self.say, pieces[1:])

    def pause_writing(self):
        self.server.full.set()

    def connection_lost(self, exc):
        self.server.open -= 1
        self.server.lost.set()


@asynccontextmanager
async def serving(*answers):
    server = Server(answers)
    listening = await asyncio.get_running_loop().create_server(lambda: Served(server), "127.0.0.1", 0)
    origin = Origin(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1")
    try:
        yield server, origin
    finally:
        origin.close()
        listening.close()
        for transport in server.deaf_ones:
            transport.abort()
        if server.connections:
            async with asyncio.timeout(10):
                await server.lost.wait()


async def exchange(origin, *, whole=True, most_bytes=MOST_BYTES):
    connection = await origin.connection(connect_s=5)
    whole_by = asyncio.get_running_loop().time() + 5 if whole else None
    try:
        await connection.ask(REQUEST, most_bytes=most_bytes, whole_by=whole_by)
        parts = []
        while data := await connection.read():
            parts.append(data)
    except BaseException:
        connection.close()
        raise
    origin.take_back(connection)
    return connection.status, b"".join(parts)


async def until(holds):
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.get_running_loop().run_in_executor(None, lambda: None)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "answer",
    [
        OK,
        (OK[:10], OK[10:40], OK[40:]),
        HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        (HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r", b"\nllo\r\n0\r\nx-trailer: 1\r\n\r\n"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        (b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", OK),
        (HEAD + b"\r\nhello", None),  # no length: the end of the connection is the end
        (b"HTTP/1.0 200 OK\r\n\r\nhello", None),
        HEAD + b"content-encoding:\r\ncontent-length: 5\r\n\r\nhello",
        chunked(*[b"%c" % byte for byte in b"hello"])[:-2] + b"retry-after: 9\r\n\r\n",
        HEAD + b"upgrade: h2c\r\nconnection: upgrade\r\ncontent-length: 5\r\n\r\nhello",
        HEAD + b"content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzip.compress(b"hello")), gzip.compress(b"hello")),
        HEAD + b"content-encoding: deflate\r\ncontent-length: %d\r\n\r\n" % len(zlib.compress(b"hello"))
        + zlib.compress(b"hello"),
    ],
)  # fmt: skip
async def test_every_form_of_a_whole_answer_is_read(answer, whole):
    async with serving(answer) as (_, origin):
        assert await exchange(origin, whole=whole) == (200, b"hello")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, Disconnected),
        ((b"HTTP/1.1 200 OK\r\nconte", None), Disconnected),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", None), Disconnected),
        ((HEAD + b"content-length: 5\r\n\r\nhell", None), BrokenOff),
        ((HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", None), BrokenOff),
        ((HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhel", None), BrokenOff),
        ((HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"hello")[:-4], None), BrokenOff),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NotHttp),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n", NotHttp),
        (HEAD + b"content-length: many\r\n\r\n", NotHttp),
        (HEAD + b"content-encoding: br\r\ncontent-length: 5\r\n\r\nhello", NotHttp),
        (HEAD + b"content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello", NotHttp),
        (HEAD + b"x: " + b"y" * 70_000, NotHttp),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", NotHttp),
        (HEAD + b"content-length: 1000001\r\n\r\n" + b"x" * 1_000_001, TooLong),
        (HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"x" * 1_000_001), TooLong),
        (chunked(b"h" * 600_000, b"i" * 600_000), TooLong),
        (HEAD + b"content-encoding: gzip\r\ncontent-length: 1025\r\n\r\n"
         + gzip.compress(b"hello") + b"x" * 1000, NotHttp),
        ((HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"hel") + gzip.compress(b"lo"), None), NotHttp),
        ((chunked(b"hello")[:-2], *ENDLESS, None), NotHttp),  # lines of a trailer
        ((chunked(b"hello")[:-2] + b"x: ", *ENDLESS, None), NotHttp),
        ((HEAD + b"transfer-encoding: chunked\r\n\r\n5;x=", *[b"y" * 20_000] * 4, None), NotHttp),
        ((b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3000, None), NotHttp),
    ],
)  # fmt: skip
async def test_every_way_to_break_has_its_name(answer, error, whole):
    async with serving(answer) as (_, origin):
        with pytest.raises(error):
            await exchange(origin, whole=whole)


async def test_a_reset_within_the_answer_is_no_end_even_where_no_length_was_told():
    async with serving((HEAD + b"\r\nhel",)) as (_, origin):
        connection = await origin.connection(connect_s=5)
        await connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=None)
        assert await connection.read() == b"hel"
        connection.connection_lost(ConnectionResetError())
        with pytest.raises(BrokenOff):
            await connection.read()
        connection.close()


async def test_a_connection_carries_one_exchange_after_the_other():
    async with serving(OK, OK, OK) as (server, origin):
        for _ in range(3):
            assert await exchange(origin) == (200, b"hello")
        assert server.connections == 1


@pytest.mark.parametrize(
    "first",
    [  # the last one speaks only when nothing was asked
        HEAD + b"connection: close\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        OK + b"more than was asked for",
        OK + OK,
        (OK, b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"),
    ],
)
async def test_a_connection_that_may_not_be_used_again_is_not(first, monkeypatch):
    monkeypatch.setattr(origin_module, "IDLE_CONNECTION_S", 1000)
    async with serving(first, OK) as (server, origin):
        assert await exchange(origin) == (200, b"hello")
        async with asyncio.timeout(10):
            await server.lost.wait()
        assert await exchange(origin) == (200, b"hello")
        assert server.connections == 2


async def test_an_answer_that_was_not_read_to_its_end_leaves_no_connection_to_the_next():
    async with serving((HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", b"0\r\n\r\n"), OK) as (
        server,
        origin,
    ):
        connection = await origin.connection(connect_s=5)
        await connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=None)
        assert await connection.read() == b"hello"
        origin.take_back(connection)
        assert await exchange(origin) == (200, b"hello")
        assert server.connections == 2


async def test_idle_connections_are_closed_before_a_backend_would(monkeypatch):
    monkeypatch.setattr(origin_module, "IDLE_CONNECTION_S", 0.05)
    async with serving(OK, OK) as (server, origin):
        await exchange(origin)
        async with asyncio.timeout(10):
            await server.lost.wait()
        await exchange(origin)
        assert server.connections == 2


async def test_a_slow_reader_makes_the_backend_wait():
    size = 30_000_000
    async with serving(HEAD + b"content-length: %d\r\n\r\n" % size + b"x" * size) as (server, origin):
        connection = await origin.connection(connect_s=5)
        await connection.ask(REQUEST, most_bytes=size, whole_by=None)
        async with asyncio.timeout(10):
            await server.full.wait()
        await until(lambda: connection._paused)
        assert connection._held_bytes < 1_000_000
        received = 0
        while data := await connection.read():
            received += len(data)
        assert received == size
        connection.close()


async def test_a_whole_answer_that_is_late_is_a_timeout():
    async with serving((HEAD + b"content-length: 5\r\n\r\nhel",)) as (_, origin):
        connection = await origin.connection(connect_s=5)
        with pytest.raises(TimeoutError):
            await connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=asyncio.get_running_loop().time() + 0.1)
        connection.close()


async def test_the_head_of_a_refusal_is_there_at_once():
    async with serving((b"HTTP/1.1 503 Busy\r\ncontent-length: 5\r\nretry-after: 7\r\n\r\nhel", b"lo")) as (_, origin):
        connection = await origin.connection(connect_s=5)
        await connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=asyncio.get_running_loop().time() + 5)
        assert (connection.status, connection.headers[b"retry-after"]) == (503, b"7")
        connection.close()


async def test_nobody_listening_and_an_unknown_name_cannot_be_connected_to():
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
    for url in (f"http://127.0.0.1:{port}/v1", "http://no-such-host.invalid/v1"):
        with pytest.raises(CannotConnect) as caught:
            await Origin(url).connection(connect_s=5)
        assert not caught.value.late


async def test_plain_text_where_tls_is_spoken_cannot_be_connected_to():
    async with serving(OK) as (_, plain):
        with pytest.raises(CannotConnect):
            await Origin(f"https://127.0.0.1:{plain.port}/v1").connection(connect_s=5)


def test_addresses_are_written_as_http_wants_them():
    one = Origin("https://[::1]:8443/v1/chat completions")
    assert (one.host, one.port, one.authority, one.target) == ("::1", 8443, "[::1]:8443", "/v1/chat%20completions")
    named = Origin("http://münchen.example/v1")
    assert (named.host, named.port, named.authority) == ("xn--mnchen-3ya.example", 80, "xn--mnchen-3ya.example")


async def test_a_connection_that_the_backend_closed_is_not_used():
    async with serving((OK, None), OK) as (server, origin):
        await exchange(origin)
        kept = origin._idle[-1][0]
        await until(lambda: not kept.idle)
        assert await exchange(origin) == (200, b"hello")
        assert server.connections == 2


def test_a_connection_that_was_never_opened_can_be_closed():
    loop = asyncio.new_event_loop()
    Connection(loop).close()
    loop.close()


BROKEN_WHEN_WHOLE = [
    (HEAD + b"content-encoding: gzip\r\ncontent-length: 21\r\n\r\n" + gzip.compress(b"hello")[:-4], BrokenOff),
    (chunked(b"hello", b"x" * MOST_BYTES), TooLong),
    (chunked(b"hello")[:-5] + b"5\r\nwhole\r\n5\r\ntail\r\nx", NotHttp),
]


@pytest.mark.parametrize(("answer", "error"), BROKEN_WHEN_WHOLE)
async def test_the_good_beginning_of_a_broken_answer_is_not_taken_for_the_whole(answer, error):
    async with serving(answer) as (_, origin):
        connection = await origin.connection(connect_s=5)
        with pytest.raises(error):
            await connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=asyncio.get_running_loop().time() + 5)
        connection.close()


@pytest.mark.parametrize(
    ("answer", "error"), [((b"", None), Disconnected), ((HEAD + b"content-length: 5\r\n\r\nhel", None), BrokenOff)]
)
async def test_a_backend_that_says_no_more_is_over_though_it_has_not_read_the_request(answer, error):
    async with serving(answer) as (server, origin):
        server.deaf = True
        connection = await origin.connection(connect_s=5)
        with pytest.raises(error):
            await connection.ask(
                b"x" * 50_000_000, most_bytes=MOST_BYTES, whole_by=asyncio.get_running_loop().time() + 5
            )
        connection.close()


async def test_an_answer_to_a_request_that_is_not_sent_yet_leaves_no_connection_to_the_next():
    async with serving((OK,)) as (server, origin):
        server.deaf = True
        connection = await origin.connection(connect_s=5)
        await connection.ask(b"x" * 50_000_000, most_bytes=MOST_BYTES, whole_by=asyncio.get_running_loop().time() + 5)
        assert await connection.read() == b"hello"
        assert not connection.clean
        origin.take_back(connection)


class Closing(asyncio.Transport):
    """A transport as uvloop has it, between its failure and the news of it."""

    def is_closing(self):
        return True

    def pause_reading(self):
        pass

    def resume_reading(self):
        raise RuntimeError("the handler is closed")

    def write(self, data):
        pass

    def abort(self):
        pass


async def test_what_came_before_a_transport_failed_can_still_be_read():
    connection = Connection(asyncio.get_running_loop())
    connection.connection_made(Closing())
    asking = asyncio.create_task(connection.ask(REQUEST, most_bytes=MOST_BYTES, whole_by=None))
    while connection._waiter is None:
        await asyncio.wait([asking], timeout=0)
    connection.data_received(HEAD + b"content-length: 999999\r\n\r\n" + b"x" * 300_000)
    await asking
    assert connection._paused
    assert await connection.read() == b"x" * 300_000


async def test_a_name_that_cannot_be_one_cannot_be_connected_to():
    with pytest.raises(CannotConnect):
        await Origin("http://" + "a" * 64 + ".example/v1").connection(connect_s=5)


async def test_an_address_is_not_looked_up(monkeypatch):
    async def hangs(*_, **__):
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", hangs)
    async with serving(OK) as (_, origin):
        assert await exchange(origin) == (200, b"hello")


async def test_a_name_that_hangs_is_looked_up_once_for_all_who_wait(monkeypatch):
    loop = asyncio.get_running_loop()
    asked, known = [], loop.create_future()

    async def looks_up(host, port, **_):
        asked.append(host)
        return await known

    async with serving(OK, OK) as (server, numeric):
        monkeypatch.setattr(loop, "getaddrinfo", looks_up)
        origin = Origin(f"http://backend.example:{numeric.port}/v1")
        with pytest.raises(CannotConnect) as caught:
            await origin.connection(connect_s=0.01)  # who gives up does not end the lookup
        assert caught.value.late
        waiting = [asyncio.create_task(exchange(origin)) for _ in range(2)]
        await asyncio.wait(waiting, timeout=0)
        known.set_result(numeric._numeric)
        assert await asyncio.gather(*waiting) == [(200, b"hello")] * 2
        assert asked == ["backend.example"]
        origin.close()
        await until(lambda: server.open == 0)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_that_never_explains_itself_is_still_that_refusal(stream, monkeypatch):
    monkeypatch.setattr(client_module, "_ERROR_BODY_S", 0.02)
    async with serving((b"HTTP/1.1 429 Busy\r\ncontent-length: 500\r\nretry-after: 7\r\n\r\nhel",)) as (_, origin):
        client = Client(name="b", url=f"http://127.0.0.1:{origin.port}/v1", api_key=None, done_required=True)
        limits = Limits(connect_s=5.0, first_token_s=5.0, idle_s=5.0, total_s=5.0)
        call = Call(body=b"hi", limits=limits, total_s=5.0)
        with pytest.raises(UpstreamError) as caught:
            await client.ping(call, stream=stream)
        assert (caught.value.blame, caught.value.retry_after_s) == (Blame.BACKPRESSURE, 7)
