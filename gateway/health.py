"""Healthy, degraded, critical: when the gateway's level moves, and what a level changes."""

from dataclasses import dataclass

from gateway.record import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFacts:
    p99_ms: float | None = None
    oom_per_min: float = 0.0
    device_memory_share: float | None = None
    ledger_occupancy: float = 0.0
    breaker_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthMarks:
    p99_ms: float = 2000.0
    oom_per_min: float = 3.0
    device_memory_share: float = 0.95
    ledger_high: float = 0.80
    ledger_critical: float = 0.95
    hysteresis: float = 0.9
    dwell_s: float = 5.0
    cool_down_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthState:
    level: Level = Level.HEALTHY
    since_s: float = 0.0
    calm_since_s: float | None = None


def step(state: HealthState, facts: HealthFacts, now_s: float, marks: HealthMarks) -> HealthState:
    raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    max_tokens: int | None
    small_model_first: bool
    speculative_decoding: bool
    refuse_new_work: bool


def effects(level: Level, *, max_tokens: int | None) -> Effects:
    raise NotImplementedError
