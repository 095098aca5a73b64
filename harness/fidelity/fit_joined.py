"""Fit how the checks and the cross-encoder are weighed: `python -m harness.fidelity.fit_joined RISK_JSON FILE…`.

The rows must be ones that neither was made with, or both would look better than they are. A logistic model of the two
log odds whose weights change with how freely the answer is worded, for the checks find much to say about any free
wording; no weight may be negative. And what both encoders will say together, by least squares, from the checks and from
one of them (`cascade.py`). Changes what stands under `joined` in the file.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.cascade import NOBODY
from harness.fidelity.case import Label
from harness.fidelity.cross_encoder import LARGE, SMALL, shipped_cross_encoder
from harness.fidelity.fit_risk import answers, balance
from harness.fidelity.labelled import load_labelled
from harness.fidelity.risk import JOINED, Guess, Joined, Model, freedom, log_odds, read_model
from harness.fidelity.verdict import decide, heard_wholly, question, see

Floats = NDArray[np.float64]
LANGUAGES = ("en", "zh")
LIE_COST = 1.5  # a lie that is accepted costs so many truths that are rejected
PENALTY = 0.5  # strength of the pull of both weights towards 1, and of those for free wording towards these


def fit(own: Floats, read: Floats, far: Floats, y: Floats) -> list[float]:
    """The weights of `Joined`, in the order of `JOINED`, that make labels `y` (1: misleading) likeliest.

    `own` and `read` are log odds; `far` is how freely each answer is worded, 0 to 1.
    """
    from scipy.optimize import minimize

    weight = balance(y) * np.where(y > 0.5, LIE_COST, 1.0)
    near = [own, read, np.ones_like(own)]
    columns = np.stack([*((1 - far) * one for one in near), *(far * one for one in near)], 1)

    def loss(p: Floats) -> float:
        z = columns @ p
        pull = (p[:2] - 1) ** 2 + (p[3:5] - p[:2]) ** 2
        return float(weight @ (np.logaddexp(0.0, z) - y * z)) + 0.5 * PENALTY * float(pull.sum())

    bounds = [(0.0, 4.0), (0.0, 4.0), (-6.0, 6.0)] * 2
    found = minimize(loss, np.array([1.0, 1.0, 0.0] * 2), bounds=bounds, method="L-BFGS-B")
    return [float(value) for value in found.x]


def guess(own: Floats, told: Floats | None, both: Floats) -> Guess:
    """The line that tells `both` best, by `own` and by what the one encoder `told` that was asked, if any was."""
    columns = [own, np.zeros_like(own) if told is None else told, np.ones_like(own)]
    line = np.linalg.lstsq(np.stack(columns, 1), both, rcond=None)[0]
    spread = float(np.sqrt(np.mean((both - np.stack(columns, 1) @ line) ** 2)))
    return Guess(own=float(line[0]), read=float(line[1]), shift=float(line[2]), spread=spread)


class Odds(NamedTuple):
    """Log odds of the checks, of each cross-encoder and of both, and the labels; each float64[rows that both read]."""

    own: Floats
    small: Floats
    large: Floats
    both: Floats
    misleads: Floats  # 1 or 0
    far: Floats  # how freely the answer is worded, 0 to 1
    asked: Floats  # 1 or 0: whether the encoders are asked about it at all


def odds_of(names: Sequence[str], model: Model, language: str) -> Odds:
    """Of the rows in one language."""
    from harness.fidelity.scorer import Scorer

    rows = [row for name in names for row in answers(load_labelled(name)) if row.case.lang == language]
    cases = [row.case for row in rows]
    similarities = Scorer().score([(case.reference, case.candidate) for case in cases])
    seen, reader = see(cases), shipped_cross_encoder()
    alone = [decide(one, s, model=model).risk for one, s in zip(seen, similarities, strict=True)]
    heard = heard_wholly(seen, reader)
    pairs = [(case.reference.strip(), case.candidate.strip()) for case in cases]
    told = [
        (
            *map(log_odds, (risk, small[0], large[0], one.opinion.misleads)),
            float(row.label is Label.MISLEADING),
            freedom(one.both.closeness),
            float(question(one, s, model) is not None),
        )
        for row, one, s, risk, small, large in zip(
            rows, heard, similarities, alone, reader.told(SMALL, pairs), reader.told(LARGE, pairs), strict=True
        )
        if one.opinion is not None and small is not None and large is not None
    ]
    return Odds(*np.array(told, dtype=np.float64).T)


def joined(odds: Odds) -> Joined:
    weights = fit(odds.own, odds.both, odds.far, odds.misleads)
    at = Odds(*(column[odds.asked > 0] for column in odds))
    told = {NOBODY: None, SMALL: at.small, LARGE: at.large}
    guesses = {name: guess(at.own, one, at.both) for name, one in told.items()}
    return Joined(**dict(zip(JOINED, weights, strict=True)), guesses=guesses)


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return round(value, 3)


def main(arguments: Sequence[str]) -> None:
    target, *names = arguments
    model = read_model(Path(target))
    values = json.loads(Path(target).read_text("utf-8"))
    for language in LANGUAGES:
        values["joined"][language] = rounded(asdict(joined(odds_of(names, model, language))))
        print(language, values["joined"][language])
    Path(target).write_text(json.dumps(values, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
