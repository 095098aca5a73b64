"""What the KL term adds to the composite: `python -m harness.fidelity.measure_composite`.

Prints the table of docs/design/fidelity-scores.md: the packaged encoder, every pair of `collapse`, and 500 random pairs
of its references (seed 0). A minute on two cores.
"""

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from harness.fidelity.composite import COSINE_WEIGHT, DIVERGENCE_WEIGHT, agreement, composite, divergence
from harness.fidelity.embedding import cosine
from harness.fidelity.labelled import load_labelled
from harness.fidelity.scorer import Pair, Scorer

RANDOM_PAIRS, SEED = 500, 0


def rows(scorer: Scorer, pairs: Sequence[Pair]) -> list[str]:
    """The cells of one column, from the top."""
    encoded = scorer.encode(text for pair in pairs for text in pair)
    found = [(encoded[one].sentence, encoded[other].sentence) for one, other in pairs]
    cos = np.array([cosine(*pair) for pair in found])
    kl = np.array([divergence(*pair) for pair in found])
    term = DIVERGENCE_WEIGHT * np.array([agreement(*pair) for pair in found])
    joined = np.array([composite(*pair) for pair in found])
    away = np.abs(joined - (COSINE_WEIGHT * cos + DIVERGENCE_WEIGHT)).max()
    return [
        f"{cos.min():.3f} to {cos.max():.3f}",
        f"{np.median(kl):.5f}, {kl.max():.5f}",
        f"{term.min():.4f} to {term.max():.4f}",
        f"{np.corrcoef(kl, cos)[0, 1]:.5f}",
        f"{away:.5f}",
        "{} of {:,}".format(*turned(cos, joined)),
    ]


def turned(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[int, int]:
    """How many pairs of rows the two order otherwise, and how many there are."""
    signs = np.sign(one[:, None] - one[None, :]) * np.sign(other[:, None] - other[None, :])
    return int(np.triu(signs < 0, 1).sum()), len(one) * (len(one) - 1) // 2


def main() -> None:
    known = [(row.case.reference, row.case.candidate) for row in load_labelled("collapse")]
    references, rng = sorted({reference for reference, _ in known}), Random(SEED)
    drawn = [tuple(rng.sample(references, 2)) for _ in range(RANDOM_PAIRS)]
    scorer = Scorer()
    titles = (
        "cosine", "KL, nats: median, largest", "the whole second term", "correlation of KL and cosine",
        "largest distance of the composite to 0.7·cos + 0.3", "pairs of pairs that it orders otherwise than the cosine",
    )  # fmt: skip
    print(f"| | {len(known)} pairs | {RANDOM_PAIRS} random pairs |")
    for cells in zip(titles, rows(scorer, known), rows(scorer, [(a, b) for a, b in drawn]), strict=True):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
