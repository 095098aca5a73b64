"""One client's connection through a proxy: two sockets, and a link each way.

A half-close passes as a half-close. A toxic's close ends both directions, but what has passed the toxics is still
delivered: the sockets are shut for writing, then read until the peer has closed too, for a short while.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

from faults.toxiproxy.link import Link
from faults.toxiproxy.stage import End

WRITE_AHEAD_BYTES = 1024 * 1024  # unsent bytes above which the other side is no longer read
LINGER_S = 0.5  # how long an ended connection waits for its peer's end
ABANDON_S = 30.0  # how long an ended connection waits for a peer that does not read


class Endpoint(asyncio.Protocol):
    """One socket: the sender of one link and the receiver of the other."""

    def __init__(self, on_made: Callable[["Endpoint"], None]) -> None:
        self._on_made = on_made
        self.transport: asyncio.Transport | None = None
        self.blocked = False
        self.outgoing: Link | None = None  # what this socket sends
        self.incoming: Link | None = None  # what this socket receives
        self.on_lost: Callable[[Exception | None], None] | None = None
        self.peer_ended = False
        self._resetting = False  # as soon as everything has been written

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=WRITE_AHEAD_BYTES)
        self.transport.pause_reading()
        self._on_made(self)

    def data_received(self, data: bytes) -> None:
        if self.outgoing is not None:
            self.outgoing.feed(data)

    def eof_received(self) -> bool:
        self.peer_ended = True
        if self.outgoing is not None and not self.outgoing.ended:
            self.outgoing.feed(End.FIN)
            return True
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.blocked = False
        if self.incoming is not None:
            self.incoming.stop()
        if self.outgoing is not None:
            self.outgoing.feed(End.LOST)
        if self.on_lost is not None:
            self.on_lost(exc)

    def pause_writing(self) -> None:
        self.blocked = True

    def resume_writing(self) -> None:
        self.blocked = False
        if self._resetting:
            self.abort(reset=True)
        elif self.incoming is not None:
            self.incoming.resume()

    def write(self, data: bytes) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def hold(self, held: bool) -> None:
        if self.transport is None or self.transport.is_closing() or self.peer_ended:
            return
        if held:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def shut(self) -> None:
        """Send FIN after what has been written."""
        if self.transport is None or self.transport.is_closing():
            return
        try:
            self.transport.write_eof()
        except OSError:  # the peer has reset it meanwhile
            self.transport.abort()

    def close(self) -> None:
        """Close after what has been written."""
        if self.transport is not None:
            self.transport.close()

    def reset_when_written(self) -> None:
        """Send RST after what has been written."""
        if self.transport is None:
            return
        if self.transport.get_write_buffer_size() == 0:
            self.abort(reset=True)
            return
        self._resetting = True
        self.transport.set_write_buffer_limits(high=0)

    def abort(self, *, reset: bool = False) -> None:
        """Close at once; with `reset` the peer gets RST."""
        if self.transport is None:
            return
        sock = self.transport.get_extra_info("socket")
        if reset and sock is not None and sock.fileno() >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


class Connection:
    """The pair of endpoints; `on_gone` is called once, when both sockets are closed."""

    def __init__(self, client: Endpoint, server: Endpoint, on_gone: Callable[[], None]) -> None:
        self._client = client
        self._server = server
        self._on_gone = on_gone
        self._ending: asyncio.TimerHandle | None = None
        self._gone = False
        self._loop = asyncio.get_running_loop()

    def begin(self) -> None:
        """Both sockets are up and linked: read them."""
        for endpoint in (self._client, self._server):
            endpoint.on_lost = self._lost
            endpoint.hold(held=False)
        if self._client.transport is None and self._client.outgoing is not None:
            self._client.outgoing.feed(End.LOST)

    def ended(self, receiver: Endpoint, end: End) -> None:
        """A link has handed over everything; `receiver` gets its end."""
        if end is End.RESET:
            self.drop(reset=True)
        elif end is End.LOST:
            self._pass_on_loss(receiver)
        elif end is End.CLOSE:
            self._close_both()
        else:
            receiver.shut()
            if self._links_ended():
                self._client.close()
                self._server.close()
                self._expire_after(ABANDON_S)

    def drop(self, *, reset: bool = False) -> None:
        """End it at once, whatever is under way."""
        self._stop_links()
        self._client.abort(reset=reset)
        self._server.abort(reset=reset)
        self._count_out()

    def _pass_on_loss(self, receiver: Endpoint) -> None:
        self._stop_links()
        receiver.reset_when_written()
        self._expire_after(ABANDON_S)

    def _close_both(self) -> None:
        self._stop_links()
        for endpoint in (self._client, self._server):
            endpoint.shut()
            if endpoint.peer_ended:
                endpoint.close()
            else:
                endpoint.hold(held=False)
        self._expire_after(LINGER_S, self._close_now)

    def _close_now(self) -> None:
        self._client.close()
        self._server.close()
        self._expire_after(ABANDON_S)

    def _expire_after(self, delay_s: float, action: Callable[[], None] | None = None) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = self._loop.call_later(delay_s, action or self.drop)

    def _links_ended(self) -> bool:
        return all(link is None or link.ended for link in (self._client.outgoing, self._server.outgoing))

    def _stop_links(self) -> None:
        for link in (self._client.outgoing, self._server.outgoing):
            if link is not None:
                link.stop()

    def _lost(self, exc: Exception | None) -> None:
        """One socket is gone. If it failed and had already ended its direction, nothing else tells the other one."""
        if exc is not None and self._links_ended() and self._ending is None:
            for endpoint in (self._client, self._server):
                self._pass_on_loss(endpoint)
        self._count_out()

    def _count_out(self) -> None:
        if self._gone or self._client.transport is not None or self._server.transport is not None:
            return
        self._gone = True
        if self._ending is not None:
            self._ending.cancel()
        self._on_gone()
