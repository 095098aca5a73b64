"""Whether a risk means what it says: of the answers with a risk of 0.8, four in five should mislead."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import NothingJudged
from harness.fidelity.case import Judgement, Label
from harness.fidelity.labelled import Labelled
from harness.stats import wilson

BINS = 10
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers whose risks lie in one tenth of [0, 1]."""

    count: int
    mean_risk: float  # in [0, 1]
    misleading: float  # share that misleads, in [0, 1]
    low: float  # 95 % interval of that share
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Bins that hold answers, in the order of their risk, and how far they are off."""

    bins: tuple[Bin, ...]
    ece: float  # expected calibration error: mean distance of risk and share, weighted by count, in [0, 1]
    brier: float  # mean squared distance of risk and label, in [0, 1]


def reliability(rows: Sequence[Labelled], judgements: Sequence[Judgement]) -> Reliability:
    """The calibration of the risks, abstentions left out. Raises NothingJudged where nothing is left."""
    told = [
        (j.risk, row.label is Label.MISLEADING)
        for row, j in zip(rows, judgements, strict=True)
        if row.label is not Label.ABSTAINED
    ]
    if not told:
        raise NothingJudged(
            "the rows hold abstentions only; misleading and faithful answers are needed to see a risk's reliability"
        )
    risks = np.array([risk for risk, _ in told])
    lies = np.array([lie for _, lie in told], dtype=np.float64)
    tenth = np.minimum((risks * BINS).astype(np.int64), BINS - 1)
    bins = tuple(_bin(risks[tenth == k], lies[tenth == k]) for k in range(BINS) if (tenth == k).any())
    ece = sum(b.count * abs(b.mean_risk - b.misleading) for b in bins) / len(told)
    return Reliability(bins=bins, ece=float(ece), brier=float(((risks - lies) ** 2).mean()))


def _bin(risks: Floats, lies: Floats) -> Bin:
    estimate = wilson(int(lies.sum()), len(lies), 0.975)
    return Bin(
        count=len(lies),
        mean_risk=float(risks.mean()),
        misleading=float(lies.mean()),
        low=estimate.low,
        high=estimate.high,
    )


def plot(found: Reliability, path: Path, title: str) -> None:
    """Draw share against risk to `path` (the ending says the format)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.add_subplot()
    risk, share = ([getattr(b, name) for b in found.bins] for name in ("mean_risk", "misleading"))
    below = [max(0.0, b.misleading - b.low) for b in found.bins]
    above = [max(0.0, b.high - b.misleading) for b in found.bins]
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="dashed")
    axes.errorbar(risk, share, yerr=[below, above], fmt="o-", capsize=3)
    for b in found.bins:
        axes.annotate(
            str(b.count), (b.mean_risk, b.misleading), textcoords="offset points", xytext=(6, -10), fontsize=8
        )
    axes.set(
        xlabel="risk",
        ylabel="share that misleads",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        title=f"{title}: ECE {found.ece:.3f}",
    )
    figure.savefig(path, dpi=120)
