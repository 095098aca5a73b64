"""Intervals over references: they hold what is true as often as they say, and prove little where nothing is wrong."""

from statistics import NormalDist

import numpy as np
import pytest

from harness.fidelity.clustered import auroc, share

REFERENCES = 30


def names(rows_each: int) -> list[str]:
    return [str(reference) for reference in range(REFERENCES) for _ in range(rows_each)]


def test_a_share_of_none_and_of_all_have_a_bound_over_references_and_not_over_rows() -> None:
    one, many = (share(np.zeros(REFERENCES * rows, dtype=bool), names(rows)) for rows in (1, 20))
    every = share(np.ones(REFERENCES, dtype=bool), names(1))
    assert one is not None
    assert every is not None
    assert (one.value, one.low, every.value, every.high) == (0.0, 0.0, 1.0, 1.0)
    assert one.high == pytest.approx(1 - every.low)
    assert 3 / REFERENCES < one.high < 6 / REFERENCES
    assert many == pytest.approx(one), "twenty rows of the same references prove no more than one"


def test_a_perfect_order_is_no_proof_of_perfection() -> None:
    few, many = (auroc(np.ones(n), np.zeros(n), [str(i) for i in range(n)], [str(i) for i in range(n)])
                 for n in (10, 100))  # fmt: skip
    assert few is not None
    assert many is not None
    assert few.value == many.value == few.high == many.high == 1.0
    assert few.low < many.low < 0.97


def test_rows_of_other_references_prove_more_than_rows_of_the_same() -> None:
    hits = np.tile([True, True, False, False, False, False], REFERENCES // 2)
    own = share(hits, [str(i) for i in range(len(hits))])
    shared = share(hits, [str(i // 2) for i in range(len(hits))])
    assert own is not None
    assert shared is not None
    assert shared.high - shared.low > 1.2 * (own.high - own.low)


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("together", [0.0, 1.0])
@pytest.mark.slow
def test_the_interval_of_a_share_holds_the_truth_in_19_of_20_however_rows_hang_together(
    rate: float, together: float
) -> None:
    rng, held, draws = np.random.default_rng(1), 0, 400
    whose = names(3)
    for _ in range(draws):
        hard = np.repeat(rng.random(REFERENCES) < rate, 3)
        hits = np.where(rng.random(len(whose)) < together, hard, rng.random(len(whose)) < rate)
        found = share(hits, whose)
        assert found is not None
        held += found.low <= rate <= found.high
    assert held / draws >= 0.93  # 0.95 less two standard errors of 400 draws


@pytest.mark.parametrize(("hard_share", "gap"), [(0.0, 1.0), (0.0, 3.0), (0.05, 12.0), (0.2, 12.0)])
@pytest.mark.slow
def test_the_interval_of_auroc_holds_the_truth_in_19_of_20_where_references_are_hard_on_both_sides(
    hard_share: float, gap: float
) -> None:
    """A hard reference has its lies low and its truths high; its rows share half of their noise."""
    rng, held, draws = np.random.default_rng(2), 0, 200
    normal, spread = NormalDist().cdf, 2.0  # of the difference of two rows: each has variance 2
    easy = 1 - hard_share
    truth = easy**2 * normal(gap / spread) + hard_share**2 * normal(-gap / spread) + easy * hard_share
    for _ in range(draws):
        centre = np.where(rng.random(REFERENCES) < hard_share, -gap, gap) / 2
        common = rng.normal(size=REFERENCES)
        lies = np.repeat(common + centre, 3) + rng.normal(size=3 * REFERENCES)
        truths = np.repeat(common - centre, 2) + rng.normal(size=2 * REFERENCES)
        found = auroc(lies, truths, names(3), names(2))
        assert found is not None
        held += found.low <= truth <= found.high
    assert held / draws >= 0.92  # 0.95 less two standard errors of 200 draws
