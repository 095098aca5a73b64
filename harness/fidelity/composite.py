"""The composite score: cosine joined with the divergence of the two embeddings read as distributions (pure)."""

import math

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.embedding import cosine
from harness.fidelity.encoder import Floats

COSINE_WEIGHT = 0.7
DIVERGENCE_WEIGHT = 0.3


def composite(reference: Floats, candidate: Floats) -> float:
    """0.7·cos + 0.3·(1 − tanh KL(softmax reference ‖ softmax candidate)); in [−0.7, 1]."""
    return COSINE_WEIGHT * cosine(reference, candidate) + DIVERGENCE_WEIGHT * agreement(reference, candidate)


def agreement(reference: Floats, candidate: Floats) -> float:
    """1 − tanh KL, in (0, 1]. On unit embeddings it stays within about 0.01 of 1: docs/design/fidelity-scores.md."""
    return 1 - math.tanh(divergence(reference, candidate))


def divergence(reference: Floats, candidate: Floats) -> float:
    """KL(softmax reference ‖ softmax candidate) in nats, at least 0."""
    log_p, log_q = log_softmax(reference), log_softmax(candidate)
    return max(0.0, float(np.sum(np.exp(log_p) * (log_p - log_q))))


def log_softmax(vector: Floats) -> NDArray[np.float64]:
    shifted = vector.astype(np.float64) - float(vector.max())
    return shifted - math.log(float(np.exp(shifted).sum()))
