"""The embedded server as a process: serve until told to stop, or until the parent is gone."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import web

from faults.errors import BadFault
from faults.toxiproxy.collection import Collection
from faults.toxiproxy.leash import parent_is, watch_parent
from faults.toxiproxy.server import build_app

SHUTDOWN_S = 2.0  # for API calls under way


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    host: str = "127.0.0.1"
    port: int = 8474  # 0: any free one
    seed: int = 0
    parent_pid: int | None = None  # stop when this process is gone; None: never

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise BadFault(f"port must be from 0 (any free one) to 65535, got {self.port}")


def run_server(options: ServeOptions, announce: Callable[[str], None]) -> int:
    """Serve until SIGINT or SIGTERM. `announce` gets one line of JSON once the API can be called."""
    _raise_file_limit()
    asyncio.run(_serve(options, announce))
    return 0


def print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def _serve(options: ServeOptions, announce: Callable[[str], None]) -> None:
    runner = web.AppRunner(build_app(Collection(options.seed)), access_log=None, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        site = web.TCPSite(runner, options.host, options.port)
        await site.start()
        if options.parent_pid is not None:
            watch_parent(loop, options.parent_pid, stop.set)
        host, port = runner.addresses[0][:2]
        announce(json.dumps(_announcement(host, port, options.seed)))
        if options.parent_pid is None or parent_is(options.parent_pid):
            await stop.wait()
    finally:
        await runner.cleanup()


def _announcement(host: str, port: int, seed: int) -> dict[str, object]:
    shown = f"[{host}]" if ":" in host else host
    return {
        "event": "listening",
        "url": f"http://{shown}:{port}",
        "host": host,
        "port": port,
        "seed": seed,
        "pid": os.getpid(),
    }


def _raise_file_limit() -> None:
    """Each connection takes two descriptors: allow as many as the system does."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
