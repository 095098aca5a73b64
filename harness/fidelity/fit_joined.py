"""Fit how the checks and the cross-encoder are weighed: `python -m harness.fidelity.fit_joined RISK_JSON FILE…`.

The rows must be ones that neither was made with, or both would look better than they are. A logistic model of the two
log odds; no weight may be negative. Changes what stands under `joined` in the file.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.case import Label
from harness.fidelity.cross_encoder import shipped_cross_encoder
from harness.fidelity.fit_risk import answers, balance
from harness.fidelity.labelled import load_labelled
from harness.fidelity.risk import Model, log_odds, read_model
from harness.fidelity.verdict import decide, see

Floats = NDArray[np.float64]
LANGUAGES = ("en", "zh")
LIE_COST = 1.5  # a lie that is accepted costs so many truths that are rejected
PENALTY = 0.5  # strength of the pull of both weights towards 1


def fit(own: Floats, read: Floats, y: Floats) -> tuple[float, float, float]:
    """Weights of the log odds `own` and `read`, and the shift, that make labels `y` (1: misleading) likeliest."""
    from scipy.optimize import minimize

    weight = balance(y) * np.where(y > 0.5, LIE_COST, 1.0)

    def loss(p: Floats) -> float:
        z = p[0] * own + p[1] * read + p[2]
        return float(weight @ (np.logaddexp(0.0, z) - y * z)) + 0.5 * PENALTY * float((p[0] - 1) ** 2 + (p[1] - 1) ** 2)

    found = minimize(loss, np.array([1.0, 1.0, 0.0]), bounds=[(0.0, 4.0), (0.0, 4.0), (-6.0, 6.0)], method="L-BFGS-B")
    return float(found.x[0]), float(found.x[1]), float(found.x[2])


def odds_of(names: Sequence[str], model: Model, language: str) -> tuple[Floats, Floats, Floats]:
    """Log odds of the checks and of the cross-encoder, and the labels, each float64[rows that both have read]."""
    from harness.fidelity.scorer import Scorer

    rows = [row for name in names for row in answers(load_labelled(name)) if row.case.lang == language]
    cases = [row.case for row in rows]
    similarities = Scorer().score([(case.reference, case.candidate) for case in cases])
    seen = see(cases, reader=shipped_cross_encoder(), sparing=False)
    alone = [decide(replace(one, opinion=None), s, model=model).risk for one, s in zip(seen, similarities, strict=True)]
    told = [
        (log_odds(risk), log_odds(one.opinion.misleads), float(row.label is Label.MISLEADING))
        for row, one, risk in zip(rows, seen, alone, strict=True)
        if one.opinion is not None
    ]
    own, read, y = np.array(told, dtype=np.float64).T
    return own, read, y


def main(arguments: Sequence[str]) -> None:
    target, *names = arguments
    model = read_model(Path(target))
    values = json.loads(Path(target).read_text("utf-8"))
    for language in LANGUAGES:
        fitted = fit(*odds_of(names, model, language))
        told = {name: round(one, 3) for name, one in zip(("own", "read", "shift"), fitted, strict=True)}
        print(language, told)
        values["joined"][language] = told
    Path(target).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
