"""The real clock of the fault processes; tests bring their own."""

import asyncio
import time


class SystemClock:
    """Monotonic seconds, and real sleeping."""

    def now_s(self) -> float:
        return time.monotonic()

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
