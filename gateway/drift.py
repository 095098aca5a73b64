"""Drift of a feature: a sliding window against a baseline on the same bin edges, and what may have caused it. Pure."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from gateway.policies.metrics import percentile
from gateway.section import Count, Positive, Section

_PRIOR = 0.5  # added to each bin's count, so that an empty bin is unlikely rather than impossible


DriftFeature = Literal["latency_ms", "prompt_chars", "answer_chars"]


class DriftMarks(Section, frozen=True, kw_only=True):
    """When a feature of the traffic has drifted from its baseline; a manifest's condition `drift_alert` acts on it."""

    features: tuple[DriftFeature, ...] = ()  # () is off
    window_samples: Annotated[int, Meta(ge=50, le=100_000)] = 1000
    bins: Annotated[int, Meta(ge=2, le=500)] = 50
    threshold: Positive = 0.15  # of the Kullback-Leibler divergence, in nats
    windows: Count = 3  # in a row over the threshold alert, as many under it end the alert
    stride_samples: Count = 250  # the window is judged each time it has moved on by so many


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What is usual. `counts[i]` values lie in [edges[i-1], edges[i]); the first and last bins have no outer edge."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.edges) + 1:
            raise ValueError(f"{len(self.edges)} edges need {len(self.edges) + 1} counts, got {len(self.counts)}")
        if any(not low < high for low, high in zip(self.edges, self.edges[1:], strict=False)):
            raise ValueError("edges must rise")


def baseline_of(values: Sequence[float], *, bins: int) -> Baseline:
    """At most `bins` bins, each with about as many of `values`; a value that is common gets a bin of its own.

    Raises ValueError where there are no values, or one that is not finite.
    """
    if not values or not all(math.isfinite(value) for value in values):
        raise ValueError("a baseline needs values, all of them finite")
    ranked = sorted(values)
    cuts = [ranked[len(ranked) * number // bins] for number in range(1, bins)] if bins > 1 else []
    edges = sorted({edge for cut in cuts for edge in _edges_at(cut, cuts)})
    return Baseline(edges=tuple(edges), counts=tuple(histogram(values, edges)))


def _edges_at(cut: float, cuts: Sequence[float]) -> tuple[float, ...]:
    return (cut, math.nextafter(cut, math.inf)) if cuts.count(cut) > 1 else (cut,)


def histogram(values: Iterable[float], edges: Sequence[float]) -> list[int]:
    """How many values lie in each bin."""
    counts = [0] * (len(edges) + 1)
    for value in values:
        counts[bisect_right(edges, value)] += 1
    return counts


def divergence(counts: Sequence[int], baseline: Baseline) -> float:
    """Kullback-Leibler divergence of the window from the baseline, in nats; 0 or more."""
    prior = _PRIOR * len(counts)
    here, usual = sum(counts) + prior, sum(baseline.counts) + prior
    total = 0.0
    for count, before in zip(counts, baseline.counts, strict=True):
        share = (count + _PRIOR) / here
        total += share * math.log(share / ((before + _PRIOR) / usual))
    return max(0.0, total)


class Watch(NamedTuple):
    """How one feature stands."""

    kl: float = 0.0
    over: int = 0  # windows over the threshold in a row
    under: int = 0  # windows not over it in a row
    alert: bool = False


def judged(watch: Watch, kl: float, marks: DriftMarks) -> Watch:
    """The watch after one more window: `marks.windows` in a row over the threshold alert, as many under it end that."""
    over, under = (watch.over + 1, 0) if kl > marks.threshold else (0, watch.under + 1)
    alert = over >= marks.windows or (watch.alert and under < marks.windows)
    return Watch(kl, over, under, alert)


class Row(NamedTuple):
    """One request, for the search for causes."""

    took_s: float
    reasons: tuple[str, ...]


class Cause(NamedTuple):
    """A degrade reason that became more frequent while its requests became slower than requests used to be."""

    reason: str
    share_before: float
    share_now: float
    p95_before_ms: float
    p95_now_ms: float

    @property
    def weight(self) -> float:
        """How much of the slowness it may explain: the growth of its share times the jump of P95."""
        jump = self.p95_now_ms / self.p95_before_ms - 1 if self.p95_before_ms > 0 else 0.0
        return max(0.0, self.share_now - self.share_before) * max(0.0, jump)


def causes(before: Sequence[Row], now: Sequence[Row], *, most: int = 3) -> tuple[Cause, ...]:
    """The reasons that grew since `before`, those first that came with the largest jump of P95; () without rows."""
    if not before or not now:
        return ()
    p95_before_ms = percentile([row.took_s for row in before], 0.95) * 1000
    found = []
    for reason in sorted({reason for row in now for reason in row.reasons}):
        mine = [row.took_s for row in now if reason in row.reasons]
        share_before = sum(reason in row.reasons for row in before) / len(before)
        cause = Cause(reason, share_before, len(mine) / len(now), p95_before_ms, percentile(mine, 0.95) * 1000)
        if cause.share_now > cause.share_before:
            found.append(cause)
    return tuple(sorted(found, key=lambda one: (-one.weight, one.share_before - one.share_now, one.reason))[:most])
