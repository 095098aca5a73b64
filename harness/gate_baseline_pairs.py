"""Degraded answers of a run, each beside the answer to the same request in an earlier run (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from harness.criteria import Pool
from harness.decision import Check
from harness.gate_differences import Demand, f1_drop, misleading_gap
from harness.gate_looks import MISLEADS, shown
from harness.gate_row import Cell, GateRow, cells_of, looks_of
from harness.gate_scale import unscaled
from harness.stats import LEAST_MEAN_ITEMS, holm, paired_counts, student_below_p, tango_above_p

WHOLE = "under faults"
LOWER = "F1 of each path, fault and language"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Requests whose answer was degraded in one of the two runs: the others tell nothing of plan B."""

    now: tuple[GateRow, ...]  # on the path of this run; on that of the baseline where nothing is degraded any more
    then: Mapping[str, GateRow]  # by trial

    @classmethod
    def of(cls, rows: Sequence[GateRow], baseline: Sequence[GateRow]) -> Self:
        """The requests that both runs sent. What crashed is no answer."""
        ours, theirs = ({row.trial_id: row for row in each} for each in (rows, baseline))
        plan_b = {row.trial_id for row in (*rows, *baseline) if not row.healthy and not row.crashed}
        both = ours.keys() & theirs.keys() & plan_b
        then = {trial: theirs[trial] for trial in both if not theirs[trial].crashed}
        now = (row for trial, row in ours.items() if trial in both and not row.crashed)
        return cls(now=tuple(placed(row, then.get(row.trial_id)) for row in now), then=then)

    def differences(self, pool: Pool, misleading: Demand, f1: Demand) -> list[Check]:
        """Each cell has to be shown to be no worse; without any answer that is undecided."""
        checks = []
        for cell in cells_of(pool, WHOLE, self.now) or [Cell(name=WHOLE, rows=())]:
            checks += [misleading_gap(cell, self.before(cell), misleading), f1_drop(*self.scored(cell), f1)]
        return checks

    def looks(self, misleading: Demand, f1: Demand) -> list[Check]:
        """Each path, fault and language on its own: is one shown to be worse. Two kinds, each corrected by Holm."""
        cells, level = looks_of(self.now), 1 - misleading.confidence
        worse = [self.worse_p(cell, misleading.margin) for cell in cells]
        lower = [self.lower_p(cell, f1.margin) for cell in cells]
        return [
            shown(misleading.group, MISLEADS, cells, holm(worse, level)),
            shown(f1.group, LOWER, cells, holm(lower, level)),
        ]

    def worse_p(self, cell: Cell, margin: float) -> float:
        """p-value of "misleads at most `margin` more often than the same requests did"."""
        counts = paired_counts(cell.misleading_items(), self.before(cell).misleading_items())
        return tango_above_p(counts, margin) if counts.n else 1.0

    def lower_p(self, cell: Cell, margin: float) -> float:
        """p-value of "F1 is at most `margin` lower"; 1.0 for fewer items than say something of a mean."""
        ours, theirs = self.scored(cell)
        now, then = ours.f1_of_items(), theirs.f1_of_items()
        rises = [now[item] - then[item] for item in now if item in then]
        if len(rises) < LEAST_MEAN_ITEMS or unscaled(ours.scales() | theirs.scales()):
            return 1.0
        return student_below_p(rises, -margin)

    def before(self, cell: Cell) -> Cell:
        """The baseline's answers to the same requests."""
        found = (self.then[row.trial_id] for row in cell.rows if row.trial_id in self.then)
        return Cell(name="the baseline", rows=tuple(found))

    def scored(self, cell: Cell) -> tuple[Cell, Cell]:
        """Both, without the requests to which only one of the two abstained: a mean has to be over the same."""
        before = self.before(cell)
        apart = {row.trial_id for row in cell.rows if row.abstained} ^ {
            row.trial_id for row in before.rows if row.abstained
        }
        return without(cell, apart), without(before, apart)


def placed(row: GateRow, then: GateRow | None) -> GateRow:
    """An answer that nothing degraded any more stands where that of the baseline stood."""
    return replace(row, path=then.judged_path) if row.healthy and then is not None else row


def without(cell: Cell, trials: set[str]) -> Cell:
    return replace(cell, rows=tuple(row for row in cell.rows if row.trial_id not in trials))
