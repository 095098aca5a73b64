"""How often Tango's upper bound stays at or below a margin, for rates that are known (pure)."""

import math
from typing import Any

SPREADS = 9.0  # standard deviations around the mean that are summed over; what lies outside is under 1e-12


def pairs_power(n: int, worse: float, better: float, margin: float, z: float) -> float:
    """Probability that `n` pairs show a difference of at most `margin`: exact, over the trinomial of the discordant.

    `worse`, `better`: probability of a pair that speaks against and for the candidate. `z`: quantile of the bound.
    """
    import numpy as np
    from scipy.special import gammaln, xlogy

    against, in_favour = (np.arange(*likely(n, rate)) for rate in (worse, better))
    b, c = against[:, None], in_favour[None, :]
    same = n - b - c
    possible = same >= 0
    left = np.where(possible, same, 0)
    log = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(left + 1)
    log = log + xlogy(b, worse) + xlogy(c, better) + xlogy(left, max(0.0, 1 - worse - better))
    shown = tango_z_of(b, c, n, margin) <= -z + 1e-9
    return float(np.exp(log[possible & shown]).sum())


def likely(n: int, rate: float) -> tuple[int, int]:
    """The counts that a rate may well give: first, and one past the last."""
    middle, reach = n * rate, SPREADS * math.sqrt(n * rate * (1 - rate)) + (10 if rate > 0 else 0)
    return max(0, math.floor(middle - reach)), min(n, math.ceil(middle + reach)) + 1


def tango_z_of(b: Any, c: Any, n: int, margin: float) -> Any:
    """`stats.tango_z` of many counts at once: int[against, 1], int[1, in favour] -> float64[against, in favour]."""
    import numpy as np

    gap = b - c - n * margin
    linear = -b - c + (2 * n - b + c) * margin
    discordant = (np.sqrt(np.maximum(0.0, linear * linear + 8 * n * c * margin * (1 - margin))) - linear) / (4 * n)
    variance = n * (2 * discordant + margin * (1 - margin))
    certain = np.where(gap == 0, 0.0, np.copysign(np.inf, gap))
    return np.divide(gap, np.sqrt(np.maximum(variance, 0.0)), out=certain, where=variance > 0)
