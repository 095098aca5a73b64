"""Where one policy is shown to mislead less, experiment by experiment: over all faults one can hide another (pure)."""

from typing import NamedTuple

from harness.ab.pairs import Answer, Pair, Pairing
from harness.fidelity.case import Label
from harness.stats import PairedCounts, holm, paired_counts, tango_above_p, tango_p


class Difference(NamedTuple):
    """Items that mislead in one experiment, under each policy."""

    experiment: str
    a: int
    b: int
    n: int

    @property
    def better(self) -> str:
        return "A" if self.a < self.b else "B"

    def __str__(self) -> str:
        less, more = min(self.a, self.b), max(self.a, self.b)
        return f"{self.better} misleads less under {self.experiment} ({less} against {more} of {self.n} items)"


def shown_differences(pairing: Pairing) -> list[Difference]:
    """Those that stand at 0.05, two-sided, after Holm's correction for looking at every experiment."""
    by_experiment: dict[str, list[Pair]] = {}
    for pair in pairing.pairs:
        by_experiment.setdefault(pair.a.trial_id.rpartition("/")[0], []).append(pair)
    counts = {name: counts_of(pairs) for name, pairs in by_experiment.items()}
    stands = holm([two_sided_p(each) for each in counts.values()])
    return [
        Difference(name, each.baseline_only + each.both, each.candidate_only + each.both, each.n)
        for (name, each), shown in zip(counts.items(), stands, strict=True)
        if shown
    ]


def counts_of(pairs: list[Pair]) -> PairedCounts:
    """Items by whether an answer to them misleads under B (candidate) and under A (baseline)."""
    a: dict[str, bool] = {}
    b: dict[str, bool] = {}
    for ours, theirs in pairs:
        a[ours.item_id] = a.get(ours.item_id, False) or misleads(ours)
        b[ours.item_id] = b.get(ours.item_id, False) or misleads(theirs)
    return paired_counts(b, a)


def misleads(answer: Answer) -> bool:
    return answer.label is Label.MISLEADING and not answer.failed


def two_sided_p(counts: PairedCounts) -> float:
    return min(1.0, 2 * min(tango_p(counts, 0.0), tango_above_p(counts, 0.0)))
