"""One client's connection: how large its headers may be, and how slowly it may write and read."""

import asyncio
import re
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, cast

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gateway.connection_limits import ConnectionLimits
from gateway.gathered import Gathered
from gateway.half_close import HalfClosed
from gateway.http_1_0 import without_chunks

CLIENT = "truefall.client"  # where the ASGI scope holds the connection, which tells when its client leaves
_UPGRADE = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
_PHRASES = {400: "Bad Request", 408: "Request Timeout", 429: "Too Many Requests", 431: "Header Fields Too Large"}


class Rules(NamedTuple):
    """The limits, and whom to tell why a client was cut off."""

    limits: ConnectionLimits
    refused: Callable[[str], None]


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits. A request that comes in one piece costs no timer."""

    rules: ClassVar[Rules]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._chunk_bytes = 0
        self._head_bytes = 0
        self._head_done = False
        self._whole = False  # the request that came last is complete
        self._too_large = False
        self._began_s = 0.0
        self._slow_request: asyncio.TimerHandle | None = None
        self._slow_reader: asyncio.TimerHandle | None = None
        self._half_closed: HalfClosed | None = None
        self._gathered: Gathered | None = None
        self._answering: RequestResponseCycle | None = None  # the first of those not answered; `cycle` is the last
        self.left = False  # the client is gone
        self.on_leaving: Callable[[], None] | None = None  # tells the request at hand

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._gathered = Gathered(transport, self.loop.call_soon)
        super().connection_made(self._gathered)
        if len(self.connections) > self.rules.limits.max_connections:
            text = f"{self.rules.limits.max_connections} connections are open, the most allowed"
            self._refuse(429, "too_many_connections", text, b"retry-after: 1\r\n")
            return
        self._watch_request()

    def eof_received(self) -> bool:  # type: ignore[override]
        """True keeps the connection open: the client's one whole request is being answered, and it may be listening."""
        cycle = self.cycle
        if not self._whole or cycle is None or cycle.response_complete or self.pipeline:
            if self._gathered is not None:
                self._gathered.flush()  # what was answered just now: the event loop closes past it
            return False
        self._half_closed = HalfClosed(self.transport, self.loop, lambda: cycle.response_started)
        cycle.transport = self._half_closed  # type: ignore[assignment]
        cycle.keep_alive = False
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if self._half_closed is not None:
            self._half_closed.leave()
        self._unwatch_request()
        self.resume_writing()
        super().connection_lost(exc)
        self.left = True
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True  # uvicorn tells only the last of pipelined requests
            self._answering.message_event.set()
        if self.on_leaving is not None:
            self.on_leaving()

    def data_received(self, data: bytes) -> None:
        if self.parser is None or self.transport.is_closing():
            return
        self._chunk_bytes = len(data)
        if self._whole or not self._head_done:
            data = _kept_on_http_1(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._head_done:
            self._head_bytes += len(data)
        if not self._head_done and self._head_bytes > self.rules.limits.max_header_bytes:
            self._refuse_headers()
        elif not self._whole and self._slow_request is None:
            self._watch_request()

    def on_message_begin(self) -> None:
        self._head_done = self._whole = False
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_done = True
        most = self.rules.limits.max_header_bytes
        if self._head_bytes + self._chunk_bytes > most and self._counted_bytes() > most:
            self._too_large = True
            raise ValueError("headers too large")  # the parser stops, and asks for a 400
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        cast(dict[str, Any], cycle.scope)[CLIENT] = self
        super()._start_asgi_task(cycle, app if cycle.scope["http_version"] == "1.1" else without_chunks(app, cycle))

    def on_message_complete(self) -> None:
        self._whole = True
        self._unwatch_request()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._slow_reader is None:
            self._slow_reader = self.loop.call_later(self.rules.limits.write_stall_s, self._cut_off)

    def resume_writing(self) -> None:
        if self._slow_reader is not None:
            self._slow_reader.cancel()
            self._slow_reader = None
        if self.flow is not None:
            super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What the parser could not read, as an error object."""
        if self._too_large:
            self._refuse_headers()
        else:
            self._refuse(400, "bad_http", msg)

    def _counted_bytes(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _refuse_headers(self) -> None:
        text = f"headers are larger than {self.rules.limits.max_header_bytes} bytes, the most allowed"
        self._refuse(431, "headers_too_large", text)

    def _watch_request(self) -> None:
        self._began_s = self.loop.time()
        self._slow_request = self.loop.call_later(self.rules.limits.header_timeout_s, self._look_at_request)

    def _unwatch_request(self) -> None:
        if self._slow_request is not None:
            self._slow_request.cancel()
            self._slow_request = None

    def _look_at_request(self) -> None:
        """The head must be there by now; the body has longer, and as long as we do not read it, no limit."""
        self._slow_request = None
        limit_s = self.rules.limits.request_timeout_s if self._head_done else self.rules.limits.header_timeout_s
        left_s = self._began_s + limit_s - self.loop.time()
        if self.pipeline or self.flow.read_paused:
            left_s = max(left_s, self.rules.limits.header_timeout_s)
        if left_s > 0:
            self._slow_request = self.loop.call_later(left_s, self._look_at_request)
        else:
            part = "body" if self._head_done else "headers"
            self._refuse(408, "slow_request", f"{part} did not come within {limit_s:g} s")

    def _cut_off(self) -> None:
        self._slow_reader = None
        self.rules.refused("slow_reader")
        self.transport.abort()  # the request's handler is told that its client is gone

    def _refuse(self, status: int, reason: str, text: str, more: bytes = b"") -> None:
        self.rules.refused(reason)
        self._unwatch_request()
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            error = {"message": text, "type": "invalid_request_error", "param": None, "code": reason}
            body = msgspec.json.encode({"error": error})
            head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n"
            self.transport.write(head.encode() + more + b"content-length: %d\r\n\r\n" % len(body) + body)
        self.transport.close()


def _kept_on_http_1(data: bytes) -> bytes:
    """Without an offer to change the protocol: the parser would throw the body away that comes after one.

    Java's HTTP client makes that offer with every request; who serves HTTP/1.1 may ignore it.
    """
    if b"pgrade" not in data and b"PGRADE" not in data:
        return data
    head, end, body = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"\r\nx-upgrd:", head) + end + body


def protocol_of(limits: ConnectionLimits, refused: Callable[[str], None]) -> type[LimitedProtocol]:
    """uvicorn makes the protocols itself, so what they need is given to their class."""
    return type("Protocol", (LimitedProtocol,), {"rules": Rules(limits, refused)})
