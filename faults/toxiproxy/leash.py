"""A child that does not outlive its parent, however the parent ends.

On Linux the kernel sends a signal when the thread that started the child is gone; since that thread may end before its
process does, the child then looks whether its parent is still there. Elsewhere it looks twice a second.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

from faults.parent import ask_for_death_signal

LOOK_S = 0.5


def parent_is(pid: int) -> bool:
    return os.getppid() == pid


def watch_parent(loop: asyncio.AbstractEventLoop, pid: int, gone: Callable[[], None]) -> None:
    """Call `gone` once the parent is not `pid` any more."""

    def look() -> None:
        if not parent_is(pid):
            gone()

    def look_again() -> None:
        look()
        if parent_is(pid):
            loop.call_later(LOOK_S, look_again)

    loop.add_signal_handler(signal.SIGUSR2, look)
    ask_for_death_signal(signal.SIGUSR2)
    look_again()


def run_bound(argv: list[str], parent_pid: int) -> None:
    """Become the program `argv`, killed when the parent thread ends. Returns only when the parent is gone already."""
    ask_for_death_signal(signal.SIGKILL)
    if parent_is(parent_pid):
        os.execvp(argv[0], argv)


if __name__ == "__main__":
    run_bound(sys.argv[2:], int(sys.argv[1]))
