"""The faults that are on now: their time to live, their draws, and the record of what they touched."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from faults.pattern import ALWAYS, Pattern, read_pattern
from faults.semantic.spec import Spec

MAX_EDITS_PER_REQUEST = 200
MAX_ROWS = 1000


class Arrival(NamedTuple):
    """What of a request decides whether it meets a fault."""

    path: str
    trial: str | None  # its key; None: the number of the request is
    headers: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Touch:
    """What one fault did to one request; `edits` is bounded, `count` is not."""

    fault_id: str
    kind: str
    key: str
    number: int  # the how-manieth request since the fault was set, from 0
    count: int = 0
    edits: list[dict[str, Any]] = field(default_factory=list)

    def add(self, **edit: Any) -> None:
        self.count += 1
        if len(self.edits) < MAX_EDITS_PER_REQUEST:
            self.edits.append(edit)

    def row(self) -> dict[str, Any]:
        return {
            "id": self.fault_id,
            "kind": self.kind,
            "key": self.key,
            "number": self.number,
            "count": self.count,
            "edits": self.edits,
        }


@dataclass(slots=True, kw_only=True)
class Meeting:
    """One request meets one fault."""

    active: "Active"
    rng: Random
    touch: Touch

    @property
    def spec(self) -> Spec:
        return self.active.spec

    @property
    def over(self) -> bool:
        """The fault is gone: whatever it holds back is let go, and nothing more is touched."""
        return self.active.gone.is_set()

    def record(self, **edit: Any) -> None:
        if self.touch.count == 0:
            self.active.touched += 1
            self.active.rows.append(self.touch)
        self.touch.add(**edit)


@dataclass(slots=True, kw_only=True)
class Active:
    """A fault that is on, or that has run out and was not taken away yet."""

    spec: Spec
    rows: "deque[Touch]"
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    seen: int = 0
    touched: int = 0
    timer: asyncio.TimerHandle | None = None
    pattern: Pattern = ALWAYS

    def meet(self, arrival: Arrival) -> Meeting | None:
        """Draw whether the next request meets this fault; the key makes the draw, so order and load do not matter.

        A pattern is one of places and bursts, so it goes by the number of the request.
        """
        reach, number = self.spec.reach, self.seen
        key = str(number) if arrival.trial is None else arrival.trial
        if not reach.meets(path=arrival.path, tenant=arrival.headers.get(reach.tenant_header), key=key):
            return None
        self.seen += 1
        if self.gone.is_set() or not self.pattern.allows(number):
            return None
        draw = Random(f"{self.spec.seed}/{self.spec.kind}/{self.pattern.draw_key(number, key)}")
        if draw.random() >= self.spec.request_share * self.pattern.size(number):
            return None
        rng = draw if self.pattern.burst == 1 else Random(f"{self.spec.seed}/{self.spec.kind}/{key}")
        touch = Touch(fault_id=self.spec.id, kind=self.spec.kind, key=key, number=number)
        return Meeting(active=self, rng=rng, touch=touch)

    def end(self) -> None:
        self.gone.set()
        if self.timer is not None:
            self.timer.cancel()

    def state(self) -> dict[str, Any]:
        return {
            "id": self.spec.id,
            "kind": self.spec.kind,
            "seen": self.seen,
            "touched": self.touched,
            "expired": self.gone.is_set(),
        }


class Board:
    """The faults of one proxy, by id, with the ring buffer of what they touched."""

    def __init__(self, later: Callable[[float, Callable[[], None]], asyncio.TimerHandle]) -> None:
        self._later = later
        self._faults: dict[str, Active] = {}
        self._rows: deque[Touch] = deque(maxlen=MAX_ROWS)
        self._answers: deque[tuple[str, str]] = deque(maxlen=64)
        self.relayed = {"requests": 0, "ended": 0, "broken": 0}  # since the start; broken: not reached, or broke off

    def set(self, spec: Spec) -> None:
        """Switch on, or replace the fault with the same id; what the one before touched is no evidence for this one."""
        self.remove(spec.id)
        others = [touch for touch in self._rows if touch.fault_id != spec.id]
        self._rows.clear()
        self._rows.extend(others)
        active = Active(spec=spec, rows=self._rows, pattern=read_pattern(spec.when))
        active.timer = self._later(spec.ttl_s, active.end)
        self._faults[spec.id] = active

    def remove(self, fault_id: str) -> dict[str, Any] | None:
        """Switch off and return the last state with its evidence; None: there is no such fault."""
        active = self._faults.pop(fault_id, None)
        if active is None:
            return None
        active.end()
        return {**active.state(), "evidence": self.evidence(fault_id)}

    def clear(self) -> None:
        for fault_id in list(self._faults):
            self.remove(fault_id)
        self._rows.clear()
        self._answers.clear()

    def meet(self, arrival: Arrival) -> list[Meeting]:
        """The faults that the next request meets, in the order they were set."""
        return [meeting for active in self._faults.values() if (meeting := active.meet(arrival)) is not None]

    def live(self) -> bool:
        return any(not active.gone.is_set() for active in self._faults.values())

    def states(self) -> list[dict[str, Any]]:
        return [active.state() for active in self._faults.values()]

    def evidence(self, fault_id: str | None = None) -> list[dict[str, Any]]:
        return [touch.row() for touch in self._rows if fault_id in (None, touch.fault_id)]

    def remember(self, key: str, answer: str) -> None:
        """Keep an answer, so that a stale-answer fault has something to give."""
        if answer:
            self._answers.append((key, answer))

    def stale(self, key: str) -> str | None:
        """The newest answer of another request."""
        return next((answer for other, answer in reversed(self._answers) if other != key), None)
