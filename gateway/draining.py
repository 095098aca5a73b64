"""The end of the time that accepted requests have once the gateway is to stop."""

import asyncio
import math
from types import TracebackType

from gateway.config import Config
from gateway.errors import Blame, Closed, UpstreamError
from gateway.policy import Policy
from gateway.record import Reason

SHORT = "drain_short"
_FOR_THE_REST_S = 1.0  # of the drain time, for the paths without a model and for what is still to be sent
_REST_SHARE = 0.25  # of a drain time so short that this is less
STEP_SHARE = 0.3  # of the rest: so long may one step of it wait for something else, such as an embedding


class Closing:
    """`end` ends every wait that is within it; whoever comes later does not get in, but for a step of the rest."""

    def __init__(self) -> None:
        self.over = False
        self._rest_s = _FOR_THE_REST_S
        self._within: dict[asyncio.Timeout, float] = {}  # with its share of the rest

    def end(self, rest_s: float = _FOR_THE_REST_S) -> None:
        """No backend is waited for any more; `rest_s` later, clients are cut off."""
        self.over, self._rest_s = True, rest_s
        now_s = asyncio.get_running_loop().time()
        for wait, share in self._within.items():
            wait.reschedule(now_s + share * rest_s)

    def within(self, share: float = 0.0) -> "Within":
        """`share` of the rest is how long the block may still take after the end; 0 does not begin any more."""
        return Within(self.over, self._within, share, share * self._rest_s)


class Within:
    """A block of one task, which raises Closed where the closing ended it or was over before it began."""

    __slots__ = ("_all", "_over", "_rest_s", "_share", "_wait")

    def __init__(self, over: bool, waits: dict[asyncio.Timeout, float], share: float, rest_s: float) -> None:
        self._over = over
        self._all = waits
        self._share = share
        self._rest_s = rest_s
        self._wait = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        if self._over and not self._share:
            raise Closed
        await self._wait.__aenter__()
        if self._over:
            self._wait.reschedule(asyncio.get_running_loop().time() + self._rest_s)
        else:
            self._all[self._wait] = self._share

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._all.pop(self._wait, None)
        try:
            await self._wait.__aexit__(kind, error, trace)
        except TimeoutError:
            raise Closed from None


def stopping(*, was_sent: bool) -> UpstreamError:
    """What came of a try that the closing ended; `was_sent`: the backend may have worked on it."""
    return UpstreamError(
        "the gateway stops",
        reason=Reason.DRAINING,
        blame=Blame.NEUTRAL,
        outcome="indeterminate" if was_sent else "refused",
    )


def backends_end_s(drain_s: float) -> float:
    """How long after the signal a backend is waited for."""
    return drain_s - min(_FOR_THE_REST_S, _REST_SHARE * drain_s)


def short_drain(config: Config, policy: Policy) -> str | None:
    """What to say where a request may take longer than the drain lets it; None where none may."""
    drain_s, request_s = config.server.drain_s, policy.deadline.request_s
    ends_s = backends_end_s(drain_s)
    if ends_s >= request_s:
        return None
    least_s = request_s + min(_FOR_THE_REST_S, request_s * _REST_SHARE / (1 - _REST_SHARE))
    return (
        f"server.drain_s is {drain_s:g} s and the policy's deadline.request_s {request_s:g} s: what still runs "
        f"{ends_s:g} s after SIGTERM is answered without a model. "
        f"drain_s must be at least {math.ceil(least_s * 100) / 100:g} s to let it end"
    )
