"""A backend that misbehaves on demand: real loopback sockets, raw HTTP, one script per request."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gateway.clock import SystemClock

Writer = asyncio.StreamWriter
Script = Callable[[Writer, dict[str, Any]], Awaitable[None]]
LOOK_S = 0.02  # how often it looks whether the caller is still there


@dataclass
class Upstream:
    """`script` answers every request until it is replaced; `seen` holds every body that came."""

    script: Script
    port: int = 0
    seen: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    open_calls: int = 0
    writers: set[Writer] = field(default_factory=set)
    broken_off: int = 0  # calls that the gateway gave up

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.open_calls += 1
        self.writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head.decode("latin-1"))
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"content-length")
                    ),
                    0,
                )
                body = json.loads(await reader.readexactly(length)) if length else {}
                self.seen.append(body)
                await self.play(body, reader, writer)
                await writer.drain()
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            self.broken_off += 1
        finally:
            self.open_calls -= 1
            self.writers.discard(writer)
            writer.close()

    async def play(self, body: dict[str, Any], reader: asyncio.StreamReader, writer: Writer) -> None:
        """Run the script to its end, or until the caller has gone."""
        playing = asyncio.ensure_future(self.script(writer, body))
        try:
            while not (await asyncio.wait({playing}, timeout=LOOK_S))[0]:
                if reader.at_eof() or reader.exception():
                    raise ConnectionAbortedError
            playing.result()
        finally:
            playing.cancel()


@asynccontextmanager
async def running(script: Script) -> AsyncIterator[Upstream]:
    upstream = Upstream(script)
    server = await asyncio.start_server(upstream._serve, "127.0.0.1", 0)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for writer in tuple(upstream.writers):
            writer.transport.abort()
        await server.wait_closed()


def completion(text: str | None = "Paris is the capital.", **message: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
    }


def chunk(text: str | None = None, *, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    delta = delta if text is None else {"content": text, **delta}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def raw(status: int, body: bytes, *headers: str, close: bool = False) -> Script:
    """One response of exactly these bytes."""

    async def script(writer: Writer, _: dict[str, Any]) -> None:
        lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        if close:
            writer.close()

    return script


def answers(body: Any, status: int = 200, *headers: str) -> Script:
    return raw(status, json.dumps(body).encode(), "Content-Type: application/json", *headers)


def says(text: str) -> Script:
    """Answers JSON or a good stream, as asked."""

    async def script(writer: Writer, body: dict[str, Any]) -> None:
        if body.get("stream"):
            await streams(*text_events(text))(writer, body)
        else:
            await answers(completion(text))(writer, body)

    return script


def text_events(text: str) -> list[Any]:
    words = text.split(" ")
    parts = [word if index == 0 else f" {word}" for index, word in enumerate(words)]
    usage = {**chunk(), "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}}
    return [
        chunk(role="assistant", content=""),
        *[chunk(part) for part in parts],
        chunk(finish="stop"),
        usage,
        "[DONE]",
    ]


def streams(*events: Any, cut: bool = True, hold: float | None = None, pause_after: int = 0) -> Script:
    """Server-sent events: dicts as JSON, `[DONE]` and other strings as data lines, bytes as they are.

    `cut` closes the connection afterwards without the end that HTTP wants when no `[DONE]` was among the events;
    `hold` keeps it open so long instead; `pause_after` lets that many events arrive on their own.
    """

    async def script(writer: Writer, _: dict[str, Any]) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for index, event in enumerate(events, start=1):
            if isinstance(event, bytes):
                data = event
            else:
                text = event if isinstance(event, str) else json.dumps(event)
                data = f"data: {text}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
            if index == pause_after:
                await SystemClock().sleep(0.03)
        if hold is not None:
            await SystemClock().sleep(hold)  # the stall itself
        if "[DONE]" in events or not cut:
            writer.write(b"0\r\n\r\n")
        else:
            writer.close()

    return script


def hangs(seconds: float = 30.0) -> Script:
    async def script(writer: Writer, _: dict[str, Any]) -> None:
        await SystemClock().sleep(seconds)  # the stall itself

    return script


def dies() -> Script:
    """Closes the connection without a word."""

    async def script(writer: Writer, _: dict[str, Any]) -> None:
        writer.transport.abort()

    return script
