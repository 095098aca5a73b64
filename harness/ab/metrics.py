"""One metric under both policies, with the interval of the difference; the unit is the item (pure)."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.ab.events import PolicyEvents
from harness.ab.pairs import Answer, Pair, Pairing
from harness.fidelity.case import Label
from harness.stats import LEAST_MEAN_ITEMS, Estimate, PairedCounts, mean, paired_counts, student_mean, tango

TWO_SIDED_95 = 0.975  # each of the two bounds
CSAT_TARGET = 0.85


class Kind(StrEnum):
    SEMANTIC = "semantic"
    BUSINESS = "business"


class Shown(StrEnum):
    """What the interval of a difference shows."""

    A = "A is better"
    B = "B is better"
    NEITHER = "no difference shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Values are means over items that both policies hold, each item weighing the same. None: not measured."""

    name: str
    kind: Kind
    higher_is_better: bool
    a: float | None = None
    b: float | None = None
    difference: Estimate | None = None  # B − A, 95% interval
    counts: PairedCounts | None = None  # of rates: items by what happened under B (candidate) and A (baseline)
    target: float | None = None  # least value that is wanted
    bounds_a: Estimate | None = None  # of the value itself, where there is a target
    bounds_b: Estimate | None = None

    @property
    def n(self) -> int:
        """Items that it rests on."""
        return self.difference.n if self.difference else 0

    @property
    def shown(self) -> Shown:
        if self.counts is None and self.n < LEAST_MEAN_ITEMS:
            return Shown.NEITHER  # a mean over a few items that are alike has no spread
        if self.difference is None or self.difference.low <= 0 <= self.difference.high:
            return Shown.NEITHER
        return Shown.B if (self.difference.low > 0) is self.higher_is_better else Shown.A


def semantic_metrics(pairing: Pairing) -> list[Metric]:
    """Rates count an item once, however many of its answers did it, as the gate does."""
    return [
        rate("misleading", pairing, lambda answer: answer.label is Label.MISLEADING and not answer.failed),
        rate("abstained", pairing, lambda answer: answer.label is Label.ABSTAINED and not answer.failed),
        rate("failed", pairing, lambda answer: answer.failed),
        score("BERTScore F1", pairing, lambda answer: answer.bertscore_f1),
        score("cosine", pairing, lambda answer: answer.cosine),
    ]


def rate(name: str, pairing: Pairing, happened: Callable[[Answer], bool]) -> Metric:
    """Share of items of which any answer did it, with Tango's interval of the paired difference."""
    a = {item: any(happened(pair.a) for pair in pairs) for item, pairs in pairing.by_item.items()}
    b = {item: any(happened(pair.b) for pair in pairs) for item, pairs in pairing.by_item.items()}
    if not a:
        return Metric(name=name, kind=Kind.SEMANTIC, higher_is_better=False)
    counts = paired_counts(b, a)
    return Metric(
        name=name,
        kind=Kind.SEMANTIC,
        higher_is_better=False,
        a=mean(list(a.values())),
        b=mean(list(b.values())),
        difference=tango(counts, TWO_SIDED_95),
        counts=counts,
    )


def score(name: str, pairing: Pairing, of: Callable[[Answer], float | None]) -> Metric:
    """Mean of a score over the requests that both policies answered."""

    def both(pairs: tuple[Pair, ...]) -> list[tuple[float, float]]:
        answered = [pair for pair in pairs if pair.a.answered and pair.b.answered]
        return [(x, y) for pair in answered if (x := of(pair.a)) is not None and (y := of(pair.b)) is not None]

    scored = {item: values for item, pairs in pairing.by_item.items() if (values := both(pairs))}
    a = {item: mean([x for x, _ in values]) for item, values in scored.items()}
    b = {item: mean([y for _, y in values]) for item, values in scored.items()}
    return differing(name, Kind.SEMANTIC, a, b)


def differing(
    name: str, kind: Kind, a: Mapping[str, float], b: Mapping[str, float], target: float | None = None
) -> Metric:
    """Means over the items that both hold, with Student's interval of the paired difference."""
    items = [item for item in a if item in b]
    if not items:
        return Metric(name=name, kind=kind, higher_is_better=True, target=target)
    ours, theirs = [a[item] for item in items], [b[item] for item in items]
    gaps = [y - x for x, y in zip(ours, theirs, strict=True)]
    return Metric(
        name=name,
        kind=kind,
        higher_is_better=True,
        a=mean(ours),
        b=mean(theirs),
        difference=student_mean(gaps, TWO_SIDED_95),
        target=target,
        bounds_a=None if target is None else student_mean(ours, TWO_SIDED_95),
        bounds_b=None if target is None else student_mean(theirs, TWO_SIDED_95),
    )


def business_metrics(a: PolicyEvents, b: PolicyEvents) -> list[Metric]:
    return [
        differing("CTR", Kind.BUSINESS, a.ctr_of_items(), b.ctr_of_items()),
        differing("CSAT", Kind.BUSINESS, a.csat_of_items(), b.csat_of_items(), target=CSAT_TARGET),
    ]


def finite_or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
