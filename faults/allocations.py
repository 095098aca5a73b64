"""Allocations that failed, by the backend's own log: the proof of every fault that takes memory away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from faults.fault import Firing, Sleeper, Target
from faults.log_watch import LogWatch
from faults.semantic_client import relayed

ALLOCATION_FAILED = (
    r"can't allocate memory|can't start new thread|MemoryError|std::bad_alloc|CUDA out of memory|OutOfMemoryError"
)


@asynccontextmanager
async def failures_counted(target: Target, firing: Firing, clock: Sleeper) -> AsyncIterator[LogWatch]:
    """Around a fault and its undoing: nothing new can fail while the last lines are waited for.

    They are, if a request was there at all.
    """
    watch = LogWatch.begin(target.log, ALLOCATION_FAILED)
    before = relayed(target)
    try:
        yield watch
    finally:
        try:
            if before is None or relayed(target) != before:
                await watch.settle(clock)
        finally:
            watch.prove(firing, "allocation failures")
