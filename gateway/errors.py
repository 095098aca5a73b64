"""Errors of the gateway, split by what the caller may do next.

GatewayError
├── ConfigError          a config or policy says something impossible: mend it
├── BadRequest           the client's own fault: a 4xx that names field, value and bound
│   ├── RefusedByBackend a backend says so
│   └── ContextTooLong   not even the system prompt and the last instruction fit
├── ProbeError           memory cannot be measured here and now: counts as full
├── Closed               the gateway is to stop, and the time for what it had accepted is over
├── Abandoned            nobody waits for this piece of work any more
├── Refused              never sent upstream: safe to retry elsewhere
│   ├── MemoryFull       no room now; the wait for it timed out
│   ├── NeverFits        larger than the whole capacity: waiting is no use
│   └── QueueFull        too many wait already, or the wait would outlast the deadline
└── UpstreamError        sent upstream, or tried to; it may have run
    └── FieldRefused     it does not know a field that the gateway sends of its own
"""

from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from gateway.record import Reason

_REASONS = MappingProxyType(
    {
        400: "invalid_request",
        401: "unauthorized",
        404: "not_found",
        405: "method_not_allowed",
        409: "conflict",
        413: "body_too_large",
        422: "policy_refused",
    }
)


class GatewayError(Exception):
    """Root."""


class ConfigError(GatewayError):
    """A config or policy says something impossible."""


class BadRequest(GatewayError):
    """The client's own fault; the text names field, value and bound.

    `field` is the JSON path of the culprit, `status` the 4xx to answer with, `code` OpenAI's word for it.
    """

    def __init__(self, message: str, *, field: str | None = None, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.status = status
        self.code = code

    @property
    def reason(self) -> str:
        """For the metrics: one of few, none of which holds a word of the client's."""
        return self.code or _REASONS.get(self.status, "other")


class RefusedByBackend(BadRequest):
    """A backend says that the client is to blame."""

    @property
    def reason(self) -> str:
        return "refused_by_backend"


class ContextTooLong(BadRequest):
    """Not even the system prompt and the last instruction fit the context."""

    def __init__(self, message: str, *, field: str | None = "messages") -> None:
        super().__init__(message, field=field, code="context_length_exceeded")


class Refused(GatewayError):
    """Never sent upstream."""


class MemoryFull(Refused):
    """No room for the request's KV cache now."""


class NeverFits(Refused):
    """The request's KV cache is larger than the whole capacity."""


class QueueFull(Refused):
    """The backend's queue is full, or the wait in it would outlast the deadline."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Blame(StrEnum):
    """What a failed try says about the backend, for its breaker."""

    FAILURE = "failure"
    UNLESS_ASKED = "unless_asked"  # a failure, but where the request itself may have asked for what came
    TIMEOUT = "timeout"
    NEUTRAL = "neutral"  # the client's or the gateway's own doing
    BACKPRESSURE = "backpressure"  # the backend asked for less, and is alive


class ProbeError(GatewayError):
    """Memory cannot be measured here and now."""


class Closed(GatewayError):
    """The gateway is to stop, and its time is over."""


class Abandoned(GatewayError):
    """Nobody waits for this piece of work any more."""


class UpstreamError(GatewayError):
    """One try at a backend came to nothing.

    `died`: the connection broke while the request may have been running, so the request itself may be what
    killed the backend. `retry_after_s`: what the backend asked for, None when it did not ask. `lasts`: the same
    request would be refused in the same way a little later.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: Reason,
        blame: Blame = Blame.FAILURE,
        outcome: Literal["refused", "failed", "indeterminate"] = "failed",
        died: bool = False,
        retry_after_s: float | None = None,
        lasts: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.blame = blame
        self.outcome = outcome
        self.died = died
        self.retry_after_s = retry_after_s
        self.lasts = lasts


class FieldRefused(UpstreamError):
    """A backend does not know a field that this gateway sends of its own: its config has to say so."""


class CannotConnect(GatewayError):
    """No connection to a backend; `late` when it was not there in time."""

    def __init__(self, *, late: bool) -> None:
        super().__init__("late" if late else "refused")
        self.late = late


class ExchangeError(GatewayError):
    """A request went out, and no whole answer came."""


class Disconnected(ExchangeError):
    """The connection ended before the head of the answer was there."""


class BrokenOff(ExchangeError):
    """The connection ended within the answer."""


class NotHttp(ExchangeError):
    """What came is not HTTP/1.1, or its head is larger than it may be."""


class TooLong(ExchangeError):
    """The body is longer than was asked for."""
