"""Run the gateway: bind, say where, serve, and drain on SIGTERM."""

import asyncio
import contextlib
import gc
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Iterator

import aiohttp
import msgspec
import uvicorn
from prometheus_client import Counter

from gateway.app import make_app, store_of
from gateway.clock import SystemClock
from gateway.config import Config
from gateway.connection import protocol_of
from gateway.draining import SHORT, backends_end_s, short_drain
from gateway.exposure import OPEN, place, url_of, warning
from gateway.policy import Policy
from gateway.runtime import Runtime
from gateway.telemetry import Event, RequestLog
from gateway.watched_file import FileWatch
from gateway.wiring import build_runtime, open_session

_GC_ALLOCATIONS = 10_000
_ONE_SIGNAL_S = 0.5
_UNWIND_S = 5  # so long what was cut off may take to end
_KEEP_ALIVE_S = 75  # longer than clients keep theirs, so that none sends into a connection that closes


class Server(uvicorn.Server):
    """Says on stdout, as one line of JSON, where it listens; drains on SIGTERM and SIGINT and then exits with 0."""

    def __init__(self, config: uvicorn.Config, runtime: Runtime, bound: socket.socket) -> None:
        super().__init__(config)
        self._runtime = runtime
        self._bound = bound
        self._signalled_s = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # what is there now stays: the collector need not look at it again
        gc.set_threshold(_GC_ALLOCATIONS, 20, 50)
        host, port = self._bound.getsockname()[:2]
        line = {
            "event": "listening",
            "url": url_of(host, port),
            "host": host,
            "port": port,
            "pid": os.getpid(),
            "policy": self._runtime.policies.current.name,
        }
        sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
        sys.stdout.flush()
        self._warn()

    def _warn(self) -> None:
        """Loudly, and also where the log is off."""
        runtime = self._runtime
        open_, short = warning(runtime.config), short_drain(runtime.config, runtime.policies.current)
        for event, told in ((OPEN, open_), (SHORT, short)):
            if told is not None:
                runtime.log.write(Event(event=event, detail=told))
                sys.stderr.write(f"WARNING: {told}\n")
                sys.stderr.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections and wait for the rest.

        Shortly before the drain time is over no backend is waited for any more; when it is over, who has not taken his
        answer is cut off.
        """
        loop, drain_s = asyncio.get_running_loop(), self._runtime.config.server.drain_s
        ends_s = backends_end_s(drain_s)
        alarms = (
            loop.call_later(ends_s, self._runtime.closing.end, drain_s - ends_s),
            loop.call_later(drain_s, self._cut_off),
        )
        try:
            await super().shutdown(sockets)
        finally:
            for alarm in alarms:
                alarm.cancel()

    def _cut_off(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()  # its request is told that the client is gone

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._drain)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def _drain(self) -> None:
        """First signal: refuse new work and finish the rest. Second: stop at once.

        Who signals the process and then its group, as `timeout` does, means one signal.
        """
        now_s = asyncio.get_running_loop().time()
        if self.should_exit and now_s - self._signalled_s < _ONE_SIGNAL_S:
            return
        self._signalled_s = now_s
        if self.should_exit:
            self.force_exit = True
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # that it was cut short is what was asked
        self._runtime.draining = True
        self.should_exit = True


async def serve(config: Config, *, policy: Policy, policy_file: FileWatch | None, port: int | None) -> None:
    """Serve until a signal. Raises ConfigError or OSError before it listens."""
    bound = _bind(config.server.host, config.server.port if port is None else port)
    session = open_session()
    try:
        log = RequestLog(sys.stderr if config.server.log == "json" else None)
        runtime = _built(config, policy=policy, policy_file=policy_file, session=session, log=log)
        await Server(options_of(runtime), runtime, bound).serve(sockets=[bound])
    finally:
        await session.close()
        bound.close()


async def check(config: Config, *, policy: Policy, policy_file: FileWatch | None) -> None:
    """Everything that a start does before it listens, but for the port. Raises ConfigError or OSError as it would."""
    session = open_session()
    try:
        runtime = _built(config, policy=policy, policy_file=policy_file, session=session, log=RequestLog(None))
        if config.deferred.path is not None and config.deferred.path.exists():
            store_of(runtime)
        if runtime.attention is not None:
            runtime.attention.close()
        for backend in runtime.backends.values():
            backend.client.origin.close()
    finally:
        await session.close()


def _built(
    config: Config, *, policy: Policy, policy_file: FileWatch | None, session: aiohttp.ClientSession, log: RequestLog
) -> Runtime:
    return build_runtime(
        config,
        policy=policy,
        policy_file=policy_file,
        session=session,
        clock=SystemClock(),
        log=log,
        environ=os.environ,
    )


def options_of(runtime: Runtime) -> uvicorn.Config:
    """How uvicorn is to serve the application. Raises ConfigError."""
    config = runtime.config
    cut = Counter(
        "truefall_connections_refused", "Connections cut by a limit", ("reason",), registry=runtime.metrics.registry
    )
    return uvicorn.Config(
        make_app(runtime),
        loop="none",
        http=protocol_of(config.connections, lambda reason: cut.labels(reason).inc()),
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE_S,
        access_log=False,
        proxy_headers=False,  # read where an address matters
        log_level="error",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=math.ceil(config.server.drain_s) + _UNWIND_S,
    )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no Nagle only if TCP is said
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise OSError(error.errno, f"cannot listen on {place(host, port)}: {error.strerror}") from None
    bound.setblocking(False)
    return bound


def run(config: Config, *, policy: Policy, policy_file: FileWatch | None, port: int | None) -> None:
    """`serve` on the fast event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(config, policy=policy, policy_file=policy_file, port=port))
        return
    uvloop.run(serve(config, policy=policy, policy_file=policy_file, port=port))
