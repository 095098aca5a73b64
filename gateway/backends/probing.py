"""When the gateway itself may probe a half-open backend again."""

_MOST_DOUBLINGS = 3


class Pace:
    """A probe that told nothing is followed by another after `open_s`, then after twice that, up to eight times."""

    __slots__ = ("_in_vain", "_next_s")

    def __init__(self) -> None:
        self._in_vain = 0
        self._next_s = 0.0

    def is_due(self, now_s: float) -> bool:
        return now_s >= self._next_s

    def waits(self, now_s: float, *, open_s: float, asked_s: float) -> None:
        """A probe told nothing; `asked_s`: how long the backend asked to be left alone, 0 where it did not."""
        self._next_s = now_s + max(asked_s, open_s * 2**self._in_vain)
        self._in_vain = min(self._in_vain + 1, _MOST_DOUBLINGS)

    def begins(self) -> None:
        """A probe is due now: there is news of the backend."""
        self._in_vain = 0
        self._next_s = 0.0
