"""Fit the weights of the risk model: `python -m harness.fidelity.fit_risk OUT FILE…`, labelled files or sets.

Of a set with splits the dev rows are taken, and each counts a tenth: their paraphrases are farther than any others.

Regularised logistic regression; no weight may be negative, because no finding speaks for an answer. Deterministic.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.case import Case, Label, Similarity
from harness.fidelity.checks.abstention import abstention
from harness.fidelity.checks.catalogue import CHECKS
from harness.fidelity.labelled import Labelled, load_labelled
from harness.fidelity.reading.pair import pair
from harness.fidelity.risk import SHAPE, features, shipped_model
from harness.fidelity.verdict import findings_of

NAMES = (*CHECKS, *SHAPE)
PENALTY = 0.6  # strength of the pull towards no weight, per row of evidence
SURE = 0.8  # risk of a certain finding; more would cost truths, less would pass lies, with every batch left out in turn
THRESHOLD = 0.4  # a lie that is let through costs half as much again as a truth that is stopped
START, LIMIT = 2.0, 9.0  # where the fit starts, and the most that a weight may be
FAR = 0.1  # how much a row of a set with splits counts
Floats = NDArray[np.float64]


def matrix(cases: Sequence[Case], similarities: Sequence[Similarity]) -> tuple[Floats, Floats]:
    """float64[cases, features] in the order of `NAMES`, and float64[cases], the risk that certain findings leave."""
    rows, floors = [], []
    for case, similarity in zip(cases, similarities, strict=True):
        both = pair(case)
        values = features(both, findings_of(both), similarity)
        rows.append([values.get(name, 0.0) for name in NAMES])
        floors.append(SURE * values["certain"])
    return np.array(rows, dtype=np.float64), np.array(floors, dtype=np.float64)


def fit(
    x: Floats, y: Floats, weight: Floats, *, floor: Floats | float = 0.0, penalty: float = PENALTY
) -> tuple[float, Floats]:
    """Bias and weights that make labels `y` (1: misleading) likeliest under the penalty.

    `floor`: the risk in [0, 1) that a row's certain finding leaves it, whatever the weights are.
    """
    from scipy.optimize import minimize

    def loss(parameters: Floats) -> tuple[float, Floats]:
        bias, w = parameters[0], parameters[1:]
        z = x @ w + bias
        risk = 1.0 / (1.0 + np.exp(-z))
        raised = 1.0 - (1.0 - risk) * (1.0 - floor)
        likely = np.where(y > 0.5, -np.log(np.maximum(raised, 1e-300)), np.logaddexp(0.0, z))
        slope = weight * (risk - y * risk / np.maximum(raised, 1e-300))
        value = float(weight @ likely + 0.5 * penalty * ((w - START) @ (w - START)))
        return value, np.concatenate([[slope.sum()], x.T @ slope + penalty * (w - START)])

    bounds = [(-12.0, 12.0)] + [(0.0, LIMIT)] * x.shape[1]
    result = minimize(
        loss, np.concatenate([[-3.0], np.full(x.shape[1], START)]), jac=True, bounds=bounds, method="L-BFGS-B"
    )
    return float(result.x[0]), np.asarray(result.x[1:])


def answers(rows: Sequence[Labelled]) -> list[Labelled]:
    """Rows to fit on: of the dev split where there are splits, no abstentions."""
    return [
        r for r in rows if r.split in ("", "dev") and r.label is not Label.ABSTAINED and not abstention(r.case).pure
    ]


def balance(y: Floats) -> Floats:
    """Weights under which both labels count the same."""
    share = float(y.mean())
    return np.where(y > 0.5, 0.5 / share, 0.5 / (1 - share))


def main(argv: Sequence[str]) -> int:
    from harness.fidelity.scorer import Scorer

    rows = [row for name in argv[1:] for row in answers(load_labelled(name))]
    cases = [row.case for row in rows]
    x, floor = matrix(cases, Scorer().score([(c.reference, c.candidate) for c in cases]))
    y = np.array([row.label is Label.MISLEADING for row in rows], dtype=np.float64)
    trust = np.array([FAR if row.split else 1.0 for row in rows])
    bias, weights = fit(x, y, balance(y) * trust, floor=floor)
    named = {name: round(float(w), 3) for name, w in zip(NAMES, weights, strict=True)}
    joined = {language: asdict(one) for language, one in shipped_model().joined.items()}  # `fit_joined` fits them anew
    values = {"bias": round(bias, 3), "sure": SURE, "threshold": THRESHOLD, "weights": named, "joined": joined}
    Path(argv[0]).write_text(json.dumps(values, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
