"""From an experiment and a seed to the events in their order. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from faults.catalogue import build, find, parameters
from faults.errors import BadExperiment, FaultError
from faults.experiment import Action, Argument, Between, ChaosExperiment, Scalar, Steps
from faults.reach import Reach

PER_REQUEST = ("faults.http_outage", "faults.tokens")  # modules of the faults that the semantic proxy applies
PER_CONNECTION = "faults.network"


class Phase(StrEnum):
    """What a request is sent in."""

    STEADY = "steady"  # before any fault
    RAMP = "ramp"
    HOLD = "hold"
    RECOVER = "recover"  # after the faults


class Change(StrEnum):
    ON = "on"
    RESIZE = "resize"
    OFF = "off"
    PAUSE = "pause"


ORDER = (Change.OFF, Change.PAUSE, Change.RESIZE, Change.ON)  # at the same place


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is done after `at` requests have been answered, and before the next one is sent."""

    at: int
    change: Change
    action: int  # its place in the method
    params: Mapping[str, Scalar] | None = None  # of the fault, for ON and RESIZE
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All events, sorted, and the phase of each request."""

    events: tuple[Event, ...]
    phases: tuple[Phase, ...]

    @property
    def requests(self) -> int:
        return len(self.phases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Where the phases of one action lie, in requests."""

    ramp: int
    hold: int
    recover: int
    end: int

    def phase(self, at: int) -> Phase | None:
        """None: the action has not begun, or is over."""
        if at >= self.end:
            return None
        if at >= self.recover:
            return Phase.RECOVER
        if at >= self.hold:
            return Phase.HOLD
        return Phase.RAMP if at >= self.ramp else None


def plan(seed: int, experiment: ChaosExperiment) -> Timeline:
    """The same seed plans the same events. Raises BadExperiment naming the action, and BadFault for its values."""
    spans = lay_out(experiment.method)
    events = [event for place, span in enumerate(spans) for event in _events(seed, experiment, place, span)]
    length = max(span.end for span in spans)
    return Timeline(
        events=tuple(sorted(events, key=lambda event: (event.at, ORDER.index(event.change), event.action))),
        phases=tuple(phase_of([span.phase(at) for span in spans]) for at in range(length)),
    )


def lay_out(method: Sequence[Action]) -> list[Span]:
    """One action after the other; one in the background lets the next begin with it."""
    spans: list[Span] = []
    begin = 0
    for action in method:
        length = action.phases
        ramp = begin + length.steady
        hold = ramp + length.ramp
        recover = hold + length.hold
        spans.append(Span(ramp=ramp, hold=hold, recover=recover, end=recover + length.recover))
        if not action.background:
            begin = max(span.end for span in spans)
    return spans


def phase_of(phases: Sequence[Phase | None]) -> Phase:
    """Of several actions at once, the one that is furthest into its fault."""
    return next((phase for phase in (Phase.RAMP, Phase.HOLD, Phase.RECOVER) if phase in phases), Phase.STEADY)


def _events(seed: int, experiment: ChaosExperiment, place: int, span: Span) -> list[Event]:
    action = experiment.method[place]
    sizes = [sized(seed, experiment, action, step) for step in range(action.steps)]
    ramp = span.hold - span.ramp
    starts = [span.ramp + step * ramp // len(sizes) for step in range(len(sizes))]
    events = [Event(at=starts[0], change=Change.ON, action=place, params=sizes[0])]
    events += [
        Event(at=at, change=Change.RESIZE, action=place, params=size)
        for at, size in zip(starts[1:], sizes[1:], strict=True)
    ]
    events.append(Event(at=span.recover, change=Change.OFF, action=place))
    for at, pause_s in ((span.ramp, action.pause_before_s), (span.end, action.pause_after_s)):
        if pause_s:
            events.append(Event(at=at, change=Change.PAUSE, action=place, pause_s=pause_s))
    return events


def sized(seed: int, experiment: ChaosExperiment, action: Action, step: int) -> dict[str, Scalar]:
    """The fault's parameters at one step, checked by the catalogue."""
    try:
        types = {parameter.name: parameter.type for parameter in parameters(action.fault)}
        params = {
            name: valued(value, step, Random(f"{seed}/{action.name}/{name}"), whole=types.get(name) == "int")
            for name, value in action.arguments.items()
        }
        params = within_reach(action.fault, params, experiment.reach)
        build(action.fault, params)
    except FaultError as error:
        raise BadExperiment(f"{action.name}: {error}") from None
    return params


def valued(value: Argument, step: int, rng: Random, *, whole: bool) -> Scalar:
    """One value, drawn or taken from its steps."""
    if isinstance(value, Steps):
        found = value.values[step]
        return round(found) if whole else found
    if isinstance(value, Between):
        drawn = rng.uniform(value.low, value.high)
        return round(drawn) if whole else drawn
    return value


def within_reach(fault: str, params: dict[str, Scalar], reach: Reach) -> dict[str, Scalar]:
    """The parameters under a blast radius. Raises BadExperiment for a fault that cannot be kept within it."""
    module = find(fault).__module__
    if reach.everything or module in PER_REQUEST:
        return params
    if module != PER_CONNECTION:
        raise BadExperiment(f"{fault} hits the whole backend and cannot be kept within a blast radius; leave it out")
    if reach.tenants or reach.paths:
        raise BadExperiment(f"{fault} acts on connections, which have no tenant and no path; use a share only")
    toxicity = params.get("toxicity", 1.0)
    return {**params, "toxicity": reach.share * (float(toxicity) if toxicity is not None else 1.0)}
