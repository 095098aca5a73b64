"""One HTTP/1.1 connection to a backend: a request out, an answer back, and exactly how it broke where it did."""

import asyncio
import zlib
from typing import Any

import httptools

from gateway.errors import BrokenOff, Disconnected, ExchangeError, NotHttp, TooLong

_HELD_BYTES = 262_144  # of an answer that nobody has read yet, before the backend has to wait
_HEAD_BYTES = 65_536
_EITHER_FORMAT = zlib.MAX_WBITS | 32  # gzip's or zlib's own, as the data says
_OK = 200  # a lower status comes before the answer
_PLAIN, _COMPRESSED = b"identity", (b"gzip", b"x-gzip", b"deflate")


class Connection(asyncio.Protocol):
    """Carries one exchange after another: `ask`, then `read` until it gives nothing.

    After an exchange that did not end `clean` it must be closed; `idle` says whether another may follow.
    """

    status: int  # of the answer at hand, 0 until it is there
    headers: dict[bytes, bytes]  # names in lower case; of two of one name the last
    _parts: list[bytes]  # of the body, decoded, that nobody has read yet
    _held_bytes: int
    _head_bytes: int  # of head, trailer and framing since anything of a body came
    _left_bytes: int
    _whole: bool  # nobody is told before all of it is there
    _head_done: bool
    _measured: bool  # the answer says how long it is
    _ended: bool
    _reusable: bool
    _error: ExchangeError | TimeoutError | None
    _decoder: Any  # of a compressed body

    def __init__(self, loop: asyncio.AbstractEventLoop, opened: "set[Connection] | None" = None) -> None:
        """`opened`: holds it for as long as its socket is open."""
        self._loop = loop
        self._opened = set() if opened is None else opened
        self._transport: Any = None
        self._parser = httptools.HttpResponseParser(self)
        self._waiter: asyncio.Future[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._asked = False  # an answer is due
        self._lost = False
        self._paused = False
        self._begin(whole=False, most_bytes=0)

    @property
    def idle(self) -> bool:
        """Whether it is open and nothing is under way."""
        return not (self._lost or self._asked or self._transport.is_closing())

    @property
    def clean(self) -> bool:
        """Whether the answer ended where it said, and the connection may carry another exchange."""
        over = self._ended and self._reusable and self._error is None and not self._lost
        return over and not self._transport.get_write_buffer_size()  # else the request itself is still on its way

    async def ask(self, message: bytes, *, most_bytes: int, whole_by: float | None) -> None:
        """Send; returns when the head of the answer is there, or, with `whole_by`, all of it.

        `most_bytes`: of the body, decoded. An answer that is no success is not waited for. Raises ExchangeError, and
        TimeoutError where not all is there at the event loop's time `whole_by`.
        """
        whole = whole_by is not None
        self._begin(whole=whole, most_bytes=most_bytes)
        self._asked = True
        if whole_by is not None:
            self._alarm = self._loop.call_at(whole_by, self._expire)
        if self._lost:
            raise Disconnected
        self._transport.write(message)
        while not (self._ended if whole and self.status in (0, _OK) else self._head_done):
            if self._error is not None:
                raise self._error
            await self._wait()
        if whole and self.status == _OK and self._error is not None:
            raise self._error

    async def read(self) -> bytes:
        """What came since the last time, b"" at the end. Raises ExchangeError."""
        while not self._parts:
            if self._error is not None:
                raise self._error
            if self._ended:
                return b""
            await self._wait()
        parts, self._parts = self._parts, []
        self._held_bytes = 0
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def rest(self) -> None:
        """The exchange is over; what comes now was not asked for."""
        self._asked = False
        self._disarm()

    def close(self) -> None:
        self.rest()
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._opened.add(self)

    def data_received(self, data: bytes) -> None:
        if not self._asked or self._ended:
            self._reusable = False
            self._transport.abort()
            return
        self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if self._error is None and not self._ended:
                self._error = NotHttp(str(error))
            self._reusable = False
        except httptools.HttpParserUpgrade:
            self._error = NotHttp("it changed the protocol")
        if self._head_bytes > _HEAD_BYTES and not self._ended:
            self._error = self._error or NotHttp(f"a head or trailer of more than {_HEAD_BYTES} bytes")
        if self._error is not None:
            self._transport.abort()
        elif self._held_bytes > _HELD_BYTES and not self._whole and not self._ended:
            self._paused = True
            self._transport.pause_reading()
        if not self._whole or self._ended or self._error is not None or self.status > _OK:
            self._wake()

    def eof_received(self) -> bool:
        """The backend says no more: the connection is over, even while a request waits to be sent."""
        self._reusable = False
        self._stop(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._opened.discard(self)
        self._stop(exc)

    def _stop(self, exc: Exception | None) -> None:
        if self._asked and not self._ended and self._error is None:
            if not self._head_done:
                self._error = Disconnected()
            elif self._measured or exc is not None:
                self._error = BrokenOff()
            else:
                self._end()
        self._wake()

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._ended:
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_done:
            return  # of a trailer, or of an answer that was not asked for
        name = name.lower()
        if name == b"content-length" or (name == b"transfer-encoding" and b"chunked" in value.lower()):
            self._measured = True
        self.headers[name] = value

    def on_headers_complete(self) -> None:
        if self._ended:
            return
        status = self._parser.get_status_code()
        if status < _OK:
            self.headers, self._measured = {}, False
            return
        self.status = status
        self._head_done = True
        coding = self.headers.get(b"content-encoding", b"").lower() or _PLAIN
        if coding in _COMPRESSED:
            self._decoder = zlib.decompressobj(_EITHER_FORMAT)
        elif coding != _PLAIN:
            self._error = NotHttp(f"content-encoding {coding.decode('latin-1')[:40]}, which was not asked for")

    def on_body(self, data: bytes) -> None:
        self._head_bytes = 0
        if self._ended or self._error is not None:
            return
        if self._decoder is not None:
            data = self._decoded(self._decoder, data)
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            self._error = TooLong()
        elif data:
            self._held_bytes += len(data)
            self._parts.append(data)

    def on_message_complete(self) -> None:
        if self._head_done and not self._ended:
            self._reusable = self._reusable and self._parser.should_keep_alive()
            self._end()

    def _begin(self, *, whole: bool, most_bytes: int) -> None:
        self.status = 0
        self.headers = {}
        self._parts = []
        self._held_bytes = self._head_bytes = 0
        self._left_bytes = most_bytes
        self._whole = whole
        self._head_done = self._measured = self._ended = False
        self._reusable = True
        self._error = self._decoder = None

    def _end(self) -> None:
        if self._decoder is not None and not self._decoder.eof:
            self._error = self._error or BrokenOff()
        self._ended = True

    def _decoded(self, decoder: Any, data: bytes) -> bytes:
        try:
            decoded: bytes = decoder.decompress(data, max(1, self._left_bytes + 1))
        except zlib.error as error:
            self._error = NotHttp(f"a body that is not what its content-encoding says: {error}")
            return b""
        if decoder.unused_data:
            self._error = NotHttp("a body that goes on after the end of what its content-encoding says")
        return decoded

    def _expire(self) -> None:
        self._error = self._error or TimeoutError()
        self._wake()

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
