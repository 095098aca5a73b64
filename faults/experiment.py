"""A chaos experiment: what should hold, what is done to the system, and how far it may go. As code or as YAML.

The words are those of Chaos Toolkit. Lengths are counted in requests, so that the same seed puts the same faults at
the same requests on every machine; pauses are in seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from faults.errors import BadExperiment
from faults.reach import EVERYTHING, Reach

Scalar = float | int | str | None
MOST_REQUESTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A value that the seed draws once, uniformly."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise BadExperiment(f"between: [{self.low:g}, {self.high:g}]: the first has to be the smaller one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A value that goes through these while the action ramps, and keeps the last one while it holds."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise BadExperiment(f"steps: {list(self.values)}: at least two values are needed to go from one to another")


def grow(first: float, last: float, steps: int) -> Steps:
    """Equal steps from `first` to `last`, both included. Raises BadExperiment for fewer than two."""
    if steps < 2:
        raise BadExperiment(f"steps: {steps}: at least 2 are needed to go from {first:g} to {last:g}")
    return Steps(values=tuple(first + (last - first) * step / (steps - 1) for step in range(steps)))


Argument = Scalar | Between | Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """How many requests are sent before, while the fault grows, while it stays, and after it."""

    steady: int = 0
    ramp: int = 0
    hold: int = 0
    recover: int = 0

    def __post_init__(self) -> None:
        for name in ("steady", "ramp", "hold", "recover"):
            value = getattr(self, name)
            if not 0 <= value <= MOST_REQUESTS:
                raise BadExperiment(f"phases: {name} is {value}, must be between 0 and {MOST_REQUESTS} requests")
        if self.ramp + self.hold == 0:
            raise BadExperiment("phases: ramp and hold are both 0, so no request would meet the fault; give hold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One fault, from its beginning to its end."""

    name: str
    fault: str
    target: str = "primary"
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    phases: Phases = Phases(hold=6)
    background: bool = False  # the next action begins with this one instead of after it
    pause_before_s: float = 0.0
    pause_after_s: float = 0.0

    def __post_init__(self) -> None:
        lengths = {len(value.values) for value in self.arguments.values() if isinstance(value, Steps)}
        if len(lengths) > 1:
            raise BadExperiment(f"{self.name}: its arguments have {sorted(lengths)} steps; give all the same number")
        if lengths and self.phases.ramp < max(lengths):
            raise BadExperiment(
                f"{self.name}: phases: ramp is {self.phases.ramp}, must be at least {max(lengths)}, one request a step"
            )
        if not lengths and self.phases.ramp:
            raise BadExperiment(
                f"{self.name}: phases: ramp is {self.phases.ramp}, but no argument grows; use hold, or give an "
                "argument as {from: …, to: …, steps: …}"
            )

    @property
    def steps(self) -> int:
        """Sizes that the fault has; 1: it does not grow."""
        return max((len(value.values) for value in self.arguments.values() if isinstance(value, Steps)), default=1)


class Probing(StrEnum):
    """How a probe asks."""

    CHAT = "chat"  # a short question to the gateway; the tolerance is a degradation level
    HTTP = "http"  # GET a URL; the tolerance is a status


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One fact of the steady state."""

    name: str
    by: Probing = Probing.CHAT
    tolerance: tuple[str, ...] = ("healthy",)  # levels, or statuses as text
    url: str = ""  # of an HTTP probe; ${gateway_url} stands for the gateway
    within_s: float = 60.0  # it is asked again until then


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An HTTP request that a rollback makes; faults are undone without any."""

    name: str
    url: str
    method: str = "GET"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopConditions:
    """What ends the injection at once. None: never."""

    failed_answers: int | None = None  # more 5xx and unanswered requests than this
    latency_s: float | None = None  # an answer that took longer
    unrecovered_s: float | None = None  # the steady state is not back so long after a fault was undone
    duration_s: float = 600.0  # the experiment takes longer

    def __post_init__(self) -> None:
        for name in ("failed_answers", "latency_s", "unrecovered_s", "duration_s"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise BadExperiment(f"stop-conditions: {name.replace('_', '-')} is {value:g}, must be at least 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is sent meanwhile."""

    concurrency: int = 1  # requests in flight
    stream_share: float = 0.3  # share of requests that ask for a stream, in [0, 1]
    tenants: tuple[str, ...] = ()  # each request belongs to one of them, drawn by the seed

    def __post_init__(self) -> None:
        if not 1 <= self.concurrency <= 256:
            raise BadExperiment(f"load: concurrency is {self.concurrency}, must be between 1 and 256")
        if not 0 <= self.stream_share <= 1:
            raise BadExperiment(f"load: stream-share is {self.stream_share}, must be between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosExperiment:
    """The whole of it."""

    title: str
    method: tuple[Action, ...]
    description: str = ""
    tags: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = (Probe(name="the primary answers, undegraded"),)
    rollbacks: tuple[Call, ...] = ()
    seed: int | None = None  # None: the run's
    reach: Reach = EVERYTHING
    stop: StopConditions = StopConditions()
    load: Load = Load()

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise BadExperiment("title is empty; say in a few words what is tried")
        if not self.method:
            raise BadExperiment("method is empty; it needs at least one action")
        names = [action.name for action in self.method]
        for name in names:
            if names.count(name) > 1:
                raise BadExperiment(f"method: two actions are called {name!r}; give each a name of its own")
        for tenant in self.reach.tenants:
            if tenant not in self.load.tenants:
                raise BadExperiment(
                    f"blast-radius: tenant {tenant!r} sends nothing; load.tenants has {list(self.load.tenants)}"
                )

    @property
    def name(self) -> str:
        """A short name for rows and files, from the title."""
        words = "".join(char.lower() if char.isalnum() else " " for char in self.title).split()
        return "-".join(words)[:60].rstrip("-")

    @property
    def faults(self) -> str:
        """The name that rows carry."""
        return "+".join(dict.fromkeys(action.fault for action in self.method))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(sorted({action.target for action in self.method}))
