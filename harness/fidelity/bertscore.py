"""BERTScore: greedy matching of token embeddings by cosine (pure)."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.fidelity.encoder import Encoded, Floats
from harness.whole_file import write_whole

ROWS_AT_ONCE = 1024  # bounds the similarity matrix of two long texts


class BertScore(NamedTuple):
    """Precision, recall and their harmonic mean; each in [-1, 1], in practice in [0, 1]."""

    p: float
    r: float
    f1: float


ZERO = BertScore(0.0, 0.0, 0.0)


def bertscore(reference: Encoded, candidate: Encoded, *, idf: Mapping[int, float] | None = None) -> BertScore:
    """Score two measured, non-empty texts. `idf`: weight per token id, None for uniform weights.

    Special tokens may be matched but carry no weight, as in the paper's own code.
    """
    best_candidate, best_reference = best_matches(candidate.tokens, reference.tokens)
    precision = weighted_mean(best_candidate, weights(candidate, idf))
    recall = weighted_mean(best_reference, weights(reference, idf))
    return BertScore(precision, recall, harmonic_mean(precision, recall))


def best_matches(rows: Floats, columns: Floats) -> tuple[Floats, Floats]:
    """Highest cosine of each row (float32[rows]) and of each column (float32[columns]), in bounded memory."""
    of_rows: list[Floats] = []
    of_columns = np.full(len(columns), -np.inf, dtype=np.float32)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        block = rows[start : start + ROWS_AT_ONCE] @ columns.T
        of_rows.append(block.max(axis=1))
        np.maximum(of_columns, block.max(axis=0), out=of_columns)
    return np.concatenate(of_rows), of_columns


def weights(text: Encoded, idf: Mapping[int, float] | None) -> NDArray[np.float64]:
    """Weight per token, special ones 0. Uniform where idf would weigh every token 0 (nothing sets them apart)."""
    uniform = text.content.astype(np.float64)
    if idf is None:
        return uniform
    found = np.array([idf.get(int(token), idf[UNSEEN]) for token in text.ids]) * uniform
    return found if found.sum() > 0 else uniform


UNSEEN = -1  # key of the weight of a token that no reference holds


def inverse_document_frequency(references: Sequence[Encoded]) -> dict[int, float]:
    """ln((N + 1) / (df + 1)) per token id over `N` references. Raises ConfigError for fewer than two."""
    if len(references) < 2:
        raise ConfigError(f"idf needs at least 2 references, got {len(references)}: its weights would all be 0")
    counts: Counter[int] = Counter()
    for reference in references:
        counts.update(set(reference.ids.tolist()))
    total = len(references) + 1
    return {UNSEEN: math.log(total), **{token: math.log(total / (count + 1)) for token, count in counts.items()}}


def weighted_mean(values: Floats, weight: NDArray[np.float64]) -> float:
    return min(1.0, float(np.dot(values.astype(np.float64), weight) / weight.sum()))


def harmonic_mean(precision: float, recall: float) -> float:
    """The smaller of the two where one is not positive: the harmonic mean of opposite signs has no bound."""
    if precision <= 0 or recall <= 0:
        return min(precision, recall)
    return 2 * precision * recall / (precision + recall)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What unrelated texts score with one model and layer: the zero point of rescaled scores."""

    p: float
    r: float
    f1: float
    revision: str  # sha256 of the model it was measured with
    layer: int
    pairs: int  # random pairs it was measured on

    def __post_init__(self) -> None:
        for name in ("p", "r", "f1"):
            value = getattr(self, name)
            if not (math.isfinite(value) and -1 <= value < 1):
                raise ConfigError(f"baseline {name} is {value}; it has to be in [-1, 1)")

    def rescaled(self, raw: BertScore) -> BertScore:
        """(raw − baseline) / (1 − baseline), per score."""
        return BertScore(
            *((value - zero) / (1 - zero) for value, zero in zip(raw, (self.p, self.r, self.f1), strict=True))
        )

    def save(self, path: Path) -> None:
        """Whole or not at all. Raises OSError."""
        write_whole(path, json.dumps(asdict(self), indent=1) + "\n")


def load_baseline(path: Path, *, revision: str, layer: int) -> Baseline:
    """Raises ConfigError when the file is missing, incomplete or belongs to another model or layer."""
    if not path.is_file():
        make = f"truefall baseline --model MODEL --layer {layer} --output {path}"
        raise ConfigError(f"{path}: no baseline for this model; make it with `{make}`, or do not rescale")
    try:
        baseline = Baseline(**json.loads(path.read_text("utf-8")))
    except (TypeError, ValueError, RecursionError, ConfigError) as error:
        raise ConfigError(f"{path}: not a baseline: {error}; make one with `truefall baseline`") from None
    if (baseline.revision, baseline.layer) != (revision, layer):
        raise ConfigError(
            f"{path}: baseline of model {baseline.revision[:12]} layer {baseline.layer}, "
            f"but the scorer runs model {revision[:12]} layer {layer}; make one for it with `truefall baseline`"
        )
    return baseline
