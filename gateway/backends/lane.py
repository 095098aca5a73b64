"""The bounded queue in front of one backend: a bulkhead with early refusal."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from gateway.clock import Clock
from gateway.errors import QueueFull

_SMOOTHING = 0.2  # weight of the newest call in the mean service time
_FIRST_GUESS_S = 1.0


class LaneView(NamedTuple):
    """What the admin interface and the metrics show."""

    running: int
    waiting: int
    service_s: float  # smoothed mean


class Slot:
    """A place among the running calls; `release()` counts once."""

    __slots__ = ("_release",)

    def __init__(self, release: Callable[[float], None]) -> None:
        self._release: Callable[[float], None] | None = release

    def release(self, *, but_s: float = 0.0) -> None:
        """`but_s` of the time was no service: the client did not read."""
        release, self._release = self._release, None
        if release is not None:
            release(but_s)


class Lane:
    """At most `max_concurrent` calls run and `max_queue` wait, first come first served."""

    def __init__(self, *, max_concurrent: int, max_queue: int, clock: Clock) -> None:
        self._max_concurrent = max_concurrent
        self._max_queue = max_queue
        self._clock = clock
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._service_s: float | None = None

    def view(self) -> LaneView:
        return LaneView(self._running, len(self._waiting), self._service_s or 0.0)

    def expected_wait_s(self) -> float:
        """How long a newcomer would wait, from the mean service time."""
        ahead = len(self._waiting) + 1
        if self._running < self._max_concurrent:
            return 0.0
        return ahead * (_FIRST_GUESS_S if self._service_s is None else self._service_s) / self._max_concurrent

    def require_open(self, *, timeout_s: float) -> None:
        """Raises QueueFull where `acquire` would do so at once: when the queue is full or too slow."""
        if self._running < self._max_concurrent:
            return
        expected_s = self.expected_wait_s()
        if len(self._waiting) >= self._max_queue:
            raise QueueFull(f"{len(self._waiting)} requests wait, at most {self._max_queue}", retry_after_s=expected_s)
        if self._service_s is not None and expected_s > timeout_s:
            text = f"the wait would be {expected_s:.1f} s, at most {timeout_s:.1f} s"
            raise QueueFull(text, retry_after_s=expected_s)

    async def acquire(self, *, timeout_s: float) -> Slot:
        """A slot within `timeout_s`. Raises QueueFull: at once when the queue is full or too slow."""
        if self._running < self._max_concurrent:
            return self._take()
        self.require_open(timeout_s=timeout_s)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(timeout_s):
                await turn
        except TimeoutError:
            self._leave(turn)
            raise QueueFull(f"waited {timeout_s:.1f} s for a turn", retry_after_s=self.expected_wait_s()) from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        return self._slot()

    def _take(self) -> Slot:
        self._running += 1
        return self._slot()

    def _slot(self) -> Slot:
        began_s = self._clock.now_s()
        return Slot(lambda but_s: self._end(began_s + but_s))

    def _leave(self, turn: "asyncio.Future[None]") -> None:
        """Give up waiting; a turn that was given in the same moment goes to the next."""
        if turn.done() and not turn.cancelled():
            self._pass_on()
        else:
            turn.cancel()
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _end(self, began_s: float) -> None:
        took_s = self._clock.now_s() - began_s
        mean_s = took_s if self._service_s is None else self._service_s
        self._service_s = mean_s + _SMOOTHING * (took_s - mean_s)
        self._pass_on()

    def _pass_on(self) -> None:
        """Hand the place to the longest waiting; the count of running calls falls only when none waits."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1
