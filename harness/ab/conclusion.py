"""One sentence: which policy to choose, or that nothing is decided and how many items would decide it (pure).

In this order, because a fallback that misleads is worse than none:
 1. too little to compare (fewer than 10 items, or less than 90% of the requests): undecided;
 2. one policy is shown to mislead less: that one, whatever users clicked, and though it be shown to fail more often;
 3. one is shown to mislead less in an experiment by itself, and the other in none: the one; each in some: undecided;
 4. one is shown to fail (5xx, no answer) less: that one; but undecided where it misled on more items and is not shown
    to do so at most `margin` more often;
 5. one has a combined score shown to be higher, and is shown to mislead at most `margin` more often: that one;
 6. misleading is shown to differ by at most `margin` either way: either will do;
 7. else undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.ab.by_experiment import Difference, shown_differences
from harness.ab.compare import Comparison
from harness.ab.metrics import TWO_SIDED_95, Metric, Shown
from harness.stats import PairedCounts, at_most, needed_pairs

LEAST_ITEMS = 10
LEAST_COVERAGE = 0.9
MOST_ITEMS = 100_000


class Choice(StrEnum):
    A = "A"
    B = "B"
    EITHER = "either"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    choice: Choice
    sentence: str
    needed_items: int | None = None  # more items that would tell; None: decided, or no number would

    @property
    def exit_code(self) -> int:
        """0 decided, 3 undecided."""
        return 3 if self.choice is Choice.UNDECIDED else 0


def conclude(found: Comparison, *, margin: float) -> Conclusion:
    """`margin`: most that the share of misleading items may be higher in a policy chosen for other reasons."""
    if early := too_little(found):
        return early
    misleading, failed = found.metric("misleading"), found.metric("failed")
    if misleading.shown is not Shown.NEITHER:
        better, worse = sides(misleading.shown)
        return chosen(found, better, f"{better} misleads less ({against(misleading, better, worse)})")
    if apart := shown_differences(found.pairing):
        return by_experiment(found, apart)
    if failed.shown is not Shown.NEITHER:
        better, worse = sides(failed.shown)
        if hits(misleading, better) <= hits(misleading, worse) or no_worse(misleading, better, margin):
            told = f"{better} fails less ({against(failed, better, worse)}), and {both_counted(misleading)}"
            return chosen(found, better, told)
        return undecided(misleading, margin, f"{better} fails less ({against(failed, better, worse)}), but ")
    if found.combined.shown is not Shown.NEITHER:
        better, worse = sides(found.combined.shown)
        if no_worse(misleading, better, margin):
            told = f"{both_counted(misleading)}, and {better} has the higher combined score ({combined(found)})"
            return chosen(found, better, told)
    if no_worse(misleading, "A", margin) and no_worse(misleading, "B", margin):
        sentence = (
            f"{both_counted(misleading)}, which is the same within {100 * margin:g} percentage points; "
            f"{users(found, 'B')}; either will do."
        )
        return Conclusion(choice=Choice.EITHER, sentence=sentence)
    return undecided(misleading, margin)


def by_experiment(found: Comparison, apart: Sequence[Difference]) -> Conclusion:
    """Over all faults together they mislead on as many items, yet not under each."""
    told = ", ".join(str(each) for each in apart)
    better = {each.better for each in apart}
    if len(better) == 1:
        return chosen(found, better.pop(), told)
    sentence = f"undecided: {told}; it depends on the fault, and more items will not tell."
    return Conclusion(choice=Choice.UNDECIDED, sentence=sentence)


def too_little(found: Comparison) -> Conclusion | None:
    items = len(found.pairing.by_item)
    if found.pairing.coverage < LEAST_COVERAGE:
        sentence = f"undecided: only {found.pairing}; run both policies to the end on the same items."
        return Conclusion(choice=Choice.UNDECIDED, sentence=sentence)
    if items < LEAST_ITEMS:
        more = LEAST_ITEMS - items
        sentence = f"undecided: only {plural(items, 'item')} compared; at least {more} more would tell."
        return Conclusion(choice=Choice.UNDECIDED, sentence=sentence, needed_items=more)
    return None


def chosen(found: Comparison, better: str, because: str) -> Conclusion:
    sentence = f"{because}{price(found, better)}; {users(found, better)}; choose {better}."
    return Conclusion(choice=Choice(better), sentence=sentence)


def price(found: Comparison, better: str) -> str:
    """What the better policy is shown to do worse: a policy that refuses everything, or fails, never misleads."""
    costs = []
    for metric, does in ((found.metric("failed"), "fails"), (found.metric("abstained"), "abstains")):
        if metric.shown is not Shown.NEITHER and (other := sides(metric.shown)[0]) != better:
            costs.append(f"{does} more ({against(metric, better, other)})")
    return f", but {' and '.join(costs)}" if costs else ""


def undecided(misleading: Metric, margin: float, although: str = "") -> Conclusion:
    told = f"undecided: {although}{both_counted(misleading)}, a difference that chance could make"
    more = more_items(misleading, margin)
    if more is None:
        return Conclusion(choice=Choice.UNDECIDED, sentence=f"{told}; they differ too little for more items to tell.")
    return Conclusion(
        choice=Choice.UNDECIDED, sentence=f"{told}; about {plural(more, 'more item')} would tell.", needed_items=more
    )


def more_items(misleading: Metric, margin: float) -> int | None:
    """Fewest more items, if more of the same came, that show a difference or show that there is none above `margin`."""
    if misleading.counts is None:
        return None
    b_only, a_only, both, neither = misleading.counts
    turned = PairedCounts(a_only, b_only, both, neither)
    fewer, more = (misleading.counts, turned) if b_only <= a_only else (turned, misleading.counts)
    found = []
    if a_only != b_only:
        found.append(needed_pairs(fewer, 0.0, confidence=TWO_SIDED_95, most=MOST_ITEMS))
    if abs(a_only - b_only) < margin * misleading.counts.n:
        found.append(needed_pairs(more, margin, confidence=TWO_SIDED_95, most=MOST_ITEMS))
    least = min((n for n in found if n is not None), default=None)
    return None if least is None else max(1, least - misleading.counts.n)


def no_worse(misleading: Metric, policy: str, margin: float) -> bool:
    """Whether `policy` is shown to mislead at most `margin` more often than the other."""
    difference = misleading.difference
    if difference is None:
        return False
    return at_most(difference.high if policy == "B" else -difference.low, margin)


def users(found: Comparison, policy: str) -> str:
    """What is known of users, said of `policy`."""
    told = [said for name in ("CTR", "CSAT") if (said := said_of(found.metric(name), policy))]
    return ", ".join(told) if told else "nothing is known of clicks and satisfaction"


def said_of(metric: Metric, policy: str) -> str | None:
    if metric.a is None or metric.b is None:
        return None
    own, other = (metric.b, metric.a) if policy == "B" else (metric.a, metric.b)
    digits = 2 if metric.target is not None else 1
    values = f"{shown_value(own, digits)} against {shown_value(other, digits)}"
    if metric.shown is Shown.NEITHER:
        told = f"{metric.name} is not shown to differ ({values})"
    else:
        told = f"{metric.name} is {'higher' if metric.shown is Shown(f'{policy} is better') else 'lower'} ({values})"
    missed = metric.target is not None and not at_most(metric.target, own)
    return f"{told}, under the target of {metric.target:g}" if missed else told


def shown_value(value: float, digits: int) -> str:
    """A rate in percent, a score as it is."""
    return f"{100 * value:.1f}%" if digits == 1 else f"{value:.2f}"


def sides(shown: Shown) -> tuple[str, str]:
    """The better policy, then the worse one."""
    return ("A", "B") if shown is Shown.A else ("B", "A")


def hits(metric: Metric, policy: str) -> int:
    counts = metric.counts or PairedCounts(0, 0, 0, 0)
    return counts.both + (counts.candidate_only if policy == "B" else counts.baseline_only)


def against(metric: Metric, first: str, second: str) -> str:
    return f"{hits(metric, first)} against {hits(metric, second)} of {plural(metric.n, 'item')}"


def both_counted(misleading: Metric) -> str:
    return f"B misleads on {hits(misleading, 'B')} of {plural(misleading.n, 'item')} and A on {hits(misleading, 'A')}"


def combined(found: Comparison) -> str:
    a, b = found.combined.a or 0.0, found.combined.b or 0.0
    better, worse = max(a, b), min(a, b)
    return f"{better:.2f} against {worse:.2f}"


def plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
