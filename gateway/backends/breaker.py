"""The circuit breaker of one backend: a table of transitions, and a window of what its calls came to."""

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from types import MappingProxyType

from gateway.clock import Clock
from gateway.errors import Blame, GatewayError
from gateway.policy import Breaker as Marks


class State(StrEnum):
    """Whether calls pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Signal(StrEnum):
    """What moves the state."""

    TRIPPED = "tripped"
    COOLED_DOWN = "cooled_down"
    PROBE_SUCCEEDED = "probe_succeeded"  # as many as the policy asks for
    PROBE_FAILED = "probe_failed"
    FORCED_OPEN = "forced_open"  # by the admin interface
    FORCED_CLOSED = "forced_closed"


class IllegalTransition(GatewayError):  # noqa: N818 - the guide's own word
    """A signal that cannot happen in this state."""


TRANSITIONS = MappingProxyType(
    {
        (State.CLOSED, Signal.TRIPPED): State.OPEN,
        (State.OPEN, Signal.COOLED_DOWN): State.HALF_OPEN,
        (State.HALF_OPEN, Signal.PROBE_SUCCEEDED): State.CLOSED,
        (State.HALF_OPEN, Signal.PROBE_FAILED): State.OPEN,
        **{(state, Signal.FORCED_OPEN): State.OPEN for state in State},
        **{(state, Signal.FORCED_CLOSED): State.CLOSED for state in State},
    }
)


def step(state: State, signal: Signal) -> State:
    """Raises IllegalTransition."""
    try:
        return TRANSITIONS[state, signal]
    except KeyError:
        raise IllegalTransition(f"{signal} cannot happen while {state}") from None


class Window:
    """The calls of the last `window_s` seconds: how many, and how many of them timed out or were slow."""

    def __init__(self) -> None:
        self._calls: deque[tuple[float, bool]] = deque()
        self._late = 0

    def add(self, now_s: float, *, late: bool, window_s: float) -> None:
        self._calls.append((now_s, late))
        self._late += late
        while self._calls and self._calls[0][0] < now_s - window_s:
            self._late -= self._calls.popleft()[1]

    def exceeds(self, share: float, *, min_calls: int) -> bool:
        """Whether more than `share` of at least `min_calls` calls were late."""
        return len(self._calls) >= min_calls and self._late > share * len(self._calls)

    def clear(self) -> None:
        self._calls.clear()
        self._late = 0


class Permit:
    """Leave for one call. Exactly one of `succeeded`, `failed` and `cancelled` counts: the first."""

    __slots__ = ("_done", "_settle", "epoch", "probe")

    def __init__(self, settle: "Callable[[Permit, Blame | None, float], None]", *, probe: bool, epoch: int) -> None:
        self._settle = settle
        self._done = False
        self.probe = probe
        self.epoch = epoch  # the breaker's count of moves when it was given

    def succeeded(self, duration_s: float) -> None:
        self._end(None, duration_s)

    def failed(self, blame: Blame) -> None:
        self._end(blame, 0.0)

    def cancelled(self) -> None:
        """The call was not made or its outcome says nothing."""
        self._end(Blame.NEUTRAL, 0.0)

    def _end(self, blame: Blame | None, duration_s: float) -> None:
        if not self._done:
            self._done = True
            self._settle(self, blame, duration_s)


class Breaker:
    """Counts what calls come to and opens; nothing but `_signal` assigns the state.

    Its marks are read at each call, so that a reloaded policy counts at once.
    """

    def __init__(self, marks: Callable[[], Marks], clock: Clock) -> None:
        self._marks = marks
        self._clock = clock
        self._window = Window()
        self._failures = 0
        self._probes = 0
        self._successes = 0
        self._since_s = clock.now_s()
        self._state = State.CLOSED
        self._epoch = 0
        self._held = False  # forced open: stays so until forced closed
        self.trips = 0

    @property
    def state(self) -> State:
        return self._state

    @property
    def cooled_down(self) -> bool:
        """Open for long enough that a probe is due."""
        due = self._clock.now_s() >= self._since_s + self._marks().open_s
        return self._state is State.OPEN and not self._held and due

    @property
    def wants_probe(self) -> bool:
        """The next call would be a probe."""
        half_open = self._state is State.HALF_OPEN and self._probes < self._marks().half_open_probes
        return half_open or self.cooled_down

    @property
    def keeps_away(self) -> bool:
        """Open, and no real call may change that now: it is not due for a probe, or the gateway itself sends those."""
        return self._state is State.OPEN and (self._marks().background_probes or not self.cooled_down)

    def opens_again_in_s(self) -> float:
        """Seconds until a probe is due; 0 when calls pass now."""
        if self._state is not State.OPEN:
            return 0.0
        return max(0.0, self._since_s + self._marks().open_s - self._clock.now_s())

    def acquire(self) -> Permit | None:
        """Leave for one call; None when it must not be made."""
        if self._state is State.CLOSED:
            return Permit(self._settle, probe=False, epoch=self._epoch)
        if self.cooled_down:
            self._signal(Signal.COOLED_DOWN)
        if self._state is State.OPEN or self._probes >= self._marks().half_open_probes:
            return None
        self._probes += 1
        return Permit(self._settle, probe=True, epoch=self._epoch)

    def hurry(self) -> None:
        """A probe is due now: there is news of the backend. A breaker that was forced open stays so."""
        if self._state is State.OPEN:
            self._since_s = self._clock.now_s() - self._marks().open_s

    def force(self, state: State) -> None:
        """Open or close by hand; half-open cannot be forced."""
        self._held = state is State.OPEN
        self._signal(Signal.FORCED_OPEN if state is State.OPEN else Signal.FORCED_CLOSED)

    def _settle(self, permit: Permit, blame: Blame | None, duration_s: float) -> None:
        if permit.epoch != self._epoch:
            return  # it was given before the last move, and says nothing about the time since
        if permit.probe:
            self._probes -= 1
        if blame in (Blame.NEUTRAL, Blame.BACKPRESSURE):
            return
        if permit.probe:
            self._settle_probe(blame)
        else:
            self._count(blame, duration_s)

    def _settle_probe(self, blame: Blame | None) -> None:
        if blame is not None:
            self._signal(Signal.PROBE_FAILED)
            return
        self._successes += 1
        if self._successes >= self._marks().half_open_successes:
            self._signal(Signal.PROBE_SUCCEEDED)

    def _count(self, blame: Blame | None, duration_s: float) -> None:
        marks = self._marks()
        slow = marks.slow_s is not None and duration_s > marks.slow_s
        late = blame is Blame.TIMEOUT or (blame is None and slow)
        self._window.add(self._clock.now_s(), late=late, window_s=marks.window_s)
        self._failures = 0 if blame is None else self._failures + 1
        if self._failures >= marks.consecutive_failures or (
            late and self._window.exceeds(marks.timeout_share, min_calls=marks.min_calls)
        ):
            self._signal(Signal.TRIPPED)

    def _signal(self, signal: Signal) -> None:
        before, self._state = self._state, step(self._state, signal)
        self._since_s = self._clock.now_s()
        self._failures = self._successes = self._probes = 0
        self._window.clear()
        self._epoch += 1
        self.trips += self._state is State.OPEN and before is not State.OPEN
