"""What a shared ledger sees of a Redis client that loses cancellations, as redis-py does on Python 3.11."""

import asyncio

from gateway.clock import SystemClock


class DeafRedis:
    """`reserved_bytes` of others never change. Each call takes `call_s`, and goes on when it is cancelled."""

    def __init__(self, *, reserved_bytes: int, call_s: float) -> None:
        self.reserved_bytes = reserved_bytes
        self.call_s = call_s
        self.running = 0

    def register_script(self, text):
        async def script(*, keys, args):
            self.running += 1
            try:
                await self._deaf()
            finally:
                self.running -= 1
            return [0 if "return {0, total}" in text else 1, self.reserved_bytes]

        return script

    async def _deaf(self) -> None:
        clock = SystemClock()
        ends_s = clock.now_s() + self.call_s
        while (left_s := ends_s - clock.now_s()) > 0:
            try:
                await clock.sleep(left_s)
            except asyncio.CancelledError:
                continue
