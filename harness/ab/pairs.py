"""Answers of two runs, paired request by request (pure)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.fidelity.case import Label

ABSTAINED_VALUE = 0.5  # an honest "not an answer" is worth half a perfect one; a misleading answer nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One request under a fault, in one run. None: not judged, not measured."""

    trial_id: str
    item_id: str
    label: Label | None = None
    bertscore_f1: float | None = None
    cosine: float | None = None
    failed: bool = False  # 5xx, a body that is no answer, or nothing at all
    proved: bool = True  # the fault fired, and met a steady state

    @property
    def usable(self) -> bool:
        """Whether there is something to compare: judged and scored, openly no answer, or failed."""
        if self.failed or self.label is Label.ABSTAINED:
            return True
        return self.label is not None and measured(self.bertscore_f1) and measured(self.cosine)

    @property
    def answered(self) -> bool:
        return not self.failed and self.label is not Label.ABSTAINED

    @property
    def value(self) -> float:
        """In [0, 1]: 0 failed or misleading, a half abstained, else the mean of BERTScore F1 and cosine."""
        if self.failed or self.label is Label.MISLEADING:
            return 0.0
        if self.label is Label.ABSTAINED:
            return ABSTAINED_VALUE
        return min(1.0, max(0.0, ((self.bertscore_f1 or 0.0) + (self.cosine or 0.0)) / 2))


def measured(score: float | None) -> bool:
    return score is not None and math.isfinite(score)


class Pair(NamedTuple):
    """The same request under policy A and under policy B."""

    a: Answer
    b: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """What can be compared, and what cannot."""

    pairs: tuple[Pair, ...]
    only_a: int = 0  # requests that run B lacks
    only_b: int = 0
    unproved: int = 0  # on either side the fault did not fire or met no steady state
    unmeasured: int = 0  # on either side not judged, or without a score
    by_item: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """All requests under a fault, of both runs together."""
        return len(self.pairs) + self.only_a + self.only_b + self.unproved + self.unmeasured

    @property
    def coverage(self) -> float:
        """Share of them that is compared, in [0, 1]."""
        return len(self.pairs) / self.requests if self.requests else 0.0

    def __str__(self) -> str:
        missing = {
            "only in A": self.only_a,
            "only in B": self.only_b,
            "without proof of the fault": self.unproved,
            "not judged": self.unmeasured,
        }
        told = ", ".join(f"{count} {what}" for what, count in missing.items() if count)
        return (
            f"{len(self.pairs)} of {self.requests} requests compared ({len(self.by_item)} items)"
            f"{': ' + told if told else ''}"
        )


def paired(a: Sequence[Answer], b: Sequence[Answer]) -> Pairing:
    """Pair by trial id: the same item under the same fault."""
    ours, theirs = {answer.trial_id: answer for answer in a}, {answer.trial_id: answer for answer in b}
    both = [Pair(ours[trial], theirs[trial]) for trial in ours if trial in theirs]
    proved = [pair for pair in both if pair.a.proved and pair.b.proved]
    usable = tuple(pair for pair in proved if pair.a.usable and pair.b.usable)
    by_item: dict[str, list[Pair]] = {}
    for pair in usable:
        by_item.setdefault(pair.a.item_id, []).append(pair)
    return Pairing(
        pairs=usable,
        only_a=len(ours) - len(both),
        only_b=len(theirs) - len(both),
        unproved=len(both) - len(proved),
        unmeasured=len(proved) - len(usable),
        by_item={item: tuple(pairs) for item, pairs in by_item.items()},
    )
