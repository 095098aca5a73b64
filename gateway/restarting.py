"""What must never stop, begun again when it fails: a line in the log, a pause that grows, then another try."""

from collections.abc import Awaitable, Callable

from gateway.clock import Clock

FAILED = "task_failed"  # the event
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 30.0
_STEADY_S = 60.0  # one that ran for so long has its pause begin anew
_MOST_DOUBLINGS = 30
_SHOWN_CHARS = 300


async def restarted(
    begin: Callable[[], Awaitable[object]], *, name: str, clock: Clock, tell: Callable[[str, str], None]
) -> None:
    """Run what `begin` begins until it returns or is cancelled; `tell` hears of each failure in between."""
    failures = 0
    while True:
        began_s = clock.now_s()
        try:
            await begin()
        except Exception as error:
            steady = clock.now_s() - began_s >= _STEADY_S
            failures = 1 if steady else failures + 1
            wait_s = wait_after_s(failures)
            tell(FAILED, f"{name}: {in_one_line(error)}; begins again in {wait_s:g} s")
        else:
            return
        await clock.sleep(wait_s)


def wait_after_s(failures: int) -> float:
    """Seconds to wait after so many failures in a row, 1 or more."""
    return min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))


def in_one_line(error: BaseException) -> str:
    """An error that nobody foresaw, by its kind and its words, shortened."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:_SHOWN_CHARS]
