"""What goes over the wire: bodies, headers and the ASGI messages that carry them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec

from gateway.answers.completion import new_id, now_unix_s
from gateway.clock import Clock
from gateway.errors import BadRequest
from gateway.pipeline import Reply
from gateway.record import DegradationRecord

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

JSON_TYPE = (b"content-type", b"application/json")
STREAM_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
ERROR_TYPES = {404: "not_found_error", 413: "invalid_request_error", 429: "overloaded_error"}
encode = msgspec.json.Encoder().encode


class TooLarge(BadRequest):
    """The body is over the limit."""

    def __init__(self, bound: int) -> None:
        super().__init__(f"body is larger than {bound} bytes, the most allowed", field="body", status=413)


async def read_body(receive: Receive, headers: list[tuple[bytes, bytes]], *, max_bytes: int) -> bytes:
    """The whole body. Raises TooLarge as soon as that is known; ConnectionError when the client is gone."""
    for name, value in headers:
        if name == b"content-length" and value.isdigit() and _exceeds(value, max_bytes):
            raise TooLarge(max_bytes)
    message = await receive()
    body = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body") and len(body) <= max_bytes:
        return bytes(body)
    parts = [body]
    size = len(body)
    while message.get("more_body") and message["type"] == "http.request" and size <= max_bytes:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
    if message["type"] == "http.disconnect":
        raise ConnectionError("the client is gone")
    if size > max_bytes:
        raise TooLarge(max_bytes)
    return b"".join(parts)


def _exceeds(digits: bytes, bound: int) -> bool:
    """Whether the number is larger; one of thousands of digits is not read."""
    digits = digits.lstrip(b"0") or b"0"
    return len(digits) > len(str(bound)) or int(digits) > bound


async def respond(send: Send, status: int, body: bytes, headers: Headers) -> None:
    """One whole response."""
    headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def respond_json(send: Send, status: int, value: Any, headers: Headers | None = None) -> None:
    await respond(send, status, encode(value), [JSON_TYPE, *(headers or [])])


def record_headers(record: DegradationRecord) -> Headers:
    """The record's outline, for clients that look no further than headers."""
    headers = [(b"x-degradation-level", record.level.encode())]
    if record.path is not None:
        headers.append((b"x-degradation-path", record.path.encode()))
    if record.reasons:
        headers.append((b"x-degrade-reason", ",".join(record.reasons).encode()))
    return headers


async def reject(
    send: Send, error: BadRequest, count: Callable[[BadRequest], None], headers: Headers | None = None
) -> None:
    """Answer with a 4xx, and count it."""
    count(error)
    await respond_json(send, error.status, error_body(error), headers)


def error_body(error: BadRequest) -> dict[str, Any]:
    """OpenAI's error object."""
    kind = ERROR_TYPES.get(error.status, "invalid_request_error")
    return {"error": {"message": str(error), "type": kind, "param": error.field, "code": error.code}}


def reply_body(reply: Reply) -> Any:
    """The JSON body of a reply that is not streamed."""
    if reply.completion is not None:
        body = reply.completion.body
        body["degradation"] = reply.record
        if (name := reply.record.model_named) is not None:
            body["model"] = name
        return body
    if reply.retry_after_s is not None:
        why = ", ".join(reply.record.reasons)
        message = f"refused on purpose ({why}); try again in {reply.retry_after_s} s"
        code = str(reply.record.reasons[-1]) if reply.record.reasons else None
        error = {"message": message, "type": ERROR_TYPES[429], "param": None, "code": code}
        return {"error": error, "degradation": reply.record}
    return structured_body(reply)


def structured_body(reply: Reply) -> dict[str, Any]:
    """The answer when there is none: says so, in a shape that OpenAI's clients can still read."""
    return {
        "id": new_id(),
        "object": "chat.completion",
        "created": now_unix_s(),
        "model": reply.record.path or "structured",
        "choices": [],
        "status_code": reply.status,
        "reason": "degraded",
        "suggestion": reply.suggestion,
        "degradation": reply.record,
    }


def structured_event(reply: Reply) -> bytes:
    """The same for a stream: an error event, since a stream without choices would read as an empty answer."""
    message = f"no answer: the service is degraded; {reply.suggestion}"
    error = {"message": message, "type": "degraded", "param": None, "code": str(reply.status)}
    return b"data: " + encode({"error": error, **structured_body(reply)}) + b"\n\n"


class SseSink:
    """The client's end of a stream."""

    def __init__(
        self, send: Send, on_first: Callable[[], None], *, clock: Clock, waited: Callable[[float], None]
    ) -> None:
        """`waited` is told how many seconds the client let each part wait."""
        self._send = send
        self._on_first = on_first
        self._clock = clock
        self._waited = waited
        self.shown: DegradationRecord | None = None

    async def send(self, data: bytes, *, record: DegradationRecord) -> None:
        """Send events; the first call sends the headers."""
        if self.shown is None:
            self.shown = record
            self._on_first()
            headers = [*STREAM_HEADERS, *record_headers(record)]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        began_s = self._clock.now_s()
        try:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        finally:
            self._waited(self._clock.now_s() - began_s)

    async def close(self) -> None:
        """End the response."""
        await self._send({"type": "http.response.body", "body": b""})
