"""Which value of many is so many places from the largest, without putting all of them in order."""

from collections.abc import Sequence

_STRIDE = 16  # one in so many values tells where the largest begin
_FEW = 256  # values that are sorted at once


def nth_largest(values: Sequence[float], nth: int) -> float:
    """The value at place `nth`, from 1, of all from the largest down; `nth` is at most their number.

    As dear for values that rise with time as for any others: latencies do just when time is scarce. A heap of the
    largest would take ten times as long as sorting for those.
    """
    if len(values) > _FEW:
        sample = sorted(values[::_STRIDE])
        place = 2 * nth // _STRIDE + 2  # twice as many as expected, so that hardly ever too few are left
        if place < len(sample):
            least = sample[-place]
            largest = [value for value in values if value >= least]
            if len(largest) >= nth:
                values = largest
    return sorted(values)[-nth]
