"""The gateway's only door to time: monotonic seconds, and sleeping."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What every part that needs time takes as an argument."""

    def now_s(self) -> float:
        """Monotonic seconds; only differences mean anything."""
        ...

    async def sleep(self, delay_s: float) -> None:
        """Return after `delay_s` seconds."""
        ...


class SystemClock:
    """The real clock."""

    now_s = staticmethod(time.monotonic)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)
