"""How much the semantic and the business side count in the combined score (pure).

Two things are asked for: the semantic weight falls to 60% at peak load, and the business weight follows the variance
of the click-through rate over the last hour. Each is a weight of its own:

    semantic weight  s = 1 − 0.4 · load          load in [0, 1]; 1 is the peak
    business weight  b = 0.4 · d / (1 + d)       d: variance of the last hour's CTR over that of chance
    combined score   (s · semantic score + b · business score) / (s + b)

`d` is the variance of the CTR between the five-minute windows of the last hour, each window counting by its
impressions, divided by the variance that windows of a constant CTR would show by chance. A CTR that never moves
says nothing new (d = 0: no weight), one that moves as chance does gets half of the 0.4, one that clearly moves
approaches 0.4. The two do not sum to 1: a semantic weight of 0.6 is a share of 60% where the business weight is 0.4,
and more where that is less. A variance that cannot be measured (fewer than two windows) counts as chance; without any
event only semantics count.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.ab.events import Event
from harness.errors import ConfigError

PEAK_SEMANTIC = 0.6  # the semantic weight at peak load; 1 at rest
MOST_BUSINESS = 1 - PEAK_SEMANTIC
HOUR_S = 3600.0
WINDOW_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CtrSpread:
    """How the click-through rate varied between the windows of the last hour."""

    windows: int
    variance: float  # weighted by impressions
    by_chance: float  # what windows of one constant rate would show

    @property
    def dispersion(self) -> float:
        """1: as chance; 0: constant, also where every or no impression was clicked."""
        return self.variance / self.by_chance if self.by_chance > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each side counts; the combined score is the mean weighted by the two."""

    semantic: float  # in [0.6, 1], by the load alone
    business: float  # in [0, 0.4), by the variance of the CTR alone
    load: float
    spread: CtrSpread | None = None  # None: not measured

    @property
    def semantic_share(self) -> float:
        """Of the combined score, in [0.6, 1]."""
        return self.semantic / (self.semantic + self.business)


def semantic_weight(load: float) -> float:
    """1 at rest, 0.6 at peak. Raises ConfigError outside [0, 1]."""
    if not (math.isfinite(load) and 0 <= load <= 1):
        raise ConfigError(f"load is {load}; it has to be in [0, 1], the share of the peak load")
    return 1 - (1 - PEAK_SEMANTIC) * load


def business_weight(dispersion: float | None) -> float:
    """In [0, 0.4), rising. None: as by chance."""
    known = 1.0 if dispersion is None else dispersion
    return MOST_BUSINESS * (1.0 if math.isinf(known) else known / (1 + known))


def weights(load: float, spread: CtrSpread | None, *, business_known: bool) -> Weights:
    business = business_weight(spread.dispersion if spread else None) if business_known else 0.0
    return Weights(semantic=semantic_weight(load), business=business, load=load, spread=spread)


def last_hour(events: Sequence[Event]) -> list[Event]:
    """Those within an hour before the latest one."""
    latest_s = max((event.at_s for event in events), default=0.0)
    return [event for event in events if event.at_s > latest_s - HOUR_S]


def ctr_spread(events: Sequence[Event]) -> CtrSpread | None:
    """Of both policies together, over the last hour; None for fewer than two windows."""
    latest_s = max((event.at_s for event in events), default=0.0)
    windows: dict[int, tuple[int, int]] = {}
    for event in last_hour(events):
        window = int((latest_s - event.at_s) // WINDOW_S)
        shown, clicked = windows.get(window, (0, 0))
        windows[window] = (shown + event.impressions, clicked + event.clicks)
    if len(windows) < 2:
        return None
    shown_in_all = sum(shown for shown, _ in windows.values())
    rate = sum(clicked for _, clicked in windows.values()) / shown_in_all
    moved = math.fsum(shown * (clicked / shown - rate) ** 2 for shown, clicked in windows.values())
    by_chance = rate * (1 - rate) * (len(windows) - 1) / shown_in_all
    return CtrSpread(windows=len(windows), variance=moved / shown_in_all, by_chance=by_chance)
