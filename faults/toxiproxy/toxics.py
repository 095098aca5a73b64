"""The eight toxics by name, and how they are read from the attributes a client sent."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from types import MappingProxyType

from faults.errors import BadFault
from faults.toxiproxy.ending import LimitData, Noop, ResetPeer, Timeout
from faults.toxiproxy.pacing import Bandwidth, Latency, Slicer, SlowClose

Effect = Latency | Bandwidth | SlowClose | Timeout | ResetPeer | Slicer | LimitData | Noop

EFFECTS: Mapping[str, type[Effect]] = MappingProxyType(
    {effect.kind: effect for effect in (Latency, Bandwidth, SlowClose, Timeout, ResetPeer, Slicer, LimitData, Noop)}
)


def attributes(effect: Effect) -> dict[str, int]:
    return asdict(effect)


def read_effect(kind: type[Effect], given: Mapping[str, object], before: Effect | None = None) -> Effect:
    """The effect with the attributes that were given; the others keep their value `before`, or their default.

    Raises BadFault for a name that this toxic does not have and for a value that it cannot have.
    """
    known = tuple(field.name for field in fields(kind))
    values: dict[str, object] = dict(attributes(before)) if before is not None else {}
    for name, value in given.items():
        if name.lower() not in known:
            raise BadFault(f"{kind.kind} has no attribute {name!r}; known are: {', '.join(known) or 'none'}")
        if value is not None:
            values[name.lower()] = value
    return kind(**values)  # type: ignore[arg-type]  # checked on construction
