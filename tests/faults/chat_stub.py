"""A small OpenAI-compatible server over real loopback sockets, for the tests of the proxy."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

ANSWER = "Opened software cannot be refunded. Order A-1234 was charged 59.90 USD on Monday. Ask us for help."
USAGE = {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33}


class Backend:
    """Answers with `answer`, cut into `chunks` when streaming; keeps what it received."""

    def __init__(self, answer: str = ANSWER, chunks: Sequence[str] | None = None) -> None:
        self.answer = answer
        self.chunks = list(chunks) if chunks is not None else answer.replace(" ", "| ").split("|")
        self.received: list[dict[str, Any]] = []
        self.headers: list[list[tuple[str, str]]] = []
        self.pause = asyncio.Event()
        self.pause.set()
        self.gone = 0

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.received.append(body)
        self.headers.append(list(request.headers.items()))
        if body.get("stream"):
            return await self.stream(request)
        choice = {"index": 0, "message": {"role": "assistant", "content": self.answer}, "finish_reason": "stop"}
        return web.json_response({"id": "c1", "model": "stub", "choices": [choice], "usage": USAGE})

    async def stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": a comment\n\n")
        try:
            for text in self.chunks:
                await response.write(event({"choices": [{"index": 0, "delta": {"content": text}}]}))
                await self.pause.wait()
        except (asyncio.CancelledError, ConnectionError):
            self.gone += 1
            raise
        await response.write(event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        await response.write(event({"choices": [], "usage": USAGE}))
        await response.write(b"data: [DONE]\n\n")
        return response

    async def other(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        text = f"{request.method} {request.raw_path} {len(body)} bytes\n".encode() + body
        return web.Response(
            status=418, reason="Short and Stout", body=text, headers={"X-Odd": "ä;b", "Content-Type": "a/b"}
        )


def event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"id": "c1", "model": "stub", **value}).encode() + b"\n\n"


@asynccontextmanager
async def running(backend: Backend) -> AsyncIterator[str]:
    """Yields the backend's URL."""
    app = web.Application(client_max_size=2**28)
    app.router.add_post("/v1/chat/completions", backend.chat)
    app.router.add_route("*", "/{path:.*}", backend.other)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
