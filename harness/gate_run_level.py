"""Checks of a run as a whole: crashes, marks, faults, coverage (pure)."""

from collections.abc import Sequence
from typing import NamedTuple

from harness.criteria import RunCriteria
from harness.decision import Check, Verdict
from harness.gate_marks import mark_checks
from harness.gate_row import GateRow
from harness.gate_words import listed
from harness.stats import at_least
from harness.trial import NO_FAULT, Block


class Covered(NamedTuple):
    """How much of the answers was judged and measured."""

    share: float  # in [0, 1]
    said: str


def run_checks(
    rows: Sequence[GateRow], criteria: RunCriteria, blocks: Sequence[Block], leftovers: Sequence[str] = ()
) -> list[Check]:
    """`leftovers`: faults of somebody else's that were on when the run began."""
    return [
        crashes(rows, criteria),
        *mark_checks(rows, criteria),
        faults(rows, blocks),
        *unended(blocks),
        *([began_clean(leftovers)] if leftovers else []),
        recovery(blocks),
        coverage(rows, criteria),
    ]


def crashes(rows: Sequence[GateRow], criteria: RunCriteria) -> Check:
    found = [row.trial_id for row in rows if row.crashed]
    verdict = Verdict.PASS if len(found) <= criteria.max_crashes else Verdict.FAIL
    reason = (
        f"{len(found)} of {len(rows)} requests got a 5xx or no answer{listed(found)}; allowed {criteria.max_crashes}"
    )
    return run_check("every request is answered", verdict, reason, value=len(found), limit=criteria.max_crashes)


def faults(rows: Sequence[GateRow], blocks: Sequence[Block]) -> Check:
    """Inconclusive when a fault did not fire, met no steady state, or nothing is known of it."""
    with_fault = [block for block in blocks if block.fault != NO_FAULT]
    problems = unproved(rows, blocks)
    verdict = Verdict.INCONCLUSIVE if problems else Verdict.PASS
    reason = (
        f"{len(with_fault) - len(problems)} of {len(with_fault)} injections proved themselves"
        if not problems
        else (f"not proved{listed(problems)}")
    )
    again = [f"{block.id}: {block.attempts} attempts" for block in blocks if block.attempts > 1]
    reason += f"; begun again{listed(again)}" if again else ""
    return run_check("every fault fired", verdict, reason, value=len(problems), limit=0)


def unproved(rows: Sequence[GateRow], blocks: Sequence[Block]) -> list[str]:
    """Why faults do not count as fired: what is wrong with a block, or that no block tells of a fault at all."""
    with_fault = [block for block in blocks if block.fault != NO_FAULT]
    known = {block.fault for block in with_fault}
    problems = [f"{block.id}: {problem}" for block in with_fault if (problem := problem_of(block))]
    return problems + sorted(
        {f"{row.fault}: no proof" for row in rows if row.fault != NO_FAULT and row.fault not in known}
    )


def unended(blocks: Sequence[Block]) -> list[Check]:
    """Inconclusive where a block did not come to its end: what it would have shown is not known."""
    cut = [f"{block.id}: {block.error}" for block in blocks if block.cut_short]
    reason = f"{len(cut)} did not{listed(cut)}"
    return [run_check("every block ended", Verdict.INCONCLUSIVE, reason, value=len(cut), limit=0)] if cut else []


def problem_of(block: Block) -> str | None:
    if block.error:
        return block.error
    if block.stopped:
        return f"stopped: {block.stopped}"
    if not block.fired:
        return "did not fire"
    return None if block.steady else "no steady state before it"


def began_clean(leftovers: Sequence[str]) -> Check:
    """Inconclusive: what an earlier run left on may have harmed any answer."""
    reason = f"{len(leftovers)} faults were on when the run began{listed(leftovers)}"
    return run_check("nothing was on before", Verdict.INCONCLUSIVE, reason, value=len(leftovers), limit=0)


def recovery(blocks: Sequence[Block]) -> Check:
    stuck = [block.id for block in blocks if block.fault != NO_FAULT and block.recovered is False]
    verdict = Verdict.FAIL if stuck else Verdict.PASS
    reason = (
        f"the primary did not answer again{listed(stuck)}" if stuck else "the primary answered again after each fault"
    )
    return run_check("every fault is recovered from", verdict, reason, value=len(stuck), limit=0)


def coverage(rows: Sequence[GateRow], criteria: RunCriteria) -> Check:
    share, reason = covered(rows)
    verdict = Verdict.PASS if at_least(share, criteria.min_coverage) else Verdict.INCONCLUSIVE
    return run_check("every answer is judged", verdict, reason, value=share, limit=criteria.min_coverage)


def covered(rows: Sequence[GateRow]) -> Covered:
    """The share of answers that were judged and measured, and how to say it."""
    answered = [row for row in rows if not row.crashed]
    missing = [row.trial_id for row in answered if not row.measured]
    share = 1 - len(missing) / len(answered) if answered else 0.0
    measured = len(answered) - len(missing)
    return Covered(share, f"{measured} of {len(answered)} answers judged and measured{listed(missing, 'missing')}")


def heard(rows: Sequence[GateRow]) -> list[Check]:
    """Inconclusive where a judge model gave no opinion: what it would have called misleading is not known.

    However few they are: in a paired difference one missing answer can hide another one's fault.
    """
    missing = [row.trial_id for row in rows if row.unheard]
    if not missing:
        return []
    reason = f"it has no opinion on {len(missing)} of {len(rows)} answers{listed(missing)}; `--judge-again` asks anew"
    return [run_check("the judge model was heard", Verdict.INCONCLUSIVE, reason, value=len(missing), limit=0)]


def run_check(name: str, verdict: Verdict, reason: str, *, value: float, limit: float) -> Check:
    return Check(group="run", name=name, verdict=verdict, reason=reason, value=float(value), limit=float(limit))
