"""The two ends of the gateway's bench, each as a process: `stub PORT_FILE` and `proxy PORT_FILE URL`.

`stub` answers chat requests from memory; `proxy` is a bare ASGI pass-through with the gateway's own libraries.
"""

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any

import aiohttp
import uvicorn
import uvloop

CHUNKS = 20
_TEXT = "Paris is the capital of France, and it lies on the Seine. "


def _chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    data = b"data: " + json.dumps({**body, **more}).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def _answer() -> bytes:
    message = {"role": "assistant", "content": _TEXT * 4}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 50, "total_tokens": 55},
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return head + body


JSON = _answer()
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"
STREAM = [
    _chunk({"role": "assistant", "content": ""}),
    *[_chunk({"content": _TEXT}) for _ in range(CHUNKS)],
    _chunk({}, "stop"),
    b"%x\r\n%s\r\n0\r\n\r\n" % (len(DONE), DONE),
]


class Stub(asyncio.Protocol):
    """Requests come one after the other on a connection, in any pieces."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) < length:
            return
        self._buffer = body[length:]
        if b'"stream":true' in body or b'"stream": true' in body:
            self._transport.write(STREAM_HEAD)
            for part in STREAM:
                self._transport.write(part)
        else:
            self._transport.write(JSON)


async def stub(bound: socket.socket) -> None:
    server = await asyncio.get_running_loop().create_server(Stub, sock=bound)
    await server.serve_forever()


async def proxy(bound: socket.socket, url: str) -> None:
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        message = await receive()
        body = message["body"]
        while message.get("more_body"):
            message = await receive()
            body += message["body"]
        headers = {"Content-Type": "application/json"}
        async with session.post(url + scope["path"], data=body, headers=headers) as response:
            kind = response.headers["content-type"].encode()
            if b"event-stream" in kind:
                head = [(b"content-type", kind)]
                await send({"type": "http.response.start", "status": response.status, "headers": head})
                async for piece in response.content.iter_any():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
                return
            raw = await response.read()
            head = [(b"content-type", kind), (b"content-length", str(len(raw)).encode())]
            await send({"type": "http.response.start", "status": response.status, "headers": head})
            await send({"type": "http.response.body", "body": raw})

    config = uvicorn.Config(app, loop="none", http="httptools", lifespan="off", access_log=False, log_level="error")
    await uvicorn.Server(config).serve(sockets=[bound])


def main() -> None:
    kind, port_file, *rest = sys.argv[1:]
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.listen(512)
    bound.setblocking(False)
    Path(port_file).write_text(str(bound.getsockname()[1]))
    uvloop.run(stub(bound) if kind == "stub" else proxy(bound, rest[0]))


if __name__ == "__main__":
    main()
