"""A client that has said all it will say: does it still listen?

A client that is gone and one that only shut its sending side look the same: both send the end of the stream. The
difference shows when something is written, for who is gone answers with a reset. So the answer is begun at once,
a byte at a time: every response starts with `HTTP/1.1 `, whatever it will be.
"""

import asyncio
import select
from collections.abc import Callable
from itertools import accumulate

_BEGINNING = b"HTTP/1.1 "
_LOOK_S, _LOOK_MOST_S = 0.05, 0.5  # how often to see whether a reset came; less and less often
_WRITE_AT_S = tuple(accumulate((0.0, 0.5, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)))  # one byte each, from the end on
_GONE = select.POLLERR | select.POLLHUP


class HalfClosed:
    """A client's transport after the client's end; stands in for it where the answer is written."""

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, begun: Callable[[], bool]
    ) -> None:
        """`begun`: whether a response is being written, so that its own bytes show who is gone."""
        self._transport = transport
        self._loop = loop
        self._begun = begun
        self._look_s = _LOOK_S
        self._written = 0  # bytes of the beginning
        self._since_s = loop.time()
        self._poll = select.poll()
        self._poll.register(transport.get_extra_info("socket").fileno(), 0)
        self._timer = loop.call_soon(self._look)

    def write(self, data: bytes) -> None:
        """The first bytes of a response are there already."""
        skipped = min(self._written, len(data))
        self._written -= skipped
        self._transport.write(data[skipped:])

    def close(self) -> None:
        self.leave()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def leave(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def _look(self) -> None:
        if self._transport.is_closing():
            return
        sent = self._written
        if not self._begun() and sent < len(_WRITE_AT_S) and self._loop.time() >= self._since_s + _WRITE_AT_S[sent]:
            self._transport.write(_BEGINNING[sent : sent + 1])
            self._written += 1
        if any(event & _GONE for _, event in self._poll.poll(0)):
            self._transport.abort()  # the request's handler is told that its client is gone
        else:
            self._timer = self._loop.call_later(self._look_s, self._look)
            self._look_s = min(self._look_s * 2, _LOOK_MOST_S)
