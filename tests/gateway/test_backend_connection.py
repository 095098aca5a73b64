"""The connection to a backend, against servers that say exactly these bytes."""

import asyncio
import gzip
import zlib
from contextlib import asynccontextmanager

import pytest

from gateway.backends import origin as origin_module
from gateway.backends.exchange import Connection
from gateway.backends.origin import Origin
from gateway.errors import BrokenOff, CannotConnect, Disconnected, NotHttp, TooLong

MOST_BYTES = 1_000_000
REQUEST = b"POST /v1 HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
HEAD = b"HTTP/1.1 200 OK\r\n"


class Server:
    """Answers each request with the next of `answers`, piece by piece; None ends the connection there."""

    def __init__(self, answers):
        self.answers = list(answers)
        self.connections = 0
        self.lost = asyncio.Event()  # one of them
        self.full = asyncio.Event()  # the client reads more slowly than we write


class Served(asyncio.Protocol):
    def __init__(self, server):
        self.server = server
        self.asked = b""

    def connection_made(self, transport):
        self.server.connections += 1
        self.transport = transport

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
            self.transport.close()
            return
        self.transport.write(pieces[0])
        asyncio.get_running_loop().call_later(0.01, self.say, pieces[1:])

    def pause_writing(self):
        self.server.full.set()

    def connection_lost(self, exc):
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
