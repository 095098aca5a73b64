"""The open connections to one backend: kept for a moment after each exchange, and never one that may be stale."""

import asyncio
import ipaddress
import socket
import ssl
from typing import Any

import aiohappyeyeballs
from yarl import URL

from gateway.backends.exchange import Connection
from gateway.errors import CannotConnect

IDLE_CONNECTION_S = 4.0  # shorter than the 5 s after which uvicorn, under most engines, closes an idle connection
_EYEBALLS_S = 0.25  # before the next address of a name is tried, too (RFC 8305)


class Origin:
    """Where one backend listens. Connections are not limited here: the lanes do that."""

    def __init__(self, url: str) -> None:
        """`url`: http or https, a host, and a path to which requests go."""
        address = URL(url)
        self.host = address.raw_host or ""
        self.port = address.port or 0
        self.authority = address.host_port_subcomponent or ""
        self.target = address.raw_path_qs
        self._tls = ssl.create_default_context() if address.scheme == "https" else None
        self._numeric = _numeric(self.host, self.port)
        self._lookup: asyncio.Future[Any] | None = None
        self.opened: set[Connection] = set()  # in use or idle
        self._idle: list[tuple[Connection, float]] = []  # the last used one at the end, and until when
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def in_use(self) -> int:
        """How many connections carry an exchange, or were never given back."""
        idle = {connection for connection, _ in self._idle}
        return len(self.opened - idle)

    async def connection(self, *, connect_s: float) -> Connection:
        """One that is idle, or else a new one within `connect_s`. Raises CannotConnect."""
        loop = asyncio.get_running_loop()
        while self._idle:
            connection, until_s = self._idle.pop()
            if connection.idle and loop.time() < until_s:
                return connection
            connection.close()
        try:
            async with asyncio.timeout(connect_s):
                return await self._opened(loop)
        except TimeoutError as error:
            raise CannotConnect(late=True) from error
        except (OSError, RuntimeError, UnicodeError) as error:  # uvloop's sockets, and names that cannot be
            raise CannotConnect(late=False) from error

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> Connection:
        found = self._numeric or await self._found(loop)
        opened = await aiohappyeyeballs.start_connection(found, happy_eyeballs_delay=_EYEBALLS_S, loop=loop)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = self.host if self._tls is not None else None
        _, connection = await loop.create_connection(
            lambda: Connection(loop, self.opened), sock=opened, ssl=self._tls, server_hostname=name
        )
        return connection

    async def _found(self, loop: asyncio.AbstractEventLoop) -> Any:
        """One lookup at a time: the few threads that do this are everybody's, and a name may hang."""
        if self._lookup is None:
            self._lookup = asyncio.ensure_future(loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
            self._lookup.add_done_callback(self._looked_up)
        return await asyncio.shield(self._lookup)

    def _looked_up(self, lookup: "asyncio.Future[Any]") -> None:
        self._lookup = None
        if not lookup.cancelled():
            lookup.exception()  # told to all who still wait

    def take_back(self, connection: Connection) -> None:
        """After an exchange that is over: kept where it ended clean, closed otherwise."""
        if not connection.clean:
            connection.close()
            return
        connection.rest()
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.time() + IDLE_CONNECTION_S))
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_CONNECTION_S, self._sweep)

    def close(self) -> None:
        """Close what is idle; connections in use are closed by who uses them."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        if self._lookup is not None:
            self._lookup.cancel()
        idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        kept = []
        for connection, until_s in self._idle:
            if until_s > now_s and connection.idle:
                kept.append((connection, until_s))
            else:
                connection.close()
        self._idle = kept
        self._sweeper = loop.call_at(kept[0][1], self._sweep) if kept else None


def _numeric(host: str, port: int) -> list[Any] | None:
    """What a lookup would find for an address; None for a name, and for an address of one interface."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))]
    if address.scope_id is not None:
        return None
    return [(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port, 0, 0))]
