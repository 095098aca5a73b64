"""Checks of paired differences, such as to the healthy path (pure)."""

import math
from typing import NamedTuple

from harness.criteria import PathCriteria
from harness.decision import Check, Verdict
from harness.gate_limits import WORST_F1, Needed, judged, needed, not_measured, undone
from harness.gate_row import Cell
from harness.gate_scale import unscaled
from harness.stats import (
    LEAST_MEAN_ITEMS,
    Estimate,
    PairedCounts,
    at_most,
    needed_mean_n,
    needed_pairs,
    paired_counts,
    student_mean,
    tango,
)

BEST_F1 = 1.0  # what a counterpart that was not measured is taken for
MOST_UNPAIRED = 0.05  # share of items without a counterpart up to which a mean fall is taken for that of all


class Demand(NamedTuple):
    """How a paired difference is judged."""

    group: str
    min_n: int
    margin: float
    confidence: float


def against_healthy(cell: Cell, criteria: PathCriteria, healthy: Cell | None, confidence: float) -> list[Check]:
    reference = healthy or Cell(name="healthy", rows=())
    checks = []
    if criteria.misleading_margin is not None:
        demand = Demand(criteria.name, criteria.min_n, criteria.misleading_margin, confidence)
        checks.append(misleading_gap(cell, reference, demand))
    if criteria.f1_margin is not None:
        demand = Demand(criteria.name, criteria.min_n, criteria.f1_margin, confidence)
        checks.append(f1_drop(cell, reference, demand, has_floor=criteria.f1 is not None))
    return checks


def misleading_gap(cell: Cell, reference: Cell, demand: Demand) -> Check:
    """Paired difference of misleading rates, its upper bound against the margin.

    An item without a counterpart, or with an answer that was not judged, proves nothing by being left out: a pass has
    to hold, too, where the missing counterpart is taken for one that did not mislead, and our answer for one that did.
    """
    ours, theirs = cell.misleading_items(), reference.misleading_items()
    counts = paired_counts(ours, theirs)
    name = f"{cell.name}: misleading rate against {reference.name}"
    if counts.n == 0:
        return unpaired(demand, name, len(ours))
    gap = tango(counts, demand.confidence)
    verdict = judged(gap, demand.margin, demand.min_n)
    alone = [misleads for item, misleads in ours.items() if item not in theirs]
    unjudged = cell.unjudged_items()
    worst = {**ours, **dict.fromkeys(unjudged, True)}
    strictest = paired_counts(worst, {**dict.fromkeys(worst, False), **theirs})
    among = tango(strictest, demand.confidence)
    hidden = verdict is Verdict.PASS and not at_most(among.high, demand.margin)
    lacks = Needed()
    if hidden or verdict is Verdict.INCONCLUSIVE:
        verdict, lacks = Verdict.INCONCLUSIVE, needed(needed_items(counts, strictest, demand), len(ours), demand.min_n)
    now, then = counts.candidate_only + counts.both, counts.baseline_only + counts.both
    reason = (
        f"{now} against {then} of {gap.n} items ({signed(gap.value)}), upper bound {signed(gap.high)}, "
        f"margin {signed(demand.margin)}{left_out(len(alone), sum(alone))}"
    )
    if hidden:
        told = ["their counterparts faithful"] if alone else []
        told += [f"the {len(unjudged)} items with an answer that was not judged misleading"] if unjudged else []
        reason += f"; were {' and '.join(told)}, the upper bound would be {signed(among.high)}"
    return found_check(demand, name, gap, (verdict, reason + lacks.said), lacks.n)


def needed_items(counts: PairedCounts, strictest: PairedCounts, demand: Demand) -> int | None:
    """About how many items like these would pass, those without a counterpart among them; None: no number would."""
    pairs = needed_pairs(counts, demand.margin, confidence=demand.confidence)
    whole = needed_pairs(strictest, demand.margin, confidence=demand.confidence)
    if pairs is None or whole is None:
        return None
    return max(whole, math.ceil(max(pairs, demand.min_n) * strictest.n / counts.n))


def f1_drop(cell: Cell, reference: Cell, demand: Demand, *, has_floor: bool = False) -> Check:
    """Mean paired fall of F1 on items that both answered, its upper bound against the margin.

    Undecided where over `MOST_UNPAIRED` of the items have no counterpart, unless a floor holds them, too.
    """
    ours, theirs = cell.f1_of_items(), reference.f1_of_items()
    gaps = [theirs[item] - ours[item] for item in ours if item in theirs]
    name = f"{cell.name}: BERTScore F1 against {reference.name}"
    if why := unscaled(cell.scales() | reference.scales()):
        return not_measured(demand.group, name, len(gaps), demand.margin, why)
    if len(gaps) < LEAST_MEAN_ITEMS:
        return unpaired(demand, name, len(ours), len(gaps), LEAST_MEAN_ITEMS)
    drop = student_mean(gaps, demand.confidence)
    alone = len(ours.keys() - reference.misleading_items().keys())
    hidden = not has_floor and not at_most(alone, MOST_UNPAIRED * len(ours))
    verdict = judged(drop, demand.margin, demand.min_n)
    lacks = Needed()
    if verdict is Verdict.INCONCLUSIVE:
        pairs = needed_mean_n(gaps, demand.margin, confidence=demand.confidence)
        items = None if pairs is None else math.ceil(max(pairs, demand.min_n) * len(ours) / len(gaps))
        lacks = needed(items, len(ours), demand.min_n)
    elif verdict is Verdict.PASS and hidden:
        verdict = Verdict.INCONCLUSIVE
    reason = (
        f"{drop.value:+.3f} lower on {drop.n} items, upper bound {drop.high:+.3f}, margin {demand.margin:g}"
        f"{left_out(alone)}{one_sided(len(ours) - drop.n - alone)}"
    )
    unmeasured = cell.unmeasured_items() | (reference.unmeasured_items() & ours.keys())
    if verdict is Verdict.PASS and unmeasured:
        at_worst = student_mean(falls_at_worst(cell, reference), demand.confidence)
        verdict, told = undone(at_worst, demand.margin, len(unmeasured), f"{at_worst.high:+.3f}")
        reason += told
    if hidden and verdict is not Verdict.FAIL:
        reason += f"; at most {MOST_UNPAIRED:.0%} may lack one: judge the same items on both sides"
    return found_check(demand, name, drop, (verdict, reason + lacks.said), lacks.n)


def falls_at_worst(cell: Cell, reference: Cell) -> list[float]:
    """Falls of F1 were every answer that was not measured at its worst for us."""
    ours, theirs = cell.f1_of_items(WORST_F1), reference.f1_of_items(BEST_F1)
    return [theirs[item] - ours[item] for item in ours if item in theirs]


def found_check(demand: Demand, name: str, found: Estimate, said: tuple[Verdict, str], needed_n: int | None) -> Check:
    """The check of a paired difference, its upper bound against the margin."""
    return Check(
        group=demand.group,
        name=name,
        verdict=said[0],
        reason=said[1],
        n=found.n,
        value=found.value,
        bound=found.high,
        limit=demand.margin,
        needed_n=needed_n,
    )


def unpaired(demand: Demand, name: str, n: int, pairs: int = 0, least: int = 2) -> Check:
    """Too few pairs to say anything: undecided. `least`: how many say something."""
    least = max(least, demand.min_n)
    reason = f"{pairs} of {n} items were answered on both sides; {least} are needed"
    return Check(
        group=demand.group,
        name=name,
        verdict=Verdict.INCONCLUSIVE,
        reason=reason,
        n=pairs,
        limit=demand.margin,
        needed_n=least,
    )


def left_out(count: int, misleading: int = 0) -> str:
    told = f", {misleading} of which mislead" if misleading else ""
    return f" ({count} more have no counterpart{told})" if count else ""


def one_sided(count: int) -> str:
    return f" ({count} more were answered on this side only)" if count else ""


def signed(share: float) -> str:
    return f"{100 * share:+.1f}%" if math.isfinite(share) else "unbounded"
