"""How long a request may wait for its turn at a backend, and the refusal of a try that is never sent."""

from gateway.errors import Blame, UpstreamError
from gateway.record import Reason
from gateway.work import Work


def left_for_a_backend_s(work: Work) -> float:
    """Seconds until only the paths without a model may still answer; 0 or less where it is so far."""
    return work.deadline.left_s() - work.policy.deadline.reserve_s


def longest_wait_s(work: Work) -> float:
    """How long to wait for a turn. Raises UpstreamError where the deadline is over: expired requests are never sent."""
    left_s = left_for_a_backend_s(work)
    if left_s <= 0:
        raise too_late()
    return min(work.policy.overload.queue_wait_s, left_s)


def too_late() -> UpstreamError:
    """The deadline came before the request was sent."""
    return refused("the deadline is over", Reason.DEADLINE_EXCEEDED)


def refused(text: str, reason: Reason, *, retry_after_s: float | None = None) -> UpstreamError:
    """A try that was never sent."""
    return UpstreamError(text, reason=reason, blame=Blame.NEUTRAL, outcome="refused", retry_after_s=retry_after_s)
