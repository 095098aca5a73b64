"""Overlapping windows over a text that is longer than the encoder can read at once (pure)."""

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """Tokens `[start, stop)` are encoded together; of them `[keep_start, keep_stop)` are kept."""

    start: int
    stop: int
    keep_start: int
    keep_stop: int


def windows(length: int, size: int) -> list[Window]:
    """Half-overlapping windows of at most `size` tokens that keep every token of `length` exactly once.

    A token is kept from the window in which it stands furthest from an edge, so each has context on both sides.
    """
    if size < 2:
        raise ValueError(f"a window needs at least 2 tokens, got {size}")
    if length <= size:
        return [Window(0, length, 0, length)]
    starts = [*range(0, length - size, size // 2), length - size]
    borders = [0, *(middle(left + size, right) for left, right in pairwise(starts)), length]
    return [Window(start, start + size, borders[i], borders[i + 1]) for i, start in enumerate(starts)]


def middle(left_stop: int, right_start: int) -> int:
    """The token that divides the overlap of two neighbouring windows."""
    return (left_stop + right_start) // 2


def batches(lengths: list[int], batch_tokens: int) -> list[list[int]]:
    """Indices grouped by similar length so that count × longest stays within `batch_tokens` (at least one each)."""
    groups: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        longest = lengths[index]
        if groups and (len(groups[-1]) + 1) * longest <= batch_tokens and longest <= lengths[groups[-1][0]] * 1.25 + 2:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
