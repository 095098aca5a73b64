"""Bounds on rates and on paired differences, and how many items a claim needs (pure).

Every bound is one-sided at `confidence`, so "the upper 95% bound is at most the limit" is a test at level 0.05.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple, TypeVar

from harness.errors import ConfigError

Item = TypeVar("Item", bound=Hashable)  # what is measured twice
POWER = 0.8  # probability with which the number of items that is asked for shows what is true
LEAST_MEAN_ITEMS = 10  # fewer scores say nothing of a mean: three that are alike by chance have no spread at all
MOST_SCANNED = 64  # items up to which each number is tried: the power rises in steps, not evenly
MOST_EXACT = 1000  # items up to which the power is summed; beyond, the normal distribution does
MOST_ITEMS = 10_000  # more are not asked for


class Estimate(NamedTuple):
    """A value with its one-sided bounds, from `n` independent units."""

    value: float
    low: float
    high: float
    n: int


def z_of(confidence: float) -> float:
    """Quantile of the normal distribution. Raises ConfigError outside (0.5, 1)."""
    if not 0.5 < confidence < 1:
        raise ConfigError(f"confidence is {confidence}; it has to be in (0.5, 1), usually 0.95")
    return NormalDist().inv_cdf(confidence)


def z_of_power(power: float) -> float:
    """Raises ConfigError outside [0.5, 1)."""
    if not 0.5 <= power < 1:
        raise ConfigError(f"power is {power}; it has to be in [0.5, 1), usually 0.8")
    return NormalDist().inv_cdf(power)


def counted(hits: int, n: int) -> None:
    """Raises ConfigError unless 0 <= hits <= n and n > 0."""
    if n < 1 or not 0 <= hits <= n:
        raise ConfigError(f"need 0 <= hits <= n and n >= 1, got {hits=}, {n=}")


def wilson(hits: int, n: int, confidence: float = 0.95) -> Estimate:
    """A rate with Wilson's score bounds: close to the stated coverage on average, short."""
    counted(hits, n)
    z, rate = z_of(confidence), hits / n
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    low = 0.0 if hits == 0 else max(0.0, middle - spread)
    high = 1.0 if hits == n else min(1.0, middle + spread)
    return Estimate(rate, low, high, n)


def clopper_pearson(hits: int, n: int, confidence: float = 0.95) -> Estimate:
    """A rate with exact binomial bounds: never below the stated coverage. What the gate uses for limits."""
    from scipy.special import betaincinv

    counted(hits, n)
    z_of(confidence)
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, 1 - confidence))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, confidence))
    return Estimate(hits / n, low, high, n)


def binomial_tail_p(hits: int, n: int, limit: float) -> float:
    """p-value of "the rate is at most `limit`" against "above": P(X >= hits) at rate `limit`."""
    from scipy.special import bdtrc

    counted(hits, n)
    return 1.0 if hits == 0 or limit >= 1 else float(bdtrc(hits - 1, n, max(limit, 0.0)))


class PairedCounts(NamedTuple):
    """Items by what happened to the same item twice: candidate hit only, baseline hit only, both, neither."""

    candidate_only: int
    baseline_only: int
    both: int
    neither: int

    @property
    def n(self) -> int:
        return sum(self)


def paired_counts(candidate: Mapping[Item, bool], baseline: Mapping[Item, bool]) -> PairedCounts:
    """Over the items that both hold."""
    pairs = [(candidate[item], baseline[item]) for item in candidate if item in baseline]
    return PairedCounts(*(pairs.count(cell) for cell in ((True, False), (False, True), (True, True), (False, False))))


def tango(counts: PairedCounts, confidence: float = 0.95) -> Estimate:
    """Difference of two paired rates (candidate − baseline) with Tango's score bounds, in [-1, 1].

    The bound is the margin at which the score test just no longer rejects, so it is consistent with `tango_p`.
    """
    counted(counts.candidate_only + counts.baseline_only, counts.n)
    z = z_of(confidence)
    value = (counts.candidate_only - counts.baseline_only) / counts.n
    high = root(lambda d: tango_z(counts, d) + z, value, 1.0)
    low = root(lambda d: tango_z(counts, d) - z, -1.0, value)
    return Estimate(value, low, high, counts.n)


def tango_z(counts: PairedCounts, margin: float) -> float:
    """Score statistic of "difference = margin"; falls as `margin` grows."""
    b, c, n = counts.candidate_only, counts.baseline_only, counts.n
    gap = b - c - n * margin
    if gap == 0:
        return 0.0
    linear = -b - c + (2 * n - b + c) * margin
    quadratic = -c * margin * (1 - margin)
    discordant = (math.sqrt(max(0.0, linear * linear - 8 * n * quadratic)) - linear) / (4 * n)
    variance = n * (2 * discordant + margin * (1 - margin))
    return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap)


def tango_p(counts: PairedCounts, margin: float) -> float:
    """p-value of "the difference is at least `margin`" against "below"."""
    counted(counts.candidate_only + counts.baseline_only, counts.n)
    return (
        NormalDist().cdf(tango_z(counts, margin))
        if math.isfinite(tango_z(counts, margin))
        else float(tango_z(counts, margin) > 0)
    )


def tango_above_p(counts: PairedCounts, margin: float) -> float:
    """p-value of "the difference is at most `margin`" against "above"."""
    return 1 - tango_p(counts, margin)


def needed_pairs(
    counts: PairedCounts, margin: float, *, confidence: float = 0.95, power: float = POWER, most: int = MOST_ITEMS
) -> int | None:
    """Items like these that put the bound at or below the margin with probability `power`.

    About the least such number. None: no number up to `most` does.
    """
    counted(counts.candidate_only + counts.baseline_only, counts.n)

    def enough(n: int) -> bool:
        return shows(counts, n, margin, confidence, power)

    low, high = 0, 1
    while not enough(high):
        low, high = high, high * 2
        if low >= most:
            return None
    if high <= MOST_SCANNED:
        low, high = high, next(n for n in range(low + 1, high + 1) if enough(n))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high if high <= most else None


def shows(counts: PairedCounts, n: int, margin: float, confidence: float, power: float) -> bool:
    """Whether `n` items like these show that the difference is at most `margin`, with probability `power`."""
    if n <= MOST_EXACT:
        from harness.tango_power import pairs_power

        worse, better = counts.candidate_only / counts.n, counts.baseline_only / counts.n
        return pairs_power(n, worse, better, margin, z_of(confidence)) >= power
    sure = NormalDist().cdf(z_of(confidence) + z_of_power(power))
    grown = PairedCounts(*(round(cell * n / counts.n) for cell in counts))
    return at_most(tango(grown, sure).high, margin)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero in [low, high], by bisection; the end itself where it does not."""
    if function(low) <= 0:
        return low
    if function(high) >= 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def student_mean(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Mean with Student's t bounds, infinite for one value. Raises ConfigError for none.

    The values are of independent units: an item's mean over its answers, or its paired difference.
    """
    from scipy.special import stdtrit

    z_of(confidence)
    n = len(values)
    if n == 0:
        raise ConfigError("need at least 1 value, got 0")
    middle = mean(values)
    if n == 1:
        return Estimate(middle, -math.inf, math.inf, 1)
    spread = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (n - 1) / n)
    reach = float(stdtrit(n - 1, confidence)) * spread
    return Estimate(middle, middle - reach, middle + reach, n)


def student_below_p(values: Sequence[float], floor: float) -> float:
    """One-sided p-value of "the mean is at least `floor`" against "below", by Student's t. Raises ConfigError for none.

    1.0 for one value. Values that are all the same show what they are.
    """
    from scipy.special import stdtr

    found = student_mean(values)
    if found.n == 1 or at_least(found.value, floor):
        return 1.0
    spread = math.sqrt(math.fsum((value - found.value) ** 2 for value in values) / (found.n - 1) / found.n)
    return float(stdtr(found.n - 1, (found.value - floor) / spread)) if spread else 0.0


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def holm(p_values: Sequence[float], alpha: float = 0.05) -> list[bool]:
    """Which hypotheses are rejected with the family-wise error at most `alpha` (Holm's step-down)."""
    known = [1.0 if math.isnan(p) else p for p in p_values]  # what was not measured rejects nothing
    order = sorted(range(len(known)), key=lambda i: (known[i], i))
    rejected = [False] * len(p_values)
    for rank, index in enumerate(order):
        if known[index] > alpha / (len(order) - rank):
            break
        rejected[index] = True
    return rejected


def needed_n(
    limit: float, rate: float = 0.0, *, confidence: float = 0.95, power: float = POWER, most: int = MOST_ITEMS
) -> int | None:
    """Least n at which a true `rate` puts the exact upper bound at or below `limit` with probability `power`.

    None: no n up to `most` does, as the rate is not clearly below the limit.
    """
    from scipy.special import bdtr

    hits = 0
    while rate < limit and (n := least_n(hits, limit, confidence)) <= most:
        if rate == 0 or float(bdtr(hits, n, rate)) >= power:
            return n
        hits += 1
    return None


def needed_mean_n(
    values: Sequence[float], limit: float, *, confidence: float = 0.95, power: float = POWER, most: int = MOST_ITEMS
) -> int | None:
    """About how many values like these put the upper bound of their mean at or below `limit` with probability `power`.

    None: no number up to `most` does.
    """
    middle, reach = mean(values), z_of(confidence) + z_of_power(power)
    room = limit - middle
    if room <= 0:
        return None
    spread = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / max(1, len(values) - 1))
    needed = (reach * spread / room) ** 2 + z_of(
        confidence
    ) ** 2 / 2  # the second term stands for Student's wider tails
    return math.ceil(needed) if needed <= most else None


def least_n(hits: int, limit: float, confidence: float = 0.95) -> int:
    """Least n at which `hits` still have an exact upper bound at or below `limit`."""
    low, high = hits, hits + 1
    while not at_most(clopper_pearson(hits, high, confidence).high, limit):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle > 0 and at_most(clopper_pearson(hits, middle, confidence).high, limit):
            high = middle
        else:
            low = middle
    return high


def at_most(value: float, limit: float) -> bool:
    """`value <= limit`, inclusive: 4.1 is at most 4.2 − 0.1, although floats say otherwise. Never true for NaN."""
    return value <= limit or (math.isfinite(value) and math.isclose(value, limit, rel_tol=1e-9, abs_tol=1e-12))


def at_least(value: float, limit: float) -> bool:
    """`value >= limit`, inclusive in the same way."""
    return at_most(limit, value)
