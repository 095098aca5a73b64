"""Whether a risk means what it says: of the answers with a risk of 0.8, four in five should mislead."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import NothingJudged
from harness.fidelity.case import Judgement, Label
from harness.fidelity.labelled import Labelled
from harness.stats import wilson

BINS = 10
INK, SOFT, TRUSTING, WARY = "#202124", "#9aa0a6", "#b3261e", "#1a73e8"  # dots; intervals; risk too low; too high
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
    draw(figure.add_subplot(), found, title)
    figure.savefig(path, dpi=120)


def draw(axes: Any, found: Reliability, title: str) -> None:
    """One diagram on `axes`: a dot per tenth of the risk, as large as its answers are many, beside the diagonal."""
    risk, share = ([getattr(b, name) for b in found.bins] for name in ("mean_risk", "misleading"))
    below = [max(0.0, b.misleading - b.low) for b in found.bins]
    above = [max(0.0, b.high - b.misleading) for b in found.bins]
    axes.fill_between([0, 1], [0, 1], [1, 1], color=TRUSTING, alpha=0.08, linewidth=0)
    axes.fill_between([0, 1], [0, 0], [0, 1], color=WARY, alpha=0.08, linewidth=0)
    box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1}
    words = {"fontsize": 8, "bbox": box, "zorder": 4}
    axes.text(0.03, 0.97, "misleads more often\nthan the risk says", va="top", color=TRUSTING, **words)
    axes.text(0.97, 0.03, "misleads less often\nthan the risk says", ha="right", color=WARY, **words)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1, linestyle="dashed")
    axes.errorbar(risk, share, yerr=[below, above], fmt="none", ecolor=SOFT, elinewidth=1)
    axes.scatter(risk, share, s=[12 + 160 * b.count / _most(found) for b in found.bins], color=INK, zorder=3)
    axes.set(
        xlabel="risk that the verdict gives",
        ylabel="share that really misleads",
        xlim=(-0.04, 1.04),
        ylim=(-0.04, 1.04),
        aspect="equal",
    )
    axes.set_title(f"{title}\noff by {found.ece:.3f} on average (ECE)", fontsize=9)


def _most(found: Reliability) -> int:
    return max(b.count for b in found.bins)


def plain(found: Reliability, name: str) -> dict[str, Any]:
    """The diagram of the set `name` as it is written to a file; `from_plain` reads it."""
    return {"set": name, "ece": found.ece, "brier": found.brier, "bins": [asdict(b) for b in found.bins]}


def from_plain(values: Mapping[str, Any]) -> Reliability:
    """What `plain` told. Raises KeyError, TypeError for anything else."""
    return Reliability(
        bins=tuple(Bin(**told) for told in values["bins"]), ece=float(values["ece"]), brier=float(values["brier"])
    )
