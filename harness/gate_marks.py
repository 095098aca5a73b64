"""Whether degraded answers say so: those that call themselves healthy under a fault, against the undisturbed (pure)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

from harness.criteria import RunCriteria
from harness.decision import Check, Verdict
from harness.gate_row import GateRow, grouped
from harness.gate_words import listed
from harness.stats import mean
from harness.trial import NO_FAULT

ALLEGED = "answers marked healthy mislead no more than undisturbed ones"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """The answers without a fault that nothing degraded: what a healthy answer looks like."""

    paths: frozenset[str | None]  # that their records name; None: they name none
    models: frozenset[str]  # that served; empty where no answer says
    answers: Mapping[str, Sequence[GateRow]]  # judged ones, by item

    @classmethod
    def of(cls, rows: Sequence[GateRow]) -> Self:
        found = [row for row in rows if row.fault == NO_FAULT and row.healthy and not row.crashed]
        return cls(
            paths=frozenset(row.served for row in found),
            models=frozenset(row.model for row in found if row.model),
            answers=grouped((row for row in found if row.label is not None), lambda row: row.item_id),
        )

    def served_otherwise(self, row: GateRow) -> bool:
        """Whether no undisturbed answer came by this path, or from this model."""
        path = bool(row.served and self.paths) and row.served not in self.paths
        return path or (bool(row.model and self.models) and row.model not in self.models)

    def rate(self, row: GateRow) -> float | None:
        """Share of the undisturbed answers to the same item that mislead; None: there are none."""
        found = self.answers.get(row.item_id)
        return mean([float(one.misleading) for one in found]) if found else None

    def turned(self, row: GateRow) -> bool:
        """Whether it misleads, where no undisturbed answer to the item does, and says something else than they."""
        same = any(one.answer == row.answer for one in self.answers.get(row.item_id, ()))
        return row.misleading and self.rate(row) == 0 and not same


def mark_checks(rows: Sequence[GateRow], criteria: RunCriteria) -> list[Check]:
    """Answers without a mark and, where a fault left any that call themselves healthy, whether these are."""
    undisturbed = Undisturbed.of(rows)
    answers = [row for row in rows if not row.crashed]
    alleged = [row for row in answers if row.fault != NO_FAULT and row.healthy]
    other = [row for row in alleged if undisturbed.served_otherwise(row)]
    unmarked = [row.trial_id for row in answers if not row.recorded] + [row.trial_id for row in other]
    checks = [marked(unmarked, len(other), criteria.max_unmarked)]
    if like := [row for row in alleged if not undisturbed.served_otherwise(row)]:
        checks.append(as_healthy(like, undisturbed, criteria, allowed=criteria.max_unmarked - len(unmarked)))
    return checks


def marked(unmarked: Sequence[str], other: int, allowed: int) -> Check:
    verdict = Verdict.PASS if len(unmarked) <= allowed else Verdict.FAIL
    reason = f"{len(unmarked)} degraded answers carried no mark{listed(unmarked)}; allowed {allowed}"
    if other:
        reason += f"; {other} are marked healthy, by a path or a model that no undisturbed answer has"
    name = "every degraded answer is marked"
    return Check(
        group="run", name=name, verdict=verdict, reason=reason, value=float(len(unmarked)), limit=float(allowed)
    )


def as_healthy(alleged: Sequence[GateRow], undisturbed: Undisturbed, criteria: RunCriteria, *, allowed: int) -> Check:
    """Fails where answers marked healthy are shown to mislead more often than undisturbed ones to the same items.

    Undecided where some are suspect and it is not shown, or mislead and have no undisturbed answer beside them:
    one other wording of a sound model is no proof, and a few lies are no pass.
    """
    suspect = [row.trial_id for row in alleged if undisturbed.turned(row)]
    alone = [row.trial_id for row in alleged if row.misleading and undisturbed.rate(row) is None]
    p = more_misleading_p(alleged, undisturbed)
    verdict, reason = (
        Verdict.PASS,
        f"{len(suspect)} of {len(alleged)} answers mislead where the undisturbed one does not",
    )
    if len(suspect) > max(0, allowed) and p <= 1 - criteria.confidence:
        verdict = Verdict.FAIL
        reason += f"{listed(suspect)}: they are degraded, and do not say so"
    elif len(suspect) + len(alone) > max(0, allowed):
        verdict = Verdict.INCONCLUSIVE
        reason += f"{listed(suspect)}: too few to show it (p {p:.2f}); read them, or run more items" if suspect else ""
        reason += without_counterpart(alone)
    return Check(group="run", name=ALLEGED, verdict=verdict, reason=reason, n=len({row.item_id for row in alleged}))


def without_counterpart(alone: Sequence[str]) -> str:
    if not alone:
        return ""
    return (
        f"; {len(alone)} mislead and have no judged undisturbed answer beside them{listed(alone)}: send the same items "
        "without a fault, too (`chaos.steady()` in a suite)"
    )


def more_misleading_p(alleged: Sequence[GateRow], undisturbed: Undisturbed) -> float:
    """p-value of "they mislead no more often than undisturbed answers to the same items".

    With one answer to an item it is Tango's at margin 0; several to an item, under several faults, count as one
    cluster (Obuchowski's form of McNemar's test), so that one odd item proves nothing however often it was sent.
    """
    excess = []
    for answers in grouped((row for row in alleged if row.label is not None), lambda row: row.item_id).values():
        rate = undisturbed.rate(answers[0])
        if rate is not None:
            excess.append(math.fsum(row.misleading - rate for row in answers))
    spread = math.sqrt(math.fsum(one * one for one in excess))
    return 1 - NormalDist().cdf(math.fsum(excess) / spread) if spread else 1.0
