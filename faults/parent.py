"""A process that must not outlive the one that started it."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from faults.fault import Sleeper

PR_SET_PDEATHSIG = 1


def ask_for_death_signal(number: int) -> bool:
    """Have this process sent the signal `number` when the thread that started it ends; False where no kernel does."""
    if not sys.platform.startswith("linux"):
        return False
    return int(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)) == 0


async def until_orphaned(parent_pid: int, clock: Sleeper, *, every_s: float = 0.5) -> None:
    """Return once `parent_pid` is no longer our parent.

    The kernel's signal also comes when only the starting thread has ended, so it just makes us look again.
    """
    look = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, look.set)
    ask_for_death_signal(signal.SIGHUP)
    while os.getppid() == parent_pid:
        look.clear()
        await wait_for_any(look.wait, lambda: clock.sleep(every_s))
    loop.remove_signal_handler(signal.SIGHUP)


async def wait_for_any(*waits: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Return with the first, or raise what it raised; cancel the others."""
    tasks = [asyncio.ensure_future(wait()) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
