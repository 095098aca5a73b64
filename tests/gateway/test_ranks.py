"""The largest values of many: the right one in whatever order they come, and never dearer than sorting by far."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.ranks import nth_largest

RANDOM = Random(7)
LOOSE = [RANDOM.lognormvariate(0, 1) for _ in range(4_096)]
ORDERS = {
    "loose": LOOSE,
    "rising": sorted(LOOSE),
    "falling": sorted(LOOSE, reverse=True),
    "all one": [1.0] * 4_096,
    "the sampled are large": [float(index % 16 == 0) * index for index in range(4_096)],
    "the sampled are small": [float(index % 16 != 0) * index for index in range(4_096)],
}


@pytest.mark.parametrize("order", ORDERS)
def test_it_is_the_one_that_sorting_finds(order: str) -> None:
    values = ORDERS[order]
    for many in (1, 2, 255, 256, 257, 1_000, 4_096):
        ranked = sorted(values[:many], reverse=True)
        for nth in {1, many, (many + 1) // 2, many // 20 + 1, many // 100 + 1}:
            assert nth_largest(values[:many], nth) == ranked[nth - 1]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(values=st.lists(st.floats(0, 100) | st.sampled_from((1.0, 2.0)), min_size=1, max_size=600), data=st.data())
def test_whatever_the_values(values: list[float], data: st.DataObject) -> None:
    nth = data.draw(st.integers(1, len(values)))
    assert nth_largest(values, nth) == sorted(values, reverse=True)[nth - 1]


class Compared(float):
    """Counts how often one is looked at."""

    times = 0

    def __lt__(self, other: float) -> bool:
        Compared.times += 1
        return float(self) < other

    def __gt__(self, other: float) -> bool:
        Compared.times += 1
        return float(self) > other

    def __ge__(self, other: float) -> bool:
        Compared.times += 1
        return float(self) >= other


@pytest.mark.parametrize("order", ["loose", "rising", "falling", "all one"])
def test_the_largest_hundredth_takes_four_looks_at_each_value_at_most_in_whatever_order(order: str) -> None:
    values = [Compared(value) for value in ORDERS[order]]
    Compared.times = 0
    nth_largest(values, len(values) // 100 + 1)
    assert Compared.times <= 4 * len(values)
