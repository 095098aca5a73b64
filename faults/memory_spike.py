"""Memory that somebody else takes right after a request was admitted: what no admission control can foresee."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

from faults.errors import NotApplicable
from faults.fault import Firing, Sleeper, Target
from faults.memory import MIB, address_space_bytes, address_space_limited
from faults.outage import process_of
from faults.parameter import check_bounds, means
from faults.semantic_client import relayed

LOOK_S = 0.02

Pressure = Callable[[], AbstractAsyncContextManager[Firing]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySpike:
    """Take the backend's memory while it works on a request, `hold_s` at most.

    Counted from what the backend had before any request: what a request has got by then is not added, or the outcome
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
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:
        if relayed(target) is None:
            raise NotApplicable(f"target {target.name!r} has no semantic proxy to tell when a request begins")
        firing = Firing()
        pressure = self._pressure(target, clock, rng)
        striking = asyncio.create_task(self._strike(target, firing, clock, pressure))
        try:
            yield firing
        finally:
            striking.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.wait([striking]))
            if striking.done() and not striking.cancelled() and (error := striking.exception()):
                raise error

    def _pressure(self, target: Target, clock: Sleeper, rng: Random) -> Pressure:
        """One spike, to be entered again for each request."""
        if target.device.startswith("cuda"):
            from faults.ballast import CudaBallast

            ballast = CudaBallast(free_bytes=self.headroom_bytes)
            return lambda: ballast.inject(target, clock=clock, rng=rng)
        limit_bytes = address_space_bytes(process_of(target).pid) + self.headroom_bytes
        return lambda: address_space_limited(target, limit_bytes)

    async def _strike(self, target: Target, firing: Firing, clock: Sleeper, pressure: Pressure) -> None:
        seen = begun(target)
        while True:
            await clock.sleep(LOOK_S)
            if (now := begun(target)) > seen:
                seen = now
                await self._take(target, firing, clock, pressure)

    async def _take(self, target: Target, firing: Firing, clock: Sleeper, pressure: Pressure) -> None:
        """One spike; what it proved counts also when it is cut short."""
        one = Firing()
        try:
            async with pressure() as one:
                left_s = self.hold_s
                while left_s > 0 and working(target):
                    await clock.sleep(min(LOOK_S, left_s))
                    left_s -= LOOK_S
        finally:
            firing.touched += one.touched
            firing.evidence.extend(one.evidence)


def begun(target: Target) -> int:
    """Requests that reached the backend's semantic proxy so far; 0 when it does not answer."""
    return (relayed(target) or {}).get("requests", 0)


def working(target: Target) -> bool:
    """Whether the backend has a request that has not ended, as far as its semantic proxy knows."""
    counts = relayed(target)
    return counts is None or counts["requests"] > counts["ended"]
