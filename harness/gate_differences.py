"""Checks of paired differences: to the healthy path, to an earlier run; and single cells shown to be worse (pure)."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.criteria import BaselineCriteria, PathCriteria
from harness.decision import Check, Verdict
from harness.gate_limits import not_measured, ruled
from harness.gate_row import NO_FAULT, Cell, GateRow, looks_of
from harness.gate_run_level import listed
from harness.gate_scale import unscaled
from harness.stats import (
    Estimate,
    binomial_tail_p,
    holm,
    needed_mean_n,
    needed_pairs,
    paired_counts,
    student_mean,
    tango,
    tango_above_p,
)


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
        checks.append(f1_drop(cell, reference, Demand(criteria.name, criteria.min_n, criteria.f1_margin, confidence)))
    return checks


def misleading_gap(cell: Cell, reference: Cell, demand: Demand) -> Check:
    """Paired difference of misleading rates, its upper bound against the margin."""
    ours, theirs = cell.misleading_items(), reference.misleading_items()
    counts = paired_counts(ours, theirs)
    name = f"{cell.name}: misleading rate against {reference.name}"
    if counts.n == 0:
        return unpaired(demand, name, len(ours))
    gap = tango(counts, demand.confidence)
    verdict, lacks = ruled(
        gap, demand.margin, demand.min_n, lambda: needed_pairs(counts, demand.margin, confidence=demand.confidence)
    )
    now, then = counts.candidate_only + counts.both, counts.baseline_only + counts.both
    reason = (
        f"{now} against {then} of {gap.n} items ({signed(gap.value)}), upper bound {signed(gap.high)}, "
        f"margin {signed(demand.margin)}{left_out(len(ours) - gap.n)}{lacks.said}"
    )
    return found_check(demand, name, gap, (verdict, reason), lacks.n)


def f1_drop(cell: Cell, reference: Cell, demand: Demand) -> Check:
    """Mean paired fall of F1 on items that both answered, its upper bound against the margin."""
    ours, theirs = cell.f1_of_items(), reference.f1_of_items()
    gaps = [theirs[item] - ours[item] for item in ours if item in theirs]
    name = f"{cell.name}: BERTScore F1 against {reference.name}"
    if why := unscaled(cell.scales() | reference.scales()):
        return not_measured(demand.group, name, len(gaps), demand.margin, why)
    if len(gaps) < 2:
        return unpaired(demand, name, len(ours))
    drop = student_mean(gaps, demand.confidence)
    verdict, lacks = ruled(
        drop, demand.margin, demand.min_n, lambda: needed_mean_n(gaps, demand.margin, confidence=demand.confidence)
    )
    reason = (
        f"{drop.value:+.3f} lower on {drop.n} items, upper bound {drop.high:+.3f}, margin {demand.margin:g}"
        f"{left_out(len(ours) - drop.n)}{lacks.said}"
    )
    return found_check(demand, name, drop, (verdict, reason), lacks.n)


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


def shown_worse(rows: Sequence[GateRow], criteria: PathCriteria, healthy: Cell | None, confidence: float) -> Check:
    """Whether any single path, fault or language is shown to be worse than the class may be; corrected by Holm."""
    looks = looks_of(rows)
    p_values = [worse_p(cell, criteria, healthy) for cell in looks]
    worse = [cell.name for cell, shown in zip(looks, holm(p_values, 1 - confidence), strict=True) if shown]
    verdict = Verdict.FAIL if worse else Verdict.PASS
    reason = f"{len(looks)} looked at, {len(worse)} shown to be worse{listed(worse)}"
    return Check(group=criteria.name, name="single paths, faults and languages", verdict=verdict, reason=reason)


def worse_p(cell: Cell, criteria: PathCriteria, healthy: Cell | None) -> float:
    """The smaller p-value of "no worse than the limit" and "no worse than the margin", doubled where both are asked."""
    items = cell.misleading_items()
    found = []
    if criteria.misleading is not None and items:
        found.append(binomial_tail_p(sum(items.values()), len(items), criteria.misleading))
    counts = paired_counts(items, healthy.misleading_items() if healthy else {})
    if criteria.misleading_margin is not None and counts.n:
        found.append(tango_above_p(counts, criteria.misleading_margin))
    return min(1.0, len(found) * min(found)) if found else 1.0


def against_run(
    rows: Sequence[GateRow], baseline: Sequence[GateRow], criteria: BaselineCriteria, confidence: float
) -> list[Check]:
    """The same requests in an earlier run: none may be missing, degraded answers may be no worse."""
    there, before = {row.trial_id for row in rows}, {row.trial_id for row in baseline}
    missing = sorted(before - there)
    complete = Check(
        group="baseline",
        name="every request of the baseline is there",
        verdict=Verdict.INCONCLUSIVE if missing else Verdict.PASS,
        reason=f"{len(missing)} of {len(before)} are missing{listed(missing)}",
        n=len(baseline),
    )
    compared = there & before & degraded_in_either(rows, baseline)
    now = answers_to("under faults", rows, compared)
    then = answers_to("the baseline", baseline, compared)
    misleading = Demand("baseline", criteria.min_n, criteria.misleading_margin, confidence)
    f1 = Demand("baseline", criteria.min_n, criteria.f1_margin, confidence)
    return [complete, misleading_gap(now, then, misleading), f1_drop(now, then, f1)]


def degraded_in_either(rows: Sequence[GateRow], baseline: Sequence[GateRow]) -> set[str]:
    """Requests under a fault whose answer was degraded in one of the two runs: the others tell nothing of plan B."""
    return {row.trial_id for row in (*rows, *baseline) if row.fault != NO_FAULT and not row.healthy}


def answers_to(name: str, rows: Sequence[GateRow], requests: set[str]) -> Cell:
    """What came back to these requests."""
    return Cell(name=name, rows=tuple(row for row in rows if not row.crashed and row.trial_id in requests))


def unpaired(demand: Demand, name: str, n: int) -> Check:
    reason = f"fewer than two of {n} items were answered on both sides; {demand.min_n} are needed"
    return Check(
        group=demand.group,
        name=name,
        verdict=Verdict.INCONCLUSIVE,
        reason=reason,
        n=0,
        limit=demand.margin,
        needed_n=demand.min_n,
    )


def left_out(count: int) -> str:
    return f" ({count} more have no counterpart)" if count else ""


def signed(share: float) -> str:
    return f"{100 * share:+.1f}%" if math.isfinite(share) else "unbounded"
