"""What was measured of each path under each fault in each language, however the criteria pool them (pure)."""

from collections.abc import Sequence

from harness.decision import CellFigures
from harness.fidelity.case import Label
from harness.gate_row import Cell, GateRow, finest, grouped
from harness.gate_scale import unscaled
from harness.stats import clopper_pearson, student_mean


def figures_of_cells(rows: Sequence[GateRow], confidence: float) -> list[CellFigures]:
    """Counts are of items; bounds are one-sided and of each cell alone."""
    answered = [row for row in rows if not row.crashed]
    return [
        figures(Cell(name=name, rows=tuple(group)), confidence) for name, group in grouped(answered, finest).items()
    ]


def figures(cell: Cell, confidence: float) -> CellFigures:
    first = cell.rows[0]
    misleading, abstained = (cell.labelled_items(label) for label in (Label.MISLEADING, Label.ABSTAINED))
    scores = [] if unscaled(cell.scales()) else list(cell.f1_of_items().values())
    f1 = student_mean(scores, confidence) if scores else None
    return CellFigures(
        path=first.judged_path,
        fault=first.fault,
        lang=first.lang,
        n=len(misleading),
        misleading=sum(misleading.values()),
        misleading_high=upper(misleading, confidence),
        abstained=sum(abstained.values()),
        abstained_high=upper(abstained, confidence),
        f1_n=len(scores),
        f1=f1.value if f1 else None,
        f1_low=max(0.0, f1.low) if f1 and f1.n > 1 else None,
    )


def upper(items: dict[str, bool], confidence: float) -> float | None:
    return clopper_pearson(sum(items.values()), len(items), confidence).high if items else None
