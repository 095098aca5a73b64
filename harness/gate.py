"""Whether a run may pass: judged rows and criteria in, a decision out (pure)."""

from collections.abc import Sequence

from harness.criteria import ANY, BaselineCriteria, Criteria, PathCriteria, Pool
from harness.decision import NOT_EXERCISED, Check, Decision, Verdict, decided
from harness.errors import ConfigError
from harness.gate_baseline import Injections, Judges, against_run
from harness.gate_cells import figures_of_cells
from harness.gate_differences import against_healthy
from harness.gate_languages import Languages, every_language
from harness.gate_limits import against_limits
from harness.gate_looks import looks
from harness.gate_row import Cell, GateRow, cells_of, grouped, require_one_scale
from harness.gate_run_level import heard, run_checks
from harness.trial import NO_FAULT, Block


def gate(
    rows: Sequence[GateRow],
    criteria: Criteria,
    *,
    blocks: Sequence[Block] = (),
    baseline: Sequence[GateRow] | None = None,
    leftovers: Sequence[str] = (),
    judges: Judges | None = None,
    injections: Injections | None = None,
    languages: Languages | None = None,
) -> Decision:
    """Decide on a run. `blocks`: what is known of its faults. `leftovers`: what was on before the run.
    `baseline`: the rows of an earlier run to compare with. `judges`: who judged the two, `injections`: what
    is known of the faults of the two, `languages`: those of the items; None: nothing is asked of it.

    Raises ResultError when scales are mixed, ConfigError when a baseline is given and the criteria say nothing of it.
    """
    require_one_scale([*rows, *(baseline or ())])
    under_fault = [row for row in rows if row.fault != NO_FAULT]
    if not any(row.label is not None or row.crashed for row in under_fault):
        return Decision(verdict=Verdict.NOTHING, summary="no answer under a fault was judged", checks=())
    listed = [row for row in rows if row.fault != NO_FAULT or not row.healthy]
    healthy = healthy_cell(rows) or healthy_cell(baseline or ())
    checks = run_checks(rows, criteria.run, blocks, leftovers) + heard([*rows, *(baseline or ())])
    checks += [every_language(rows, languages)] if languages else []
    checks += degraded_checks([row for row in rows if not row.healthy], criteria, healthy)
    if baseline is not None:
        checks += against_run(
            rows, baseline, baseline_criteria(criteria), criteria.run, judges=judges, injections=injections
        )
    return decided(checks, figures_of_cells(listed, criteria.run.confidence))


def healthy_cell(rows: Sequence[GateRow]) -> Cell | None:
    """The undisturbed answers that nothing degraded; None when there are none."""
    found = tuple(row for row in rows if row.fault == NO_FAULT and row.healthy and not row.crashed)
    return Cell(name="healthy", rows=found) if found else None


def degraded_checks(degraded: Sequence[GateRow], criteria: Criteria, healthy: Cell | None) -> list[Check]:
    """All checks of all classes. `degraded`: those under a fault and in the steady state, and what crashed."""
    served = grouped((row for row in degraded if not row.crashed), lambda row: criteria.class_of(row.judged_path).name)
    checks: list[Check] = []
    for each in criteria.classes:
        if of_class := served.get(each.name):
            checks += class_checks(each, of_class, healthy, criteria.run.confidence)
        else:
            checks.append(not_exercised(each, may_be_absent=each.optional and bool(served)))
    return checks


def not_exercised(criteria: PathCriteria, *, may_be_absent: bool) -> Check:
    """Nothing measured is never a pass, unless the criteria say so of this class and another one was measured."""
    paths = "of a path that no other class names" if ANY in criteria.match else f"of {', '.join(criteria.match)}"
    if may_be_absent:
        verdict, next_ = Verdict.PASS, "the criteria allow it (optional = true)"
    else:
        verdict = Verdict.INCONCLUSIVE
        next_ = "run an experiment that reaches one"
        if not criteria.optional:
            next_ += f", or say optional = true in [paths.{criteria.name}] of the criteria if there is none"
    reason = f"no degraded answer {paths}, so nothing is known of this class; {next_}"
    return Check(group=criteria.name, name=NOT_EXERCISED, verdict=verdict, reason=reason, n=0)


def class_checks(
    criteria: PathCriteria, rows: Sequence[GateRow], healthy: Cell | None, confidence: float
) -> list[Check]:
    """All checks of one class of paths."""
    checks: list[Check] = []
    for cell in cells_of(criteria.pool, criteria.name, rows):
        checks += against_limits(cell, criteria, confidence)
        checks += against_healthy(cell, criteria, healthy, confidence)
    if criteria.pool is not Pool.PATH_FAULT_LANGUAGE:
        checks += looks(rows, criteria, healthy, confidence)
    return checks


def baseline_criteria(criteria: Criteria) -> BaselineCriteria:
    if criteria.baseline is None:
        raise ConfigError("a baseline run is given, but the criteria have no [baseline] table to compare by")
    return criteria.baseline
