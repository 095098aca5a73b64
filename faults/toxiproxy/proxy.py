"""One proxy: a listening socket, an upstream, a chain of toxics, and the connections under way."""

import asyncio
import logging
from functools import partial
from types import MappingProxyType

from faults.toxiproxy.addresses import listening_socket, parse, same_place, written
from faults.toxiproxy.chain import Chain, Direction, LiveLink
from faults.toxiproxy.connection import Connection, Endpoint
from faults.toxiproxy.link import Link, Traffic
from faults.toxiproxy.stage import End

LOG = logging.getLogger("faults.toxiproxy")


class Proxy:
    """Connections are numbered from 0 in the order in which they were accepted: the numbers seed the toxics."""

    def __init__(self, *, name: str, listen: str, upstream: str, seed: int) -> None:
        self.name = name
        self.listen = listen  # the real port once it has listened
        self.upstream = upstream
        self.toxics = Chain(asyncio.get_running_loop())
        self.traffic = MappingProxyType({direction: Traffic() for direction in Direction})
        self.accepted_connections = 0
        self._seed = seed
        self._loop = asyncio.get_running_loop()
        self._server: asyncio.Server | None = None
        self._dialling: dict[asyncio.Task[None], Endpoint] = {}
        self._connections: set[Connection] = set()
        self._revival: asyncio.TimerHandle | None = None
        self._reviving: asyncio.Task[None] | None = None

    @property
    def enabled(self) -> bool:
        return self._server is not None

    @property
    def open_connections(self) -> int:
        return len(self._connections) + len(self._dialling)

    async def start(self) -> None:
        """Listen. Raise ApiError when the address cannot be had; nothing happens when it listens already."""
        self._cancel_revival()
        if self._server is not None:
            return
        sock = await listening_socket(self.listen)
        self.listen = written(sock)
        self._server = await self._loop.create_server(self._accepting, sock=sock, backlog=4096)

    def stop(self, *, revive_after_ms: int | None = None) -> None:
        """Stop listening and drop every connection; with `revive_after_ms` the server itself starts it again."""
        self._cancel_revival()
        if revive_after_ms is not None:
            self._revival = self._loop.call_later(revive_after_ms / 1000, self._revive)
        if self._server is not None:
            self._server.close()
            self._server = None
        for task, client in list(self._dialling.items()):
            task.cancel()
            client.abort()
        for connection in list(self._connections):
            connection.drop()

    def discard(self) -> None:
        """It is deleted: nothing of it stays."""
        self.stop()
        self.toxics.clear()

    async def move(self, *, listen: str, upstream: str) -> None:
        """Take other addresses; a change stops the proxy and drops its connections."""
        if upstream != self.upstream or not await same_place(listen, self.listen):
            if self.enabled:
                self.stop()
            self.listen = listen
            self.upstream = upstream

    async def equals(self, *, listen: str, upstream: str) -> bool:
        return upstream == self.upstream and await same_place(listen, self.listen)

    def _revive(self) -> None:
        self._revival = None
        self._reviving = self._loop.create_task(self._start_again())

    async def _start_again(self) -> None:
        self._reviving = None
        try:
            await self.start()
        except Exception:  # recorded: the proxy stays disabled, which clients can see
            LOG.exception("proxy %s could not be started again", self.name)

    def _cancel_revival(self) -> None:
        if self._revival is not None:
            self._revival.cancel()
            self._revival = None
        if self._reviving is not None:
            self._reviving.cancel()
            self._reviving = None

    def _accepting(self) -> Endpoint:
        return Endpoint(self._accepted)

    def _accepted(self, client: Endpoint) -> None:
        if self._server is None:
            client.abort()
            return
        index = self.accepted_connections
        self.accepted_connections += 1
        task = self._loop.create_task(self._dial(client, index))
        self._dialling[task] = client
        task.add_done_callback(self._dialled)

    def _dialled(self, task: "asyncio.Task[None]") -> None:
        self._dialling.pop(task, None)

    async def _dial(self, client: Endpoint, index: int) -> None:
        try:
            host, port = parse(self.upstream)
            factory = partial(Endpoint, partial(self._connect, client, index))
            await self._loop.create_connection(factory, host or "localhost", port)
        except (OSError, ValueError) as error:
            LOG.info("proxy %s: upstream %s: %s", self.name, self.upstream, error)
            client.close()

    def _connect(self, client: Endpoint, index: int, server: Endpoint) -> None:
        if self._server is None:
            server.abort()
            return
        connection = Connection(client, server, lambda: self._forget(connection, lives))
        up = self._link(Direction.UPSTREAM, client, server, connection)
        down = self._link(Direction.DOWNSTREAM, server, client, connection)
        lives = [
            LiveLink(link, direction, f"{self._seed}/{self.name}/{index}/{direction}")
            for direction, link in ((Direction.UPSTREAM, up), (Direction.DOWNSTREAM, down))
        ]
        self._connections.add(connection)
        for live in lives:
            self.toxics.attach(live)
        connection.begin()

    def _link(self, direction: Direction, sender: Endpoint, receiver: Endpoint, connection: Connection) -> Link:
        def ended(end: End) -> None:
            connection.ended(receiver, end)

        link = Link(
            timers=self._loop,
            sender=sender,
            receiver=receiver,
            traffic=self.traffic[direction],
            on_end=ended,
        )
        sender.outgoing = link
        receiver.incoming = link
        return link

    def _forget(self, connection: Connection, lives: list[LiveLink]) -> None:
        self._connections.discard(connection)
        for live in lives:
            self.toxics.detach(live)
