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
    """Exactly one of `of_request` and `gauge` is set: the value of one request, or of one reading.

    Over a window it is the mean of the values, or their `quantile`.
    """

    meaning: str
    is_share: bool = False
    of_request: Callable[[Outcome], float] | None = None
    gauge: Callable[[Gauges], float | None] | None = None
    quantile: float | None = None

    def value(self, row: Outcome | Gauges) -> float | None:
        """Of a row of the metric's own kind; None where it was not measured."""
        if isinstance(row, Outcome):
            return None if self.of_request is None else self.of_request(row)
        return None if self.gauge is None else self.gauge(row)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed; `values` must not be empty."""
    return nth_largest(values, len(values) - _rank(len(values), share) + 1)


def exceeds(metric: str, threshold: float, *, count: int, total: float) -> bool:
    """Whether the metric is above `threshold` over `count` values, one or more.

    `total` is what they add up to; for a percentile it is how many of them are above the threshold.
    """
    quantile = METRICS[metric].quantile
    if quantile is None:
        return total / count > threshold
    return count - total < _rank(count, quantile)


def _rank(count: int, share: float) -> int:
    """Which of `count` values from the smallest up is their percentile, from 1."""
    return max(1, math.ceil(share * count))


def _took_ms(row: Outcome) -> float:
    return row.took_s * 1000


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "p95_latency_ms": Metric(meaning="95th percentile of whole answers", of_request=_took_ms, quantile=0.95),
        "p99_latency_ms": Metric(meaning="99th percentile of whole answers", of_request=_took_ms, quantile=0.99),
        "timeout_rate": Metric(
            meaning="share of requests with an attempt that timed out",
            is_share=True,
            of_request=lambda row: float(row.timed_out),
        ),
        "error_rate": Metric(
            meaning="share of requests with a failed attempt", is_share=True, of_request=lambda row: float(row.failed)
        ),
        "degraded_request_ratio": Metric(
            meaning="share of degraded answers", is_share=True, of_request=lambda row: float(row.degraded)
        ),
        "fallback_template_hit_rate": Metric(
            meaning="share of answers from templates", is_share=True, of_request=lambda row: float(row.template)
        ),
        "kv_cache_allocation_failure_rate": Metric(
            meaning="share refused for want of KV-cache memory",
            is_share=True,
            of_request=lambda row: float(row.memory_full),
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
