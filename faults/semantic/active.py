"""The faults that are on now: their time to live, their draws, and the record of what they touched."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from faults.semantic.spec import Spec

MAX_EDITS_PER_REQUEST = 200
MAX_ROWS = 1000


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

    def meet(self, trial: str | None) -> Meeting | None:
        """Draw whether the next request meets this fault; the key makes the draw, so order and load do not matter."""
        number, self.seen = self.seen, self.seen + 1
        if self.gone.is_set():
            return None
        key = str(number) if trial is None else trial
        rng = Random(f"{self.spec.seed}/{self.spec.kind}/{key}")
        if rng.random() >= self.spec.request_share:
            return None
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
        self.relayed = {"requests": 0, "broken": 0}  # since the start; broken: the backend was not reached or broke off

    def set(self, spec: Spec) -> None:
        """Switch on, or replace the fault with the same id."""
        self.remove(spec.id)
        active = Active(spec=spec, rows=self._rows)
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

    def meet(self, trial: str | None) -> list[Meeting]:
        """The faults that the next request meets, in the order they were set."""
        return [meeting for active in self._faults.values() if (meeting := active.meet(trial)) is not None]

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
