"""Signals: whoever asks us to end is heard once, and what has to be tidied up is tidied up."""

import asyncio
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

ENDING = (signal.SIGTERM, signal.SIGHUP)
_WORK = "run_heard"  # the name of the task that a signal cancels


@contextmanager
def terminated_as_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind like Ctrl-C, so that faults are undone and servers stopped."""

    def interrupt(_: int, frame: FrameType | None) -> None:
        as_now = signal.getsignal(signal.SIGINT)  # asyncio's own while a loop runs: it cancels what is under way
        if callable(as_now):
            as_now(signal.SIGINT, frame)
        elif not cancelled_work():  # a shell's background job ignores SIGINT, and asyncio then has no handler
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


def cancelled_work() -> bool:
    """Cancel what `run_heard` is running; False where it runs nothing."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return False
    work = [task for task in asyncio.all_tasks(loop) if task.get_name() == _WORK]
    for task in work:
        loop.call_soon_threadsafe(task.cancel)
    return bool(work)


def patience(*_: object) -> None:
    """What a signal does while things are being stopped: say so instead of leaving them half done."""
    print("\nstopping what was started, a few seconds more", file=sys.stderr, flush=True)


def heard() -> None:
    """One signal to end was enough: those that follow change nothing any more."""
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, patience)


@contextmanager
def undisturbed() -> Iterator[None]:
    """While tidying up, signals wait."""
    before = {number: signal.signal(number, patience) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_heard(runner: asyncio.Runner, work: Coroutine[Any, Any, T]) -> T:
    """`runner.run`; after the first interruption nothing disturbs the way out.

    Raises KeyboardInterrupt, and what went wrong first where several requests in flight failed together.
    """

    async def named() -> T:
        task = asyncio.current_task()
        if task is not None:
            task.set_name(_WORK)
        return await work

    try:
        return runner.run(named())
    except ExceptionGroup as failed:
        raise first_of(failed) from failed
    except asyncio.CancelledError:
        heard()
        raise KeyboardInterrupt from None
    except KeyboardInterrupt:
        heard()
        raise


def first_of(failed: Exception) -> Exception:
    """The first error of a group, however deep."""
    while isinstance(failed, ExceptionGroup):
        failed = failed.exceptions[0]
    return failed
