"""Checks against an earlier run: whole, judged by the same judge, and no worse in degraded answers (pure)."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.criteria import BaselineCriteria, Pool, RunCriteria
from harness.decision import Check, Verdict
from harness.gate_baseline_pairs import Pairs
from harness.gate_differences import Demand
from harness.gate_row import GateRow
from harness.gate_run_level import covered, listed
from harness.judge_identity import Identity, differing
from harness.stats import at_least

GROUP = "baseline"


class Judges(NamedTuple):
    """Who judged a run and who its baseline; empty where a file of scores does not say."""

    now: Identity
    then: Identity


def against_run(
    rows: Sequence[GateRow],
    baseline: Sequence[GateRow],
    criteria: BaselineCriteria,
    run: RunCriteria,
    judges: Judges | None = None,
) -> list[Check]:
    """The same requests in an earlier run: none may be missing or unjudged, degraded answers may be no worse."""
    there, before = {row.trial_id for row in rows}, {row.trial_id for row in baseline}
    misleading = Demand(GROUP, criteria.min_n, criteria.misleading_margin, run.confidence)
    f1 = Demand(GROUP, criteria.min_n, criteria.f1_margin, run.confidence)
    pairs = Pairs.of(rows, baseline)
    return [
        complete(there, before),
        judged_then(baseline, run.min_coverage),
        *([same_judge(judges)] if judges else []),
        *pairs.differences(criteria.pool, misleading, f1),
        *(pairs.looks(misleading, f1) if criteria.pool is not Pool.PATH_FAULT_LANGUAGE else ()),
    ]


def complete(there: set[str], before: set[str]) -> Check:
    missing = sorted(before - there)
    verdict = Verdict.INCONCLUSIVE if missing else Verdict.PASS
    reason = f"{len(missing)} of {len(before)} are missing{listed(missing)}"
    return Check(
        group=GROUP, name="every request of the baseline is there", verdict=verdict, reason=reason, n=len(before)
    )


def judged_then(baseline: Sequence[GateRow], min_coverage: float) -> Check:
    """Inconclusive where the baseline was not judged as wholly as a run has to be."""
    share, reason = covered(baseline)
    verdict = Verdict.PASS if at_least(share, min_coverage) else Verdict.INCONCLUSIVE
    if verdict is Verdict.INCONCLUSIVE:
        reason += "; `--judge-again` judges both runs anew"
    return Check(
        group=GROUP,
        name="every answer of the baseline is judged",
        verdict=verdict,
        reason=reason,
        value=share,
        limit=min_coverage,
    )


def same_judge(judges: Judges) -> Check:
    """Inconclusive where two judges are shown, or one of the two is not known: their labels do not compare."""
    name = "the same judge judged both runs"
    if bool(judges.now) != bool(judges.then):
        whose = "the baseline" if judges.now else "this run"
        reason = f"the scores of {whose} do not say whose they are; `--judge-again` judges both runs anew"
        return Check(group=GROUP, name=name, verdict=Verdict.INCONCLUSIVE, reason=reason)
    if parts := differing(judges.now, judges.then):
        reason = f"the judges differ in: {', '.join(parts)}; `--judge-again` judges both runs anew"
        return Check(group=GROUP, name=name, verdict=Verdict.INCONCLUSIVE, reason=reason)
    reason = "no part of it differs" if judges.now else "neither run says who judged it"
    return Check(group=GROUP, name=name, verdict=Verdict.PASS, reason=reason)
