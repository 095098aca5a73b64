"""The threads in which long prompts are counted and cut: few, with a bounded queue, and for nobody who has left."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gateway.backends.lane import Lane, LaneView
from gateway.clock import Clock
from gateway.errors import Abandoned
from gateway.prompt.checkpoint import Checkpoint, Waiter

T = TypeVar("T")
_THREADS = 2  # cutting is Python: more threads would take turns, and the event loop would wait for its own longer
_MOST_WAITING = 64


class Cutters:
    """A thread is free again only once its work has ended, whether or not somebody still waited for it."""

    def __init__(self, clock: Clock, *, threads: int = _THREADS, most_waiting: int = _MOST_WAITING) -> None:
        self._lane = Lane(max_concurrent=threads, max_queue=most_waiting, clock=clock)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="cutting")
        self._waiters: set[Waiter] = set()

    def view(self) -> LaneView:
        return self._lane.view()

    async def run(self, work: Callable[[Checkpoint], T], *, wait_s: float, left_s: Callable[[], float]) -> T:
        """What `work` returns; it gets a checkpoint, which it has to call now and then.

        Raises QueueFull where no thread is free within `wait_s`, TimeoutError where the work is not done within
        `left_s()`, which is asked once it begins, Abandoned where the cutters are closed. Then, and where the caller is
        cancelled, the work ends at its next checkpoint.
        """
        slot = await self._lane.acquire(timeout_s=wait_s)
        waiter = Waiter()
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, work, waiter)
        except RuntimeError:  # closed meanwhile
            slot.release()
            raise Abandoned("no prompt is cut any more") from None
        self._waiters.add(waiter)

        def ended(future: "asyncio.Future[T]") -> None:
            slot.release()
            self._waiters.discard(waiter)
            if not future.cancelled():
                future.exception()  # Abandoned is told to nobody who has left

        running.add_done_callback(ended)
        try:
            async with asyncio.timeout(left_s()):
                return await asyncio.shield(running)
        finally:
            waiter.leave()

    def close(self) -> None:
        """Nobody waits any more."""
        for waiter in tuple(self._waiters):
            waiter.leave()
        self._threads.shutdown(wait=False, cancel_futures=True)
