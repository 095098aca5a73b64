"""Signals: whoever asks us to end is heard once, and what has to be tidied up is tidied up."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def terminated_as_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind like Ctrl-C, so that faults are undone and servers stopped."""

    def interrupt(_: int, frame: FrameType | None) -> None:
        as_now = signal.getsignal(signal.SIGINT)  # asyncio's own while a loop runs: it cancels what is under way
        if callable(as_now):
            as_now(signal.SIGINT, frame)
        else:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in ENDING}
    wanted = [number for number, handler in before.items() if handler is not signal.SIG_IGN]  # nohup stays nohup
    for number in wanted:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in wanted:
            signal.signal(number, before[number])


@contextmanager
def undisturbed() -> Iterator[None]:
    """While tidying up, say so to whoever is impatient instead of leaving things half done."""

    def patience(*_: object) -> None:
        print("\nstopping what was started, a few seconds more", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, patience) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
