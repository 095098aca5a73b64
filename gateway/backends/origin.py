"""The open connections to one backend: kept for a moment after each exchange, and never one that may be stale."""

import asyncio
import socket
import ssl

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
        self._idle: list[tuple[Connection, float]] = []  # the last used one at the end, and until when
        self._sweeper: asyncio.TimerHandle | None = None

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
        except OSError as error:
            raise CannotConnect(late=False) from error

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> Connection:
        found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        opened = await aiohappyeyeballs.start_connection(found, happy_eyeballs_delay=_EYEBALLS_S, loop=loop)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = self.host if self._tls is not None else None
        _, connection = await loop.create_connection(
            lambda: Connection(loop), sock=opened, ssl=self._tls, server_hostname=name
        )
        return connection

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
        idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        kept = [(connection, until_s) for connection, until_s in self._idle if until_s > now_s and connection.idle]
        for connection, until_s in self._idle:
            if (connection, until_s) not in kept:
                connection.close()
        self._idle = kept
        self._sweeper = loop.call_at(kept[0][1], self._sweep) if kept else None
