"""A clock that moves only when a test says so."""

import asyncio
import heapq
from itertools import count


class FakeClock:
    """Sleepers wake in order of their time; between two of them everything else that can run, runs."""

    def __init__(self) -> None:
        self._now_s = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now_s(self) -> float:
        return self._now_s

    async def sleep(self, delay_s: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now_s + delay_s, next(self._order), turn))
        await turn

    async def advance(self, delay_s: float) -> None:
        """Let `delay_s` pass."""
        until_s = self._now_s + delay_s
        await settle()
        while self._sleepers and self._sleepers[0][0] <= until_s:
            self._now_s, _, turn = heapq.heappop(self._sleepers)
            if not turn.done():
                turn.set_result(None)
            await settle()
        self._now_s = until_s


async def settle(rounds: int = 12) -> None:
    """Let every task run until it waits."""
    event = asyncio.Event()
    for _ in range(rounds):
        asyncio.get_running_loop().call_soon(event.set)
        await event.wait()
        event.clear()
