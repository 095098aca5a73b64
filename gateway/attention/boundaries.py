"""Where a text falls into parts: the attention's entropy drops at the start of a new one. Pure."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import log
from typing import Protocol

NEAR_TOKENS = 4  # on each side of a boundary; with 8 the drop says nothing any more (docs/design/gateway.md)


class Boundaries(Protocol):
    """What truncation asks of somebody who can read."""

    def drops(self, pieces: Sequence[str]) -> Sequence[float | None] | None:
        """How far the entropy falls from each piece to the next, in [-1, 1]: one value fewer than pieces.

        None where it was not read; None altogether when nothing could be read, or not in time. May block for a second.
        """
        ...


def relative(entropies: Sequence[float]) -> list[float]:
    """Each token's entropy as a share of the most that it could have: token `i` has `i` targets, the first left out."""
    return [min(1.0, one / log(index)) if index > 1 else 0.0 for index, one in enumerate(entropies)]


def drops_between(pieces: Sequence[str], *, starts: Sequence[int], entropies: Sequence[float]) -> list[float | None]:
    """`starts`: the character at which each token that was read begins, in the pieces put together."""
    shares = relative(entropies)
    ends = list(accumulate(len(piece) for piece in pieces))
    found: list[float | None] = []
    for (begin, middle), end in zip(pairwise([0, *ends[:-1]]), ends[1:], strict=True):
        before = [share for at, share in zip(starts, shares, strict=True) if begin <= at < middle][-NEAR_TOKENS:]
        after = [share for at, share in zip(starts, shares, strict=True) if middle <= at < end][:NEAR_TOKENS]
        found.append(sum(before) / len(before) - sum(after) / len(after) if before and after else None)
    return found


def deepest(drops: Sequence[float | None]) -> int | None:
    """The index of the largest drop; of equal ones the last; None where the entropy falls nowhere."""
    falling = [(drop, index) for index, drop in enumerate(drops) if drop is not None and drop > 0]
    return max(falling)[1] if falling else None
