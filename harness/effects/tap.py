"""A hop right in front of the backend that keeps what reaches it, to see what a fault did to a request on its way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

READ_BYTES = 2**16


@dataclass(slots=True, kw_only=True)
class Tap:
    """Passes bytes on unchanged; one connection carries one request."""

    backend_port: int
    requests: list[bytearray] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept = bytearray()
        self.requests.append(kept)
        with suppress(OSError):
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self.backend_port)
            ways = [
                asyncio.ensure_future(_pass_on(reader, back_writer, kept)),
                asyncio.ensure_future(_pass_on(back_reader, writer, bytearray())),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            back_writer.close()
        writer.close()

    def prompts(self, since: int) -> list[str]:
        """The last message of each request from number `since` on."""
        found = []
        for kept in self.requests[since:]:
            with suppress(ValueError, KeyError, IndexError):
                found.append(str(json.loads(bytes(kept).partition(b"\r\n\r\n")[2])["messages"][-1]["content"]))
        return found


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
    with suppress(OSError):
        while data := await reader.read(READ_BYTES):
            kept += data
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def tap(backend_port: int) -> AsyncIterator[Tap]:
    """Listen on a free port of the loopback, in front of `backend_port`."""
    found = Tap(backend_port=backend_port)
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
