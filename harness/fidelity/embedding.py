"""Cosine of two sentence embeddings (pure)."""

import numpy as np

from harness.fidelity.encoder import Floats


def cosine(reference: Floats, candidate: Floats) -> float:
    """Cosine of two unit vectors, in [-1, 1]."""
    return float(np.clip(np.dot(reference.astype(np.float64), candidate.astype(np.float64)), -1.0, 1.0))
