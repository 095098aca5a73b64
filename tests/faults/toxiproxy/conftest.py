"""A server, its API and peers on the loopback, each closed at the end of the test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from faults.toxiproxy.collection import Collection
from faults.toxiproxy.server import build_app

TOXIC_FIELDS = ("name", "stream", "toxicity", "ttl_ms")  # beside type and attributes
BOUND_S = 90.0  # no test waits so long; a busy machine may need it

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Answer(tuple):
    """(status, body): the body as JSON where it is JSON, else as text."""

    status = property(lambda self: self[0])
    body = property(lambda self: self[1])


class Api:
    """The API by method and path."""

    def __init__(self, client: TestClient, collection: Collection) -> None:
        self.client = client
        self.collection = collection

    async def call(self, method: str, path: str, json: object = None, **options: object) -> Answer:
        if json is not None:
            options["json"] = json
        async with self.client.request(method, path, **options) as response:
            text = await response.text()
            try:
                return Answer((response.status, await response.json(content_type=None)))
            except ValueError:
                return Answer((response.status, text))

    async def proxy(self, upstream: str, name: str = "p", **fields: object) -> str:
        """Create a proxy and return where it listens."""
        answer = await self.call("POST", "/proxies", {"name": name, "upstream": upstream, **fields})
        assert answer.status == 201, answer
        return answer.body["listen"]

    async def toxic(self, kind: str, proxy: str = "p", **fields: object) -> dict:
        attributes = {key: fields.pop(key) for key in list(fields) if key not in TOXIC_FIELDS}
        answer = await self.call("POST", f"/proxies/{proxy}/toxics", {"type": kind, "attributes": attributes, **fields})
        assert answer.status == 200, answer
        return answer.body

    async def evidence(self, toxic: str, proxy: str = "p") -> dict:
        return (await self.call("GET", f"/proxies/{proxy}/toxics/{toxic}?evidence=1")).body["evidence"]


@asynccontextmanager
async def serving(seed: int = 7) -> AsyncIterator[Api]:
    collection = Collection(seed)
    async with TestClient(TestServer(build_app(collection)), timeout=aiohttp.ClientTimeout(total=BOUND_S)) as client:
        yield Api(client, collection)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with serving() as running:
        yield running


@pytest.fixture
def new_server():
    """A server with a seed of its own: `async with new_server(5) as api`."""
    return serving


@dataclass
class Peer:
    """A connection to a proxy. Every wait is bounded."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await asyncio.wait_for(self.writer.drain(), BOUND_S)

    async def exactly(self, length: int) -> bytes:
        return await asyncio.wait_for(self.reader.readexactly(length), BOUND_S)

    async def rest(self) -> bytes:
        return await asyncio.wait_for(self.reader.read(), BOUND_S)

    async def ping(self, data: bytes = b"ping") -> bytes:
        await self.send(data)
        return await self.exactly(len(data))


@pytest.fixture
async def connect():
    writers = []

    async def open_connection(address: str) -> Peer:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        writers.append(writer)
        return Peer(reader, writer)

    yield open_connection
    for writer in writers:
        writer.transport.abort()
    for writer in writers:
        with suppress(OSError):
            await writer.wait_closed()


@pytest.fixture
async def upstream():
    """Start an upstream that serves each connection with a function, and return its address."""
    servers = []
    tasks = set()

    async def start(serve: Serve, host: str = "127.0.0.1") -> str:
        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.add(asyncio.current_task())
            try:
                await serve(reader, writer)
            except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.transport.abort() if writer.transport.is_closing() else writer.close()
                with suppress(OSError, asyncio.CancelledError):
                    await writer.wait_closed()

        server = await asyncio.start_server(serve_one, host, 0)
        servers.append(server)
        shown, port = server.sockets[0].getsockname()[:2]
        return f"[{shown}]:{port}" if ":" in shown else f"{shown}:{port}"

    yield start
    for server in servers:
        server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def echoing() -> Serve:
    """Send back what comes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    return serve


@pytest.fixture
async def echo(upstream, echoing) -> str:
    return await upstream(echoing)


@pytest.fixture
def eventually():
    """Wait, for a bounded time, until a condition holds."""

    async def wait(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(BOUND_S):
            while not condition():
                await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(lambda: None))])

    return wait
