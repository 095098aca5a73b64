"""Put a comparison together: pairs, metrics, weights and the combined score (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.ab.events import Event, PolicyEvents
from harness.ab.metrics import (
    CSAT_TARGET,
    Kind,
    Metric,
    business_metrics,
    finite_or_none,
    semantic_metrics,
)
from harness.ab.pairs import Answer, Pairing, paired
from harness.ab.weights import Weights, ctr_spread, weights
from harness.errors import NothingJudged
from harness.stats import Estimate, mean

DRAWS = 1000
TAIL = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that is known of policy A and policy B on the same requests."""

    pairing: Pairing
    metrics: tuple[Metric, ...]
    weights: Weights
    combined: Metric
    events: int = 0
    events_left_out: int = 0  # of items that are not compared

    def metric(self, name: str) -> Metric:
        return next(metric for metric in self.metrics if metric.name == name)

    def of(self, kind: Kind) -> list[Metric]:
        return [metric for metric in self.metrics if metric.kind is kind]

    def to_json(self) -> dict[str, Any]:
        """Plain values; None where nothing was measured."""
        return {
            "coverage": {
                "requests": self.pairing.requests,
                "compared": len(self.pairing.pairs),
                "items": len(self.pairing.by_item),
                "only_a": self.pairing.only_a,
                "only_b": self.pairing.only_b,
                "unproved": self.pairing.unproved,
                "unmeasured": self.pairing.unmeasured,
            },
            "events": {"compared": self.events, "left_out": self.events_left_out},
            "weights": {**asdict(self.weights), "semantic_share": self.weights.semantic_share},
            "metrics": [metric_json(metric) for metric in (*self.metrics, self.combined)],
        }


def metric_json(metric: Metric) -> dict[str, Any]:
    difference = metric.difference
    return {
        "name": metric.name,
        "kind": metric.kind.value,
        "a": metric.a,
        "b": metric.b,
        "difference": difference and difference.value,
        "low": difference and finite_or_none(difference.low),
        "high": difference and finite_or_none(difference.high),
        "n": metric.n,
        "target": metric.target,
        "shown": metric.shown.value,
    }


def compare(a: Sequence[Answer], b: Sequence[Answer], events: Sequence[Event] = (), *, load: float = 0.0) -> Comparison:
    """Raises NothingJudged when no request can be compared, ConfigError for a load outside [0, 1]."""
    pairing = paired(a, b)
    if not pairing.pairs:
        raise NothingJudged(f"no request can be compared: {pairing}")
    kept = [event for event in events if event.item_id in pairing.by_item]
    policies = PolicyEvents.of("A", kept), PolicyEvents.of("B", kept)
    business = business_metrics(*policies)
    known = any(metric.difference for metric in business)
    weighed = weights(load, ctr_spread(kept), business_known=known)
    return Comparison(
        pairing=pairing,
        metrics=(*semantic_metrics(pairing), *business),
        weights=weighed,
        combined=combined(pairing, *policies, weighed),
        events=len(kept),
        events_left_out=len(events) - len(kept),
    )


def combined(pairing: Pairing, a: PolicyEvents, b: PolicyEvents, weighed: Weights) -> Metric:
    """The mean value of the answers and the business score, each in [0, 1], averaged by their weights.

    The interval is a bootstrap over items with a fixed seed: items of both sides are drawn together.
    """
    import numpy as np

    items = sorted(pairing.by_item)
    value = {
        item: (mean([pair.a.value for pair in pairs]), mean([pair.b.value for pair in pairs]))
        for item, pairs in pairing.by_item.items()
    }
    tables = [
        table_of(items, table)
        for table in (value, both(a.ctr_of_items(), b.ctr_of_items()), both(a.csat_of_items(), b.csat_of_items()))
    ]
    drawn = np.random.default_rng(0).multinomial(len(items), np.full(len(items), 1 / len(items)), size=DRAWS)
    ((ours, theirs),) = scores(np.ones((1, len(items))), tables, weighed)
    each = scores(drawn, tables, weighed)
    low, high = np.quantile(each[:, 1] - each[:, 0], [TAIL, 1 - TAIL])
    return Metric(
        name="combined score",
        kind=Kind.SEMANTIC,
        higher_is_better=True,
        a=float(ours),
        b=float(theirs),
        difference=Estimate(float(theirs - ours), float(low), float(high), len(items)),
    )


def scores(drawn: Any, tables: Sequence[Any], weighed: Weights) -> Any:
    """float64[draws, 2]: combined scores of A and B. `drawn`: [draws, items], how often each item was drawn.

    `tables`: value, CTR and CSAT of the items. A draw that holds no item with events is scored by its answers alone.
    """
    import numpy as np

    value, ctr, csat = (means(drawn, table) for table in tables)
    best = ctr.max(axis=1, keepdims=True)
    relative = np.divide(ctr, best, out=np.where(np.isnan(ctr), np.nan, 0.0), where=best > 0)
    parts = np.stack([relative, np.minimum(1.0, csat / CSAT_TARGET)])
    known = ~np.isnan(parts)
    business = np.where(known, parts, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    share = weighed.semantic_share
    return np.where(known.any(axis=0), share * value + (1 - share) * business, value)


def table_of(items: Sequence[str], table: Mapping[str, tuple[float, float]]) -> Any:
    """float64[items, 2], NaN where an item has none."""
    import numpy as np

    return np.array([table.get(item, (np.nan, np.nan)) for item in items])


def means(drawn: Any, table: Any) -> Any:
    """float64[draws, 2]: means over the drawn items that have a value; NaN where none has."""
    import numpy as np

    has = ~np.isnan(table)
    count = drawn @ has.astype(float)
    total = drawn @ np.where(has, table, 0.0)
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def both(a: Mapping[str, float], b: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    return {item: (a[item], b[item]) for item in a if item in b}
