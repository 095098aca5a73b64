"""What happened to one request: the row that a run writes and every later judgement reads."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from harness.errors import ResultError
from harness.row_types import COUNT, FINITE, FLAG, RECORD, TEXT, TEXTS, Need, or_null, require, require_record

NO_FAULT = "none"  # the fault of a block, and of a trial, in the steady state


class Outcome(StrEnum):
    """What became of the request, at the client."""

    OK = "ok"  # 200
    DEGRADED = "degraded"  # 206: a structured body instead of an answer
    REFUSED = "refused"  # 429
    REJECTED = "rejected"  # another 4xx: the client's own fault
    FAILED = "failed"  # 5xx, or a body that is no answer: never allowed
    UNANSWERED = "unanswered"  # nothing came back: never allowed


OUTCOME = Need(lambda value: isinstance(value, str) and value in tuple(Outcome), f"one of {', '.join(Outcome)}")
TRIAL_FIELDS = MappingProxyType(
    {
        **dict.fromkeys(("id", "experiment", "block", "fault", "item_id", "lang"), TEXT),
        "outcome": OUTCOME,
        **dict.fromkeys(("target", "answer", "finish_reason", "level", "path"), or_null(TEXT)),
        **dict.fromkeys(("model_served", "error", "phase", "on"), or_null(TEXT)),
        **dict.fromkeys(("sent_at_s", "latency_ms", "ttft_ms"), or_null(FINITE)),
        **{"stream": FLAG, "abstained": or_null(FLAG), "status": or_null(COUNT), "reasons": TEXTS, "record": RECORD},
    }
)
BLOCK_FIELDS = MappingProxyType(
    {
        **dict.fromkeys(("id", "experiment", "fault"), TEXT),
        **dict.fromkeys(("target", "error", "stopped"), or_null(TEXT)),
        **dict.fromkeys(("trials", "touched"), COUNT),
        **dict.fromkeys(("steady", "cut_short"), FLAG),
        **dict.fromkeys(("fired", "recovered", "same_process"), or_null(FLAG)),
        **dict.fromkeys(("recovery_ms", "detection_ms", "began_at_s", "ended_at_s"), or_null(FINITE)),
        "evidence": TEXTS,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One item, sent once, while one fault was on (or none). None means not measured."""

    id: str  # "<experiment>/<item>": stable, so that a run can be resumed
    experiment: str  # "steady", "latency-primary", …
    block: str  # "<experiment>#<n>": what was sent while one injection was on; its row is the Block of that id
    fault: str  # name in the fault catalogue, or "none"
    target: str | None  # the backend under fault
    item_id: str
    lang: str
    stream: bool
    outcome: Outcome
    status: int | None = None  # HTTP status
    answer: str | None = None  # text that the client would read
    finish_reason: str | None = None
    level: str | None = None  # from the degradation record
    path: str | None = None  # the path that served; the primary's name on a healthy answer
    abstained: bool | None = None  # as marked by the gateway
    reasons: tuple[str, ...] = ()
    model_served: str | None = None
    record: dict[str, Any] = field(default_factory=dict)  # the whole degradation record, as received
    error: str | None = None
    sent_at_s: float | None = None  # since the run began
    latency_ms: float | None = None
    ttft_ms: float | None = None
    phase: str | None = None  # of an experiment with phases: "steady", "ramp", "hold", "recover"
    on: str | None = None  # of such an experiment: the faults that were on, joined by "+", "" for none

    @property
    def degraded(self) -> bool:
        """Whether the answer left a degraded path (marked as such)."""
        return self.level is not None and self.level != "healthy"

    def to_row(self) -> dict[str, Any]:
        """A plain row for one JSON line."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """Raises ResultError when the row has other fields than a trial, or one of another type."""
        known = {f.name for f in fields(cls)}
        if extra := sorted(set(row) - known):
            raise ResultError(f"trial row has unknown field {extra[0]!r}; known are {', '.join(sorted(known))}")
        of = f"trial {row.get('id')!r}"
        require(row, TRIAL_FIELDS, of=of)
        require_record(row.get("record", {}), of=of)
        try:
            return cls(**{**row, "outcome": Outcome(row["outcome"]), "reasons": tuple(row.get("reasons", ()))})
        except (KeyError, TypeError, ValueError) as error:
            raise ResultError(f"trial row is not complete: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One injection: from the steady state before it to the recovery after it. None means not measured."""

    id: str  # "<experiment>#<n>", n the place of its first trial in the plan; "….1" and so on when it is tried again
    experiment: str
    fault: str
    target: str | None
    trials: int
    steady: bool  # the primary answered, undegraded, before the fault
    fired: bool | None  # None: there was no fault to fire
    touched: int = 0  # requests, connections or allocations that met the fault
    evidence: tuple[str, ...] = ()
    recovered: bool | None = None  # the primary answered, undegraded, after the fault
    recovery_ms: float | None = None  # from the undoing of the fault to the first such answer
    detection_ms: float | None = None  # from the first request under the fault to the end of the first degraded answer
    began_at_s: float | None = None  # since the run began
    ended_at_s: float | None = None
    same_process: bool | None = None  # the target's process is the one from before
    error: str | None = None  # what went wrong with the injection itself
    stopped: str | None = None  # the stop condition that ended the injection
    cut_short: bool = False  # it did not come to its end: its trials do not count, and `error` says why

    @property
    def attempts(self) -> int:
        """How often it was begun and left a row, this time included: more than once only in a resumed run."""
        return attempts_of(self.id)

    def to_row(self) -> dict[str, Any]:
        """A plain row for one JSON line."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Self:
        """Raises ResultError when the row has other fields than a block, or one of another type."""
        require(row, BLOCK_FIELDS, of=f"block {row.get('id')!r}")
        try:
            return cls(**{**row, "evidence": tuple(row.get("evidence", ()))})
        except TypeError as error:
            raise ResultError(f"block row is not complete: {error}") from None


def attempts_of(block_id: str) -> int:
    """3 for "latency-primary#0.2"."""
    number = block_id.rpartition("#")[2].partition(".")[2]
    return 1 + (int(number) if number.isdecimal() else 0)


class Begun(NamedTuple):
    """A block when its injection begins: how it is told apart if it never ends."""

    block: str
    experiment: str
    fault: str
    target: str | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """From a row of its own, or of one of its trials."""
        target = row.get("target")
        block, experiment, fault = (str(row.get(name)) for name in ("block", "experiment", "fault"))
        return cls(block, experiment, fault, None if target is None else str(target))

    def cut_short(self, trials: int, error: str) -> Block:
        """What is known of a block that did not come to its end: nothing but why."""
        return Block(
            id=self.block,
            experiment=self.experiment,
            fault=self.fault,
            target=self.target,
            trials=trials,
            steady=False,
            fired=None if self.fault == NO_FAULT else False,
            error=f"{error}; {trials} answers of it do not count",
            cut_short=True,
        )
