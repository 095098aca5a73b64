"""The ends of the gateway's bench, as processes: `stub PORT_FILE PROMPT_TOKENS ANSWER_TOKENS`, `proxy PORT_FILE URL`.

`stub` answers chat requests from memory, always with the same token counts; `proxy` is a bare ASGI pass-through with
the gateway's own libraries.
"""

import asyncio
import json
import socket
import sys
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import uvicorn
import uvloop

ANSWER = (
    "Opened software cannot be refunded. Other goods can be returned within 14 days if they are unopened and the "
    "receipt is there. The shop pays the postage only where the goods were faulty when they came."
)
CHUNKS = 20
_PIECES = [ANSWER[at : at + len(ANSWER) // CHUNKS + 1] for at in range(0, len(ANSWER), len(ANSWER) // CHUNKS + 1)]


def _chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    choices = [] if delta is None else [choice]
    body = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return _piece(b"data: " + json.dumps({**body, **more}).encode() + b"\n\n")


def _piece(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _answer(usage: dict[str, int]) -> bytes:
    message = {"role": "assistant", "content": ANSWER}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": usage,
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return head + body


STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM_END = _piece(b"data: [DONE]\n\n") + b"0\r\n\r\n"
STREAM = [
    _chunk({"role": "assistant", "content": ""}),
    *[_chunk({"content": piece}) for piece in _PIECES],
    _chunk({}, "stop"),
]


class Answers(NamedTuple):
    """What the stub answers, made once."""

    json: bytes
    usage_event: bytes


def answers(*, prompt_tokens: int, completion_tokens: int) -> Answers:
    total = prompt_tokens + completion_tokens
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens, "total_tokens": total}
    return Answers(_answer(usage), _chunk(None, usage=usage))


class Stub(asyncio.Protocol):
    """Requests come one after the other on a connection, in any pieces."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

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
        if b'"stream":true' not in body and b'"stream": true' not in body:
            self._transport.write(self._answers.json)
            return
        self._transport.write(STREAM_HEAD)
        for part in STREAM:
            self._transport.write(part)
        if b'"include_usage":true' in body:
            self._transport.write(self._answers.usage_event)
        self._transport.write(STREAM_END)


async def stub(bound: socket.socket, prompt_tokens: int, completion_tokens: int) -> None:
    made = answers(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
    server = await asyncio.get_running_loop().create_server(lambda: Stub(made), sock=bound)
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
    uvloop.run(stub(bound, int(rest[0]), int(rest[1])) if kind == "stub" else proxy(bound, rest[0]))


if __name__ == "__main__":
    main()
