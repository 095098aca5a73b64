"""Single paths, faults and languages within answers that are judged together: is one shown to be worse (pure)."""

from collections.abc import Sequence
from dataclasses import replace

from harness.criteria import PathCriteria
from harness.decision import Check, Verdict
from harness.fidelity.case import Label
from harness.gate_row import Cell, GateRow, looks_of
from harness.gate_scale import unscaled
from harness.gate_words import listed
from harness.stats import LEAST_MEAN_ITEMS, binomial_tail_p, holm, paired_counts, student_below_p, tango_above_p

MISLEADS = "single paths, faults and languages"
LACKS = "withheld, or F1, of each path, fault and language"


def looks(rows: Sequence[GateRow], criteria: PathCriteria, healthy: Cell | None, confidence: float) -> list[Check]:
    """The looks of one class: at what misleads and, where the criteria limit it, at what is withheld or says little.

    Each of the two is corrected by Holm for itself, so that the one does not weaken the other.
    """
    cells = looks_of(rows)
    misleading = [worse_p(cell, criteria, healthy) for cell in cells]
    found = [shown(criteria.name, MISLEADS, cells, holm(misleading, 1 - confidence))]
    found[0] = replace(found[0], reason=f"{found[0].reason}{incomparable(cells, criteria, healthy)}")
    if criteria.abstention is not None or criteria.f1 is not None:
        lacking = [lacking_p(cell, criteria) for cell in cells]
        found.append(shown(criteria.name, LACKS, cells, holm(lacking, 1 - confidence)))
    return found


def shown(group: str, name: str, cells: Sequence[Cell], stands: Sequence[bool]) -> Check:
    """Fails where one cell stands out after the correction."""
    worse = [cell.name for cell, one in zip(cells, stands, strict=True) if one]
    verdict = Verdict.FAIL if worse else Verdict.PASS
    reason = f"{len(cells)} looked at, {len(worse)} shown to be worse{listed(worse)}"
    return Check(group=group, name=name, verdict=verdict, reason=reason)


def incomparable(cells: Sequence[Cell], criteria: PathCriteria, healthy: Cell | None) -> str:
    """The looks that could show nothing: no limit of their own, and no item with a counterpart."""
    if criteria.misleading is not None or criteria.misleading_margin is None:
        return ""
    known = healthy.misleading_items().keys() if healthy else set()
    found = [cell.name for cell in cells if known.isdisjoint(cell.misleading_items())]
    return f"; {len(found)} without any healthy counterpart{listed(found)}" if found else ""


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


def lacking_p(cell: Cell, criteria: PathCriteria) -> float:
    """The smaller p-value of "withholds no more than the limit" and "F1 is at the floor", doubled where both are asked.

    F1 is looked at from `min_n` items on, and ten: Student's distribution says little of fewer.
    """
    found = []
    abstained = cell.labelled_items(Label.ABSTAINED)
    if criteria.abstention is not None and abstained:
        found.append(binomial_tail_p(sum(abstained.values()), len(abstained), criteria.abstention))
    scores = [] if criteria.f1 is None or unscaled(cell.scales()) else list(cell.f1_of_items().values())
    if criteria.f1 is not None and len(scores) >= max(LEAST_MEAN_ITEMS, criteria.min_n):
        found.append(student_below_p(scores, criteria.f1))
    return min(1.0, len(found) * min(found)) if found else 1.0
