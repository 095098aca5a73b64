"""Whether and when a request for later is asked again: an obstacle may pass, and its owner has time."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from gateway.pipeline import Reply
from gateway.record import Attempt, DegradationRecord, Reason

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 10.0
_MOST_DEATHS = 2  # of backends that broke off under it: the request itself may be what kills
_MOST_IN_VAIN = 2  # tries that a model worked on for nothing, or that were refused for what the request is
_LASTING = frozenset(
    {
        *(Reason.CONTEXT_TOO_LONG, Reason.UNGROUNDED, Reason.SCHEMA_VIOLATED, Reason.TOOLS_VIOLATED),
        *(Reason.TOKENIZER_DEGRADED, Reason.INTERNAL_ERROR),
    }
)  # what a request comes to again and again
_DOUBTFUL = frozenset({Reason.INVALID_OUTPUT, Reason.TOKENS_MISMATCH, Reason.SEMANTIC_GATE})  # hardly better next time
_BROKEN = frozenset({Reason.CONNECTION_FAILED, Reason.STREAM_CUT})


class Again:
    """The tries of one request; ask `pause_s` after each."""

    def __init__(self) -> None:
        self._pause_s = _FIRST_PAUSE_S
        self._deaths = 0
        self._in_vain = 0

    def pause_s(self, reply: Reply, *, lasting: AbstractSet[str] = frozenset()) -> float | None:
        """Seconds until the next try, twice as many each time; None where this reply is the answer to give.

        `lasting`: the paths that would refuse the request in the same way again.
        """
        if is_answer(reply) or reply.record.policy is not None or _lasts(reply) or _is_by_choice(reply.record):
            return None
        deaths = sum(_died(one) for one in reply.record.attempts)
        self._deaths += deaths
        self._in_vain += _was_in_vain(reply.record.attempts, lasting)
        if self._deaths >= _MOST_DEATHS or self._in_vain >= _MOST_IN_VAIN:
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


def _is_by_choice(record: DegradationRecord) -> bool:
    """Whether the policy's own order put the path before every backend; not where the gateway had to stop first."""
    return not record.attempts and Reason.POLICY in record.reasons and Reason.DRAINING not in record.reasons


def _was_in_vain(attempts: Iterable[Attempt], lasting: AbstractSet[str]) -> bool:
    """Whether a backend worked on it for as long as it may, or nothing came of any that another try would change."""
    tried = tuple(attempts)
    if any(one.reason is Reason.TIMEOUT and one.outcome != "refused" for one in tried):
        return True
    return bool(tried) and all(one.path in lasting or one.reason in _LASTING | _DOUBTFUL for one in tried)


def _died(attempt: Attempt) -> bool:
    return attempt.outcome == "indeterminate" and attempt.reason in _BROKEN
