"""A gateway in a thread of its own, for tests that are not asynchronous."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from served import Gateway, backend, gateway
from upstream_stub import Script, Upstream, running


@contextmanager
def in_background(
    script: Script, *, fields: Mapping[str, Any] = MappingProxyType({}), **settings: Any
) -> Iterator[tuple[Gateway, Upstream]]:
    """One backend, `primary`, that plays `script`; `fields` are more of its config."""
    ready, done = threading.Event(), asyncio.Event()
    found: list[Any] = []

    async def serve() -> None:
        found.append(asyncio.get_running_loop())
        async with running(script) as up, gateway(backend(up, "primary", **fields), **settings) as served:
            found.extend([served, up])
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield found[1], found[2]
    finally:
        found[0].call_soon_threadsafe(done.set)
        thread.join()
