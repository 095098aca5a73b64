"""What conditions can ask about, and how each is measured over a window. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from gateway.ranks import nth_largest


class Outcome(NamedTuple):
    """One request that is over, as far as conditions ask about it."""

    at_s: float
    took_s: float
    service: str
    endpoint: str
    degraded: bool = False
    template: bool = False
    memory_full: bool = False
    timed_out: bool = False  # any of its attempts
    failed: bool = False  # any of its attempts


class Gauges(NamedTuple):
    """One reading of what is not counted by request; None is not measured."""

    at_s: float
    ledger_occupancy: float = 0.0
    device_memory_share: float | None = None
    oom_per_minute: float = 0.0
    breaker_open: float = 0.0  # 1 while any breaker is open
    queue_waiting: float = 0.0  # requests, over all backends and the threads in which long prompts are cut
    drift_alert: float = 0.0  # 1 while any watched feature has drifted


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Exactly one of `of_requests` and `gauge` is set; a gauge counts as its mean over the window."""

    meaning: str
    is_share: bool = False
    of_requests: Callable[[Sequence[Outcome]], float] | None = None
    gauge: Callable[[Gauges], float | None] | None = None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed; `values` must not be empty."""
    rank = max(1, math.ceil(share * len(values)))
    return nth_largest(values, len(values) - rank + 1)


def _latency_ms(share: float) -> Callable[[Sequence[Outcome]], float]:
    return lambda rows: percentile([row.took_s for row in rows], share) * 1000


def _share(of: Callable[[Outcome], bool]) -> Callable[[Sequence[Outcome]], float]:
    return lambda rows: sum(1 for row in rows if of(row)) / len(rows)


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "p95_latency_ms": Metric(meaning="95th percentile of whole answers", of_requests=_latency_ms(0.95)),
        "p99_latency_ms": Metric(meaning="99th percentile of whole answers", of_requests=_latency_ms(0.99)),
        "timeout_rate": Metric(
            meaning="share of requests with an attempt that timed out",
            is_share=True,
            of_requests=_share(lambda row: row.timed_out),
        ),
        "error_rate": Metric(
            meaning="share of requests with a failed attempt", is_share=True, of_requests=_share(lambda row: row.failed)
        ),
        "degraded_request_ratio": Metric(
            meaning="share of degraded answers", is_share=True, of_requests=_share(lambda row: row.degraded)
        ),
        "fallback_template_hit_rate": Metric(
            meaning="share of answers from templates", is_share=True, of_requests=_share(lambda row: row.template)
        ),
        "kv_cache_allocation_failure_rate": Metric(
            meaning="share refused for want of KV-cache memory",
            is_share=True,
            of_requests=_share(lambda row: row.memory_full),
        ),
        "ledger_occupancy": Metric(
            meaning="reserved share of the fullest ledger", is_share=True, gauge=lambda one: one.ledger_occupancy
        ),
        "device_memory_share": Metric(
            meaning="used share of the fullest device", is_share=True, gauge=lambda one: one.device_memory_share
        ),
        "oom_per_minute": Metric(meaning="out-of-memory failures per minute", gauge=lambda one: one.oom_per_minute),
        "breaker_open": Metric(
            meaning="share of the window with a breaker open", is_share=True, gauge=lambda one: one.breaker_open
        ),
        "queue_waiting": Metric(meaning="requests waiting for a backend", gauge=lambda one: one.queue_waiting),
        "drift_alert": Metric(
            meaning="share of the window with a drift alert", is_share=True, gauge=lambda one: one.drift_alert
        ),
    }
)


def measure(metric: str, outcomes: Sequence[Outcome], gauges: Sequence[Gauges], *, min_samples: int) -> float | None:
    """The metric over rows that already are those of the window; None where there are too few to tell."""
    one = METRICS[metric]
    if one.of_requests is not None:
        return one.of_requests(outcomes) if len(outcomes) >= min_samples else None
    read = one.gauge
    values = [value for row in gauges if read is not None and (value := read(row)) is not None]
    return sum(values) / len(values) if values else None
