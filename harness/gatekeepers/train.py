"""Train L1: multinomial logistic regression over the gateway's own hashed features, with honest confidence."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from gateway.answers.embedding import HASHED, embed
from gateway.answers.gatekeepers import Model, checksum_path
from gateway.answers.intents import Response
from harness.errors import HarnessError
from harness.gatekeepers.labelled import LabelledQuestion
from harness.whole_file import write_whole

_STRENGTHS = (3.0, 10.0, 30.0, 100.0)  # inverse regularisation to choose from
_TEMPERATURES = tuple(step / 20 for step in range(4, 41))
_DIGITS = 4
_MIN_PER_CLASS = 2


def train(
    questions: Sequence[LabelledQuestion], *, seed: int, trained_on: str, responses: dict[str, tuple[Response, ...]]
) -> Model:
    """Raises HarnessError with fewer than two intents of at least two questions."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    counts = Counter(question.intent for question in questions)
    kept = [question for question in questions if counts[question.intent] >= _MIN_PER_CLASS]
    if len({question.intent for question in kept}) < 2:
        raise HarnessError(f"{len(kept)} questions of fewer than 2 intents; need 2 with 2 questions each")
    (features, columns), labels = _matrix(kept), np.array([question.intent for question in kept])
    folds = min(5, *Counter(labels.tolist()).values())
    strength, temperature = _tuned(features, labels, folds=folds, seed=seed)
    fitted = LogisticRegression(C=strength, max_iter=2000).fit(features, labels)
    weights, bias = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:  # one row stands for the second class there
        weights, bias = np.vstack([-weights, weights]) / 2, np.hstack([-bias, bias]) / 2
    used = np.flatnonzero(np.abs(weights).max(axis=0) > 10**-_DIGITS)
    return Model(
        truefall_gatekeeper=1,
        space=HASHED,
        classes=tuple(str(label) for label in fitted.classes_),
        bias=tuple(round(float(value), _DIGITS) for value in bias),
        weights={columns[at]: tuple(round(float(value), _DIGITS) for value in weights[:, at]) for at in used},
        temperature=temperature,
        trained_on=trained_on,
        responses=responses,
    )


def write(model: Model, path: Path) -> str:
    """Write the model and its checksum; returns the sha256. Raises OSError."""
    raw = msgspec.json.encode(model)
    digest = hashlib.sha256(raw).hexdigest()
    write_whole(path, raw)
    write_whole(checksum_path(path), f"{digest}  {path.name}\n")
    return digest


def _matrix(questions: Sequence[LabelledQuestion]) -> tuple[Any, list[int]]:
    """(float64[questions, used dimensions], the used dimensions)."""
    import numpy as np

    vectors = [embed(question.question) for question in questions]
    used = sorted({place for vector in vectors for place in vector})
    return np.array([[vector.get(place, 0.0) for place in used] for vector in vectors]), used


def _tuned(features: Any, labels: Any, *, folds: int, seed: int) -> tuple[float, float]:
    """(strength, temperature) with the least log loss on questions that the fit has not seen."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    order = np.unique(labels, return_inverse=True)[1]
    shuffled = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    best = (float("inf"), _STRENGTHS[0], 1.0)
    for strength in _STRENGTHS:
        shares = cross_val_predict(
            LogisticRegression(C=strength, max_iter=2000), features, labels, cv=shuffled, method="predict_proba"
        )
        logs = np.log(np.clip(shares, 1e-12, 1))
        for temperature in _TEMPERATURES:
            scaled = logs / temperature
            scaled -= np.log(np.exp(scaled).sum(axis=1, keepdims=True))
            loss = float(-scaled[np.arange(len(order)), order].mean())
            best = min(best, (loss, strength, temperature))
    return best[1], best[2]
