"""Checks against an earlier run: whole, judged by the same judge, and no worse in degraded answers (pure)."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.criteria import BaselineCriteria, Pool, RunCriteria
from harness.decision import Check, Verdict
from harness.gate_baseline_pairs import Pairs
from harness.gate_differences import Demand
from harness.gate_row import GateRow
from harness.gate_run_level import covered, unproved
from harness.gate_words import listed
from harness.judge_identity import Identity, differing
from harness.stats import at_least
from harness.trial import NO_FAULT, Block

GROUP = "baseline"


class Injections(NamedTuple):
    """What is known of the faults of a run and of its baseline."""

    now: Sequence[Block]
    then: Sequence[Block]
    leftovers_then: Sequence[str] = ()  # what was on before the baseline began


class Judges(NamedTuple):
    """Who judged a run and who its baseline; empty where a file of scores does not say."""

    now: Identity
    then: Identity


def against_run(
    rows: Sequence[GateRow],
    baseline: Sequence[GateRow],
    criteria: BaselineCriteria,
    run: RunCriteria,
    *,
    judges: Judges | None = None,
    injections: Injections | None = None,
) -> list[Check]:
    """The same requests in an earlier run: none may be missing or unjudged, degraded answers may be no worse.

    Nothing is compared with a baseline that proves nothing, or that met other faults.
    """
    there, before = {row.trial_id for row in rows}, {row.trial_id for row in baseline}
    misleading = Demand(GROUP, criteria.min_n, criteria.misleading_margin, run.confidence)
    f1 = Demand(GROUP, criteria.min_n, criteria.f1_margin, run.confidence)
    worth = [same_faults(rows, baseline, injections), *([proved(baseline, injections)] if injections else [])]
    first = [
        complete(there, before),
        judged_then(baseline, run.min_coverage),
        *([same_judge(judges)] if judges else []),
        *worth,
    ]
    if any(check.verdict is not Verdict.PASS for check in worth):
        return first
    pairs = Pairs.of(rows, baseline)
    return [
        *first,
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


def proved(baseline: Sequence[GateRow], injections: Injections) -> Check:
    """Inconclusive where the baseline's own faults prove nothing: it is no measure of what they do."""
    problems = unproved(baseline, injections.then)
    problems += [f"{block.id}: {block.error}" for block in injections.then if block.fault == NO_FAULT and block.error]
    problems += [f"{name}: was on when it began" for name in injections.leftovers_then]
    verdict = Verdict.INCONCLUSIVE if problems else Verdict.PASS
    reason = f"not proved{listed(problems)}; nothing is compared: make another baseline run" if problems else "all did"
    return Check(group=GROUP, name="every fault of the baseline fired", verdict=verdict, reason=reason)


def same_faults(rows: Sequence[GateRow], baseline: Sequence[GateRow], injections: Injections | None) -> Check:
    """Inconclusive where a request, or an experiment, met another fault or target in the baseline."""
    ours = {row.trial_id: row.fault for row in rows}
    other = sorted(
        {
            f"{row.trial_id}: {ours[row.trial_id]} now, {row.fault} then"
            for row in baseline
            if ours.get(row.trial_id, row.fault) != row.fault
        }
    )
    now, then = (targets(blocks) for blocks in (injections.now, injections.then)) if injections else ({}, {})
    moved = [name for name in sorted(now.keys() & then.keys()) if now[name] != then[name]]
    other += [f"{name}: on {now[name]} now, on {then[name]} then" for name in moved]
    verdict = Verdict.INCONCLUSIVE if other else Verdict.PASS
    reason = f"{len(other)} did not{listed(other)}; nothing is compared" if other else "each did"
    return Check(group=GROUP, name="every request met the same fault in both runs", verdict=verdict, reason=reason)


def targets(blocks: Sequence[Block]) -> dict[str, str | None]:
    """The backend that each experiment hit."""
    return {block.experiment: block.target for block in blocks if block.fault != NO_FAULT}


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
