"""The shell of `truefall top`: look, draw, wait."""

from collections import deque

import aiohttp
from rich.console import Console
from rich.live import Live

from gateway.clock import SystemClock
from harness.top.reading import Reading, Unreachable, fetch
from harness.top.view import picture


async def look_once(url: str, *, token: str | None, every_s: float) -> None:
    """Two readings, one picture. Raises Unreachable."""
    clock = SystemClock()
    async with aiohttp.ClientSession() as session:
        before = await fetch(session, url, token=token, now_s=clock.now_s())
        await clock.sleep(every_s)
        now = await fetch(session, url, token=token, now_s=clock.now_s())
    Console().print(picture(before, now, url=url))


async def watch(url: str, *, token: str | None, every_s: float, window_s: float) -> None:
    """Draw until interrupted. Raises Unreachable only where the first look fails."""
    clock = SystemClock()
    async with aiohttp.ClientSession() as session:
        readings: deque[Reading] = deque([await fetch(session, url, token=token, now_s=clock.now_s())])
        with Live(picture(readings[0], readings[0], url=url), screen=True, auto_refresh=False) as live:
            while True:
                await clock.sleep(every_s)
                trouble = None
                try:
                    readings.append(await fetch(session, url, token=token, now_s=clock.now_s()))
                except Unreachable as error:
                    trouble = str(error)
                while len(readings) > 2 and readings[1].at_s <= readings[-1].at_s - window_s:
                    readings.popleft()
                live.update(picture(readings[0], readings[-1], url=url, trouble=trouble), refresh=True)
