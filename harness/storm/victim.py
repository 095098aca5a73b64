"""A real backend whose address space is limited, started again whenever it dies, and watched while it works."""

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from faults.allocations import ALLOCATION_FAILED
from faults.errors import NotApplicable
from faults.log_watch import LogWatch
from faults.memory import address_space_bytes
from gateway.clock import Clock
from harness.stack.backend import BackendLine

_LOOK_S = 0.05


@dataclass(slots=True, kw_only=True)
class Victim:
    """`room_bytes`: what it may allocate beyond what it holds when it is ready.

    `kills`: an allocation that fails ends the process, as a driver or a kernel that kills on OOM does; else the engine
    answers with an error and lives on.
    """

    line: BackendLine
    room_bytes: int
    clock: Clock
    kills: bool = False
    deaths: int = 0
    down_s: float = 0.0  # from deaths to being ready again, together
    longest_down_s: float = 0.0
    peak_bytes: int = 0  # beyond what it held when it was ready
    failed_allocations: int = 0  # of all its processes
    _base_bytes: int = field(default=0)
    _down_since_s: float | None = field(default=None)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start it; for as long as the block lasts, restart it when it dies."""
        self.line.start_engine()
        try:
            await self._limit()
            watch = LogWatch.begin(self.line.log, ALLOCATION_FAILED)
            watching = asyncio.create_task(self._watch())
            try:
                yield
            finally:
                watching.cancel()
                await asyncio.wait({watching})
                self._up()
                if not watching.cancelled() and (error := watching.exception()) is not None:
                    raise error  # it did not start again
                await watch.settle(self.clock)
                self.failed_allocations = len(watch.lines())
        finally:
            self.line.stop()

    @property
    def peak_share(self) -> float:
        """Of the room for requests, in [0, 1]."""
        return min(1.0, self.peak_bytes / self.room_bytes)

    async def _again(self) -> None:
        """The cold start after a death."""
        self._down_since_s = self.clock.now_s()
        self.deaths += 1
        self.line.start_engine()
        await self._limit()
        self._up()

    def _up(self) -> None:
        """It is ready again, or nobody waits for it any longer."""
        if self._down_since_s is not None:
            took_s, self._down_since_s = self.clock.now_s() - self._down_since_s, None
            self.down_s += took_s
            self.longest_down_s = max(self.longest_down_s, took_s)

    async def _limit(self) -> None:
        await self.line.ready(self.clock)
        await self._warm()
        pid = self.line.pid()
        if pid is None:
            raise NotApplicable("the backend ended while it warmed up")
        self._base_bytes = address_space_bytes(pid)
        limit = self._base_bytes + self.room_bytes
        resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.prlimit(pid, resource.RLIMIT_AS)[1]))

    async def _warm(self) -> None:
        """One short answer: the model is loaded, and its threads have their stacks."""
        from harness.storm.client import ask

        await ask(self.line.url, self.line.model_dir.name, "Say yes.", max_tokens=4, timeout_s=120.0, clock=self.clock)

    async def _watch(self) -> None:
        failures = LogWatch.begin(self.line.log, ALLOCATION_FAILED)
        while True:
            await self.clock.sleep(_LOOK_S)
            if self.kills and self.line.engine is not None and failures.lines():
                self.line.engine.kill()
            pid = self.line.pid()
            if pid is None:
                await self._again()
                failures = LogWatch.begin(self.line.log, ALLOCATION_FAILED)
                continue
            try:
                self.peak_bytes = max(self.peak_bytes, address_space_bytes(pid) - self._base_bytes)
            except NotApplicable:
                continue
