"""Order of words that stand on both sides of a third: "A pays B" against "B pays A"."""

from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.pair import Pair

_LINKS = frozenset("and or , 、 ; 和 与 及 或 以及 还有 plus & / as well as".split())
_AGENT = frozenset(["by", "被", "由", "受", "遭"])
MAX_CONTENT = 14  # content words looked at; longer texts are compared clause by clause elsewhere


class Reversal(NamedTuple):
    """Words of the reference (indices) that change places around `pivot`."""

    left: int
    pivot: int
    right: int


def reversals(both: Pair) -> Iterator[Reversal]:
    """Triples left … pivot … right of the reference that the candidate has as right … pivot … left."""
    placed = [
        (i, at)
        for i, at in enumerate(both.partner_back)
        if at is not None and not both.reference.words[i].mark and both.reference.words[i].lemma not in _LINKS
    ]
    content = [(i, at) for i, at in placed if both.reference.words[i].content][:MAX_CONTENT]
    for k, (left, left_at) in enumerate(content):
        for right, right_at in content[k + 1 :]:
            if right_at >= left_at:
                continue
            for pivot, pivot_at in placed:
                if left < pivot < right and right_at < pivot_at < left_at:
                    yield Reversal(left, pivot, right)


def voice_changed(both: Pair) -> bool:
    """Whether exactly one text names its agent with "by" (or 被, 由)."""
    return _passive(both.reference.words) != _passive(both.candidate.words)


def _passive(words: tuple[object, ...]) -> bool:
    return any(getattr(word, "lemma", "") in _AGENT for word in words)


def reversed_around(both: Pair, one: int, other: int) -> bool:
    """Whether a pair of words changes places around word `one` of the reference and `other` of the candidate.

    "A is cheaper than B" and "B is dearer than A" say the same.
    """
    clause, clause_there = both.reference.words[one].clause, both.candidate.words[other].clause
    left = [
        at for i, at in enumerate(both.partner_back)
        if i < one and at is not None and both.reference.words[i].content and abs(both.reference.words[i].clause - clause) <= 1
    ]  # fmt: skip
    right = [
        at for i, at in enumerate(both.partner_back)
        if i > one and at is not None and both.reference.words[i].content and abs(both.reference.words[i].clause - clause) <= 1
    ]  # fmt: skip
    near = [at for at in (*left, *right) if abs(both.candidate.words[at].clause - clause_there) <= 1]
    return (
        bool(left and right)
        and any(at < other for at in right)
        and any(at > other for at in left)
        and bool(near)
        and not (any(at < other for at in left) and any(at > other for at in right))
    )
