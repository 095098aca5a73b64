"""95 % intervals of shares and of AUROC where several rows belong to one reference (pure).

Lie and truth of a reference stand and fall together, so references are the units, not rows. The variance is that of the
references' influence on the figure: the ratio estimator's for a share, Obuchowski's (Nonparametric analysis of
clustered ROC curve data, Biometrics 53, 1997), which is DeLong's for clusters, for AUROC. Both are 0 where no row is
wrong, which proves nothing. So two references that are wrong throughout and two that are right throughout are added
first, each with as many rows as one has on average: the remedy of Agresti and Coull (Approximate is better than
"exact", The American Statistician 52, 1998), for references. At 0 of n the bound is then about what "3 / n" says.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ADDED = 2  # references of each kind, wrong and right
Floats = NDArray[np.float64]


class Range(NamedTuple):
    """A figure and its 95 % interval, all in [0, 1]; NaN where there was nothing to measure it on."""

    value: float
    low: float
    high: float


class Side(NamedTuple):
    """Rows with those added behind them: how much each weighs (they sum to 1), and whose it is (0, 1, …)."""

    weights: Floats
    owners: NDArray[np.int64]
    references: int  # of both sides, with those added


def share(hits: NDArray[np.bool_], references: Sequence[str]) -> Range | None:
    """Share of the rows that are hits; `references`: whose each row is. None without rows."""
    if not len(hits):
        return None
    (side,) = sides(references)
    values = np.concatenate([hits.astype(np.float64), np.zeros(ADDED), np.ones(ADDED)])
    middle = float(side.weights @ values)
    return interval(float(hits.mean()), middle, influence(side, values - middle))


def auroc(positive: Floats, negative: Floats, whose: Sequence[str], whose_negative: Sequence[str]) -> Range | None:
    """Probability that a positive row has the higher risk, ties half. None without both sides.

    `whose`, `whose_negative`: the reference of each row.
    """
    if not len(positive) or not len(negative):
        return None
    wins = (positive[:, None] > negative[None, :]) + 0.5 * (positive[:, None] == negative[None, :])
    ours, theirs = sides(whose, whose_negative)
    more = with_added(wins)
    middle = float(ours.weights @ more @ theirs.weights)
    moved = influence(ours, more @ theirs.weights - middle) + influence(theirs, ours.weights @ more - middle)
    return interval(float(wins.mean()), middle, moved)


def sides(*whose: Sequence[str]) -> list[Side]:
    """The same references stand behind all sides; those added are the same references on each, the last ones."""
    number = {name: i for i, name in enumerate(dict.fromkeys(name for side in whose for name in side))}
    added = np.arange(2 * ADDED, dtype=np.int64) + len(number)
    found = []
    for side in whose:
        owners = np.concatenate([np.array([number[name] for name in side], dtype=np.int64), added])
        usual = len(side) / len(set(side))  # rows of a reference
        weights = np.concatenate([np.ones(len(side)), np.full(2 * ADDED, usual)])
        found.append(Side(weights / weights.sum(), owners, len(number) + 2 * ADDED))
    return found


def with_added(wins: Floats) -> Floats:
    """A wrong reference has its lie below all truths and its truth above all lies, a right one the other way round."""
    rows, columns = wins.shape
    more = np.full((rows + 2 * ADDED, columns + 2 * ADDED), 0.5)
    more[:rows, :columns] = wins
    wrong, right = slice(rows, rows + ADDED), slice(rows + ADDED, None)
    wrong_truths, right_truths = slice(columns, columns + ADDED), slice(columns + ADDED, None)
    more[wrong, : columns + ADDED], more[: rows + ADDED, wrong_truths] = 0.0, 0.0
    more[right, :columns], more[:rows, right_truths] = 1.0, 1.0
    more[right, right_truths] = 1.0
    return more


def influence(side: Side, away: Floats) -> Floats:
    """How far each reference moves the figure; `away`: by how much each row is off the middle."""
    moved = np.bincount(side.owners, weights=side.weights * away, minlength=side.references)
    return moved.astype(np.float64)


def interval(value: float, middle: float, moved: Floats) -> Range:
    from scipy.special import stdtrit

    units = len(moved)
    reach = float(stdtrit(units - 1, 0.975)) * float(np.sqrt(units / (units - 1) * (moved**2).sum()))
    return Range(value, min(value, max(0.0, middle - reach)), max(value, min(1.0, middle + reach)))
