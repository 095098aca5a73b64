"""Checks of one cell against fixed limits: two rates and a floor, each by its bound (pure)."""

from collections.abc import Callable
from typing import NamedTuple

from harness.criteria import PathCriteria
from harness.decision import Check, Verdict
from harness.fidelity.case import Label
from harness.gate_row import Cell
from harness.gate_scale import unscaled
from harness.stats import (
    LEAST_MEAN_ITEMS,
    MOST_ITEMS,
    POWER,
    Estimate,
    at_most,
    clopper_pearson,
    needed_mean_n,
    needed_n,
    student_mean,
)

WORST_F1 = 0.0  # what an answer that was not measured is taken for, where a pass has to hold all the same


class Limit(NamedTuple):
    """How a rate is judged."""

    name: str
    label: Label  # what is counted
    most: float  # that the upper bound may be


class Needed(NamedTuple):
    """What an undecided check lacks."""

    n: int | None = None  # items; None: none, or no number would do
    said: str = ""


def against_limits(cell: Cell, criteria: PathCriteria, confidence: float) -> list[Check]:
    checks = []
    if criteria.misleading is not None:
        limit = Limit("misleading rate", Label.MISLEADING, criteria.misleading)
        checks.append(rate_check(cell, criteria, limit, confidence))
    if criteria.abstention is not None:
        limit = Limit("abstention rate", Label.ABSTAINED, criteria.abstention)
        checks.append(rate_check(cell, criteria, limit, confidence))
    if criteria.f1 is not None:
        checks.append(f1_floor(cell, criteria, criteria.f1, confidence))
    return checks


def rate_check(cell: Cell, criteria: PathCriteria, limit: Limit, confidence: float) -> Check:
    """The exact upper bound of a share of items against its limit."""
    items = cell.labelled_items(limit.label)
    hits, n = sum(items.values()), len(items)
    name = f"{cell.name}: {limit.name}"
    if n == 0:
        return too_few(criteria, name, 0, limit.most)
    rate = clopper_pearson(hits, n, confidence)
    verdict, lacks = ruled(
        rate, limit.most, criteria.min_n, lambda: needed_n(limit.most, rate.value, confidence=confidence)
    )
    reason = f"{hits} of {n} items ({percent(rate.value)}), upper bound {percent(rate.high)}, limit "
    reason += f"{percent(limit.most)}{lacks.said}"
    if verdict is Verdict.PASS and (unjudged := cell.unjudged_items()):
        worst = {**items, **dict.fromkeys(unjudged, True)}
        at_worst = clopper_pearson(sum(worst.values()), len(worst), confidence)
        verdict, told = undone(at_worst, limit.most, len(unjudged), percent(at_worst.high))
        reason += told
    return Check(
        group=criteria.name,
        name=name,
        verdict=verdict,
        reason=reason,
        n=n,
        value=rate.value,
        bound=rate.high,
        limit=limit.most,
        needed_n=lacks.n,
    )


def f1_floor(cell: Cell, criteria: PathCriteria, floor: float, confidence: float) -> Check:
    """The lower bound of the mean over items, several answers to an item being one unit, against the floor."""
    scores = list(cell.f1_of_items().values())
    name = f"{cell.name}: BERTScore F1"
    if why := unscaled(cell.scales()):
        return not_measured(criteria.name, name, len(scores), floor, why)
    if len(scores) < LEAST_MEAN_ITEMS:
        return too_few(criteria, name, len(scores), floor, LEAST_MEAN_ITEMS)
    lack = [-score for score in scores]  # a floor is a limit from the other side
    mirrored = student_mean(lack, confidence)
    verdict, lacks = ruled(mirrored, -floor, criteria.min_n, lambda: needed_mean_n(lack, -floor, confidence=confidence))
    reason = (
        f"mean {-mirrored.value:.3f} over {len(scores)} items that were answered, lower bound {-mirrored.high:.3f}, "
        f"floor {floor:g}{lacks.said}"
    )
    if verdict is Verdict.PASS and (unmeasured := cell.unmeasured_items()):
        at_worst = student_mean([-score for score in cell.f1_of_items(WORST_F1).values()], confidence)
        verdict, told = undone(at_worst, -floor, len(unmeasured), f"{-at_worst.high:.3f}")
        reason += told
    return Check(
        group=criteria.name,
        name=name,
        verdict=verdict,
        reason=reason,
        n=len(scores),
        value=-mirrored.value,
        bound=-mirrored.high,
        limit=floor,
        needed_n=lacks.n,
    )


def undone(at_worst: Estimate, limit: float, unjudged: int, bound: str) -> tuple[Verdict, str]:
    """A pass has to hold, too, where what was not judged is taken for the worst."""
    if at_most(at_worst.high, limit):
        return Verdict.PASS, ""
    told = f"; {unjudged} items have an answer that was not judged or measured: at its worst the bound would be {bound}"
    return Verdict.INCONCLUSIVE, told


def ruled(found: Estimate, limit: float, min_n: int, enough: Callable[[], int | None]) -> tuple[Verdict, Needed]:
    """The verdict and, where it is undecided, what it lacks. `enough`: how many items would show it, None: none."""
    verdict = judged(found, limit, min_n)
    if verdict is not Verdict.INCONCLUSIVE:
        return verdict, Needed()
    return verdict, needed(enough(), found.n, min_n)


def judged(found: Estimate, limit: float, min_n: int) -> Verdict:
    """Pass when shown; fail when observed, or with few items shown, to be worse; else undecided."""
    if not at_most(found.low, limit):
        return Verdict.FAIL
    if found.n < min_n:
        return Verdict.INCONCLUSIVE
    if at_most(found.high, limit):
        return Verdict.PASS
    return Verdict.INCONCLUSIVE if at_most(found.value, limit) else Verdict.FAIL


def not_measured(group: str, name: str, n: int, limit: float, why: str) -> Check:
    """Silence is never consent: undecided, however many items there are."""
    return Check(group=group, name=name, verdict=Verdict.INCONCLUSIVE, reason=why, n=n, limit=limit)


def too_few(criteria: PathCriteria, name: str, n: int, limit: float, least: int = 2) -> Check:
    least = max(least, criteria.min_n)
    return Check(
        group=criteria.name,
        name=name,
        verdict=Verdict.INCONCLUSIVE,
        reason=f"only {n} items; {least} are needed",
        n=n,
        limit=limit,
        needed_n=least,
    )


def needed(found: int | None, n: int, min_n: int) -> Needed:
    """`found`: how many would show what was observed to be within the limit; None: no number would."""
    if found is not None:
        more = max(found, n + 1, min_n)
        return Needed(more, f"; about {more} items would show it {10 * POWER:g} times in 10")
    if n < min_n:
        return Needed(min_n, f"; {min_n} items are needed to decide")
    return Needed(None, f"; if this is the truth, {MOST_ITEMS} items would not show it")


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"
