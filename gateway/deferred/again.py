"""Whether and when a request for later is asked again: an obstacle may pass, and its owner has time."""

from collections.abc import Iterable

from gateway.pipeline import Reply
from gateway.record import Attempt, Reason

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
_MOST_DEATHS = 2  # of backends that broke off under it: the request itself may be what kills
_LASTING = frozenset(
    {
        *(Reason.CONTEXT_TOO_LONG, Reason.UNGROUNDED, Reason.SCHEMA_VIOLATED, Reason.TOOLS_VIOLATED),
        *(Reason.TOKENIZER_DEGRADED, Reason.INTERNAL_ERROR),
    }
)  # what a request comes to again and again
_BROKEN = frozenset({Reason.CONNECTION_FAILED, Reason.STREAM_CUT})


class Again:
    """The tries of one request; ask `pause_s` after each."""

    def __init__(self) -> None:
        self._pause_s = _FIRST_PAUSE_S
        self._deaths = 0

    def pause_s(self, reply: Reply) -> float | None:
        """Seconds until the next try, twice as many each time; None where this reply is the answer to give."""
        if is_answer(reply) or reply.record.policy is not None or _lasts(reply):
            return None
        deaths = sum(_died(one) for one in reply.record.attempts)
        self._deaths += deaths
        if self._deaths >= _MOST_DEATHS:
            return None
        pause_s, self._pause_s = self._pause_s, min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return _LONGEST_PAUSE_S if deaths else max(pause_s, reply.retry_after_s or 0.0)


def is_answer(reply: Reply) -> bool:
    """Not an error, and not an abstention."""
    return reply.completion is not None and not reply.record.abstained


def _lasts(reply: Reply) -> bool:
    if Reason.INTERNAL_ERROR in reply.record.reasons:
        return True
    return _all_last(one.reason for one in reply.record.attempts)


def _all_last(reasons: Iterable[Reason | None]) -> bool:
    """Whether there were tries, and all of them came to what the next would come to as well."""
    found = set(reasons)
    return bool(found) and found <= _LASTING


def _died(attempt: Attempt) -> bool:
    return attempt.outcome == "indeterminate" and attempt.reason in _BROKEN
