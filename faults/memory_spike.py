"""Memory that somebody else takes right after a request was admitted: what no admission control can foresee."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from faults.allocations import failures_counted
from faults.errors import NotApplicable
from faults.fault import Firing, Sleeper, Target
from faults.log_watch import LogWatch
from faults.memory import MIB, address_space_bytes, address_space_limited
from faults.outage import process_of
from faults.parameter import check_bounds, means
from faults.semantic_client import relayed

LOOK_S = 0.02
SETTLE_S = 0.3  # an engine gives back the memory of a request shortly after its last byte


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpike:
    """Take the backend's memory while it works on a request, `hold_s` at most.

    Counted from what the backend had while it was idle: what a request has got by then is not added, or the outcome
    would hang on how far it had come. The default leaves room for a new thread, whose failure can wedge a server, and
    none for a long prompt.
    """

    name: ClassVar[str] = "memory_spike"
    headroom_bytes: int = field(
        default=16 * MIB, metadata=means("what is left to the backend beyond its idle memory, bytes", low=0)
    )
    hold_s: float = field(default=30.0, metadata=means("how long the memory is taken at most, s", low=0.01))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        if relayed(target) is None:
            raise NotApplicable(f"target {target.name!r} has no semantic proxy to tell when a request begins")
        firing = Firing()
        strike = Strike(spike=self, target=target, clock=clock, firing=firing)
        await strike.settle()
        try:
            async with failures_counted(target, firing, clock) as watch, strike.on(watch):
                yield firing
        finally:
            if not strike.spikes:
                firing.touched = 0  # what failed, failed without us


@dataclass(slots=True, kw_only=True)
class Strike:
    """The spikes of one block, one for each time that the backend begins to work."""

    spike: MemorySpike
    target: Target
    clock: Sleeper
    firing: Firing
    spikes: int = 0
    idle_bytes: int = 0  # the address space after SETTLE_S without a request, when it was last so
    quiet_s: float = 0.0

    async def settle(self) -> None:
        """Wait until the memory of earlier requests is given back, or as long as one may take."""
        if not self.on_gpu:
            self.idle_bytes = address_space_bytes(process_of(self.target).pid)
        waited_s = 0.0
        while self.quiet_s < SETTLE_S and waited_s < self.spike.hold_s:
            await self.clock.sleep(LOOK_S)
            waited_s += LOOK_S
            self._look(relayed(self.target))

    @asynccontextmanager
    async def on(self, watch: LogWatch) -> AsyncIterator[None]:
        striking = asyncio.create_task(self._run(watch))
        try:
            yield
        finally:
            striking.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.wait([striking]))
            if striking.done() and not striking.cancelled() and (error := striking.exception()):
                raise error

    async def _run(self, watch: LogWatch) -> None:
        """Until cancelled."""
        seen = begun(self.target)
        while True:
            await self.clock.sleep(LOOK_S)
            counts = relayed(self.target)
            if counts is not None and counts["requests"] > seen:
                seen = counts["requests"]
                await self._take()
            if self.spikes:
                self.firing.touched = len(watch.lines())  # so far; the last line may be on its way
            self._look(counts)

    def _look(self, counts: dict[str, int] | None) -> None:
        self.quiet_s = 0.0 if working(counts) else self.quiet_s + LOOK_S
        if self.quiet_s >= SETTLE_S and not self.on_gpu:
            with suppress(NotApplicable):  # gone: whoever restarts it begins anew
                self.idle_bytes = address_space_bytes(process_of(self.target).pid)

    async def _take(self) -> None:
        """One spike."""
        async with self._pressure():
            self.spikes += 1
            left_s = self.spike.hold_s
            while left_s > 0 and working(relayed(self.target)):
                await self.clock.sleep(min(LOOK_S, left_s))
                left_s -= LOOK_S

    @property
    def on_gpu(self) -> bool:
        """There a ballast takes the device's memory, and the backend's process need not be ours."""
        return self.target.device.startswith("cuda")

    @asynccontextmanager
    async def _pressure(self) -> AsyncIterator[None]:
        if self.on_gpu:
            from faults.ballast import CudaBallast

            async with CudaBallast(free_bytes=self.spike.headroom_bytes).holding(self.target) as reached:
                self.firing.evidence.append(reached)
                yield
        else:
            with address_space_limited(self.target, self.idle_bytes + self.spike.headroom_bytes, self.firing):
                yield


def begun(target: Target) -> int:
    """Requests that reached the backend's semantic proxy so far; 0 when it does not answer."""
    return (relayed(target) or {}).get("requests", 0)


def working(counts: dict[str, int] | None) -> bool:
    """Whether the backend has a request that has not ended; also where its semantic proxy did not say."""
    return counts is None or counts["requests"] > counts["ended"]
