"""Healthy, degraded, critical: when the gateway's level moves, and what a level changes."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from gateway.record import Level
from gateway.section import Positive, Seconds, Section, SomeShare

LEAST_TOKENS, MOST_TOKENS = 16, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFacts:
    """What the gauges say; None means not measured, and then triggers nothing."""

    p99_ms: float | None = None
    oom_per_min: float = 0.0
    device_memory_share: float | None = None  # of the fullest backend, in [0, 1]
    ledger_occupancy: float = 0.0  # of the fullest, in [0, 1]
    room: bool = False  # some backend is not full: a full one degrades the level, and is no reason to refuse new work
    breaker_open: bool = False


class HealthMarks(Section, frozen=True, kw_only=True):
    """When a fact is bad. `recover_share` is the hysteresis: calm is under that share of each mark."""

    p99_ms: Positive = 2000.0
    oom_per_min: Positive = 3.0
    device_memory_share: SomeShare = 0.95
    ledger_high: SomeShare = 0.80
    ledger_critical: SomeShare = 0.95
    window_s: Positive = 60.0  # how far back latencies and deaths by memory count; shorter forgets sooner
    recover_share: SomeShare = 0.9
    escalate_s: Seconds = 10.0  # out of memory for so long on one level leads to the next; slowness alone never does
    dwell_s: Seconds = 5.0  # least time between two moves
    probe_s: Seconds = 5.0  # while critical, one request is let through this often
    cool_down_s: Seconds = 30.0  # calm for so long before one level is taken back

    def __post_init__(self) -> None:
        if not self.ledger_high < self.ledger_critical:
            text = f"ledger_high is {self.ledger_high:g} and ledger_critical {self.ledger_critical:g}"
            raise ValueError(f"{text}, must be ledger_high < ledger_critical")


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthState:
    """Where the gateway stands. `troubled_since_s`, `calm_since_s`: since when without a break; None: not now."""

    level: Level = Level.HEALTHY
    since_s: float = -math.inf  # when the level moved; at no time yet
    troubled_since_s: float | None = None
    calm_since_s: float | None = None


class Signal(StrEnum):
    """What the facts and the time on a level add up to."""

    TROUBLED = "troubled"  # any trigger
    WORSE = "worse"  # no ledger under its critical mark, or short of memory for long
    RECOVERED = "recovered"  # calm for the whole cool-down


TRANSITIONS = MappingProxyType(
    {
        (Level.HEALTHY, Signal.TROUBLED): Level.DEGRADED,
        (Level.HEALTHY, Signal.WORSE): Level.DEGRADED,
        (Level.DEGRADED, Signal.WORSE): Level.CRITICAL,
        (Level.DEGRADED, Signal.RECOVERED): Level.HEALTHY,
        (Level.CRITICAL, Signal.RECOVERED): Level.DEGRADED,
    }
)


def triggers(facts: HealthFacts, marks: HealthMarks, *, share: float = 1.0) -> tuple[str, ...]:
    """The names of the facts over `share` of their mark; any one is enough to degrade."""
    over = {
        "p99_ms": facts.p99_ms is not None and facts.p99_ms > marks.p99_ms * share,
        "oom_per_min": facts.oom_per_min >= marks.oom_per_min * share,
        "device_memory_share": facts.device_memory_share is not None
        and facts.device_memory_share > marks.device_memory_share * share,
        "ledger_occupancy": facts.ledger_occupancy > marks.ledger_high * share,
        "breaker_open": facts.breaker_open,
    }
    return tuple(name for name, is_over in over.items() if is_over)


def step(state: HealthState, facts: HealthFacts, now_s: float, marks: HealthMarks) -> HealthState:
    """Return the state at `now_s`: at most one level away, and not within the dwell time after a move."""
    timed = _timed(state, facts, now_s, marks)
    if now_s - state.since_s < marks.dwell_s:
        return timed
    signal = _signal(timed, facts, now_s, marks)
    level = TRANSITIONS.get((state.level, signal), state.level) if signal else state.level
    if level is state.level:
        return timed
    return HealthState(
        level=level,
        since_s=now_s,
        troubled_since_s=now_s if timed.troubled_since_s is not None else None,
        calm_since_s=now_s if timed.calm_since_s is not None else None,
    )


def _timed(state: HealthState, facts: HealthFacts, now_s: float, marks: HealthMarks) -> HealthState:
    """The same level with its two stopwatches brought up to `now_s`."""
    if triggers(facts, marks):
        since_s = now_s if state.troubled_since_s is None else state.troubled_since_s
        return replace(state, troubled_since_s=since_s, calm_since_s=None)
    if triggers(facts, marks, share=marks.recover_share):
        return replace(state, troubled_since_s=None, calm_since_s=None)
    return replace(
        state, troubled_since_s=None, calm_since_s=now_s if state.calm_since_s is None else state.calm_since_s
    )


def _signal(state: HealthState, facts: HealthFacts, now_s: float, marks: HealthMarks) -> Signal | None:
    if state.troubled_since_s is not None:
        lasts = now_s - max(state.troubled_since_s, state.since_s) >= marks.escalate_s
        over = triggers(facts, marks)
        full = not facts.room and "device_memory_share" in over
        worse = (not facts.room and facts.ledger_occupancy > marks.ledger_critical) or (
            lasts and (full or "oom_per_min" in over)
        )
        return Signal.WORSE if worse else Signal.TROUBLED
    if state.calm_since_s is not None and now_s - state.calm_since_s >= marks.cool_down_s:
        return Signal.RECOVERED
    return None


def may_probe(state: HealthState, *, now_s: float, last_probe_s: float | None, marks: HealthMarks) -> bool:
    """Whether one real request may go through although the level refuses new work: recovery is probed."""
    if state.level is not Level.CRITICAL:
        return True
    return now_s - max(state.since_s, last_probe_s if last_probe_s is not None else state.since_s) >= marks.probe_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a level changes for new work."""

    max_tokens: int | None  # None: as the client and the model please
    small_model_first: bool
    speculative_decoding: bool
    refuse_new_work: bool  # refused or answered without a model; accepted work is finished


def effects(level: Level, *, max_tokens: int | None) -> Effects:
    """What `level` does to a request that asked for `max_tokens` (None: it did not say)."""
    if level is Level.HEALTHY:
        return Effects(max_tokens=max_tokens, small_model_first=False, speculative_decoding=True, refuse_new_work=False)
    return Effects(
        max_tokens=halved_tokens(max_tokens),
        small_model_first=True,
        speculative_decoding=False,
        refuse_new_work=level is Level.CRITICAL,
    )


def halved_tokens(max_tokens: int | None) -> int:
    """Half of what was asked, at least 16 and at most 128, and never more than was asked."""
    if max_tokens is None:
        return MOST_TOKENS
    return min(max_tokens, max(LEAST_TOKENS, min(MOST_TOKENS, max_tokens // 2)))
