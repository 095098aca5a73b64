"""A share of the time for work that may be left undone."""

from collections.abc import Callable

_MOST_S = 1.0  # that can be saved up, for a burst after a quiet time


class TimeBudget:
    """Seconds of work: they come with time, a share of it, and are saved up to a bound. Full at the start.

    `now_s` says how time passes, `work_s` how much of it this thread has worked: a busy neighbour is not its fault.
    """

    def __init__(self, now_s: Callable[[], float], work_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._work_s = work_s
        self._left_s = _MOST_S
        self._at_s = now_s()
        self._began_s = 0.0

    def begin(self, share: float) -> bool:
        """Whether work may begin now; `end` has to follow where it does. Overdrawn by at most one piece of work."""
        now_s = self._now_s()
        self._left_s = min(_MOST_S, self._left_s + share * (now_s - self._at_s))
        self._at_s = now_s
        if self._left_s <= 0:
            return False  # without asking for the thread's time, which takes a system call
        self._began_s = self._work_s()
        return True

    def end(self) -> None:
        """The work is done, and has taken its time."""
        self._left_s -= self._work_s() - self._began_s
