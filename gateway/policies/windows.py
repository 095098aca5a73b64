"""What a condition is judged by: sums over its sliding window, in slices of it, whatever the traffic."""

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from gateway.policies.manifest import EVERY_SERVICE, Condition, DegradationPolicy
from gateway.policies.metrics import METRICS, Gauges, Outcome, exceeds

_SLICES = 60  # a window is told to within a sixtieth of itself

Target = tuple[str, str | None]


class Watched(NamedTuple):
    """What is summed. Conditions that ask the same of the same requests share it."""

    metric: str
    window_s: float
    target: Target | None  # None: a gauge, which is of the whole gateway
    above: float | None  # of a percentile: the threshold over which values are counted; None: values are summed

    @classmethod
    def by(cls, condition: Condition, policy: DegradationPolicy) -> Self:
        """What `condition` of `policy` looks at."""
        metric = METRICS[condition.metric]
        return cls(
            condition.metric,
            condition.window_s,
            policy.target if metric.of_request is not None else None,
            condition.threshold if metric.quantile is not None else None,
        )


class Sum(NamedTuple):
    """How many values, and what they add up to."""

    samples: int = 0
    total: float = 0.0


@dataclass(slots=True)
class SlidingSum:
    """Values of the last `window_s` seconds, at most a sixtieth longer ago. Holds no more than 62 slices.

    Values come in the order of time; one that is older than the newest slice counts as of that slice.
    """

    window_s: float
    _slices: "deque[tuple[int, Sum]]" = field(default_factory=lambda: deque(maxlen=_SLICES + 2))

    def add(self, at_s: float, value: float) -> None:
        """Count a value."""
        number, (samples, total) = math.floor(at_s / self._slice_s), Sum()
        if self._slices and self._slices[-1][0] >= number:
            number, (samples, total) = self._slices.pop()
        self._slices.append((number, Sum(samples + 1, total + value)))

    def at(self, now_s: float) -> Sum:
        """Over the slices that reach into the window that ends at `now_s`."""
        since_s = now_s - self.window_s
        found = [one for number, one in self._slices if (number + 1) * self._slice_s > since_s]
        return Sum(sum(one.samples for one in found), sum(one.total for one in found))

    @property
    def _slice_s(self) -> float:
        return self.window_s / _SLICES


class Windows:
    """The sums of all conditions of one set of manifests, and of nothing else: no client's header adds to them.

    Shares and means are exact, and so is whether a percentile is above its threshold, since the values over it are
    counted. What nothing asked for before is counted from now on.
    """

    def __init__(self, manifests: Iterable[DegradationPolicy] = (), *, before: "Windows | None" = None) -> None:
        kept = {} if before is None else before._sums
        wanted = [Watched.by(condition, one) for one in manifests for condition in one.spec.conditions]
        self._sums: Mapping[Watched, SlidingSum] = {
            each: kept[each] if each in kept else SlidingSum(each.window_s) for each in wanted
        }
        self._of_target: dict[Target | None, list[tuple[Watched, SlidingSum]]] = {}
        for each, sums in self._sums.items():
            self._of_target.setdefault(each.target, []).append((each, sums))

    def observe(self, outcome: Outcome) -> None:
        """Count a request wherever a condition asks about it."""
        for target in {(EVERY_SERVICE, None), (outcome.service, None), (outcome.service, outcome.endpoint)}:
            self._add(target, outcome)

    def read(self, gauges: Gauges) -> None:
        """Count a reading of the gauges."""
        self._add(None, gauges)

    def hold(self, condition: Condition, policy: DegradationPolicy, now_s: float) -> bool:
        """Whether the metric is above its threshold over the window that ends at `now_s`; too few values: no."""
        watched = Watched.by(condition, policy)
        samples, total = self._sums[watched].at(now_s) if watched in self._sums else Sum()
        if samples < (1 if watched.target is None else condition.min_samples):
            return False
        return exceeds(condition.metric, condition.threshold, count=samples, total=total)

    def _add(self, target: Target | None, row: Outcome | Gauges) -> None:
        for each, sums in self._of_target.get(target, ()):
            value = METRICS[each.metric].value(row)
            if value is not None:
                sums.add(row.at_s, value if each.above is None else float(value > each.above))
