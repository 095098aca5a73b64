"""What a gate can say, and the checks that it is made of."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Verdict(StrEnum):
    """A run is as good as its worst check."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"  # too few items, a fault that did not fire, a score that is missing
    NOTHING = "NOTHING"  # nothing was judged


MEANING = MappingProxyType(
    {
        Verdict.PASS: "Plan B is shown to mislead no more than the gate allows.",
        Verdict.FAIL: "Do not release: plan B breaks what the gate demands.",
        Verdict.INCONCLUSIVE: "Not shown either way: this is neither a pass nor a failure.",
        Verdict.NOTHING: "Nothing was judged: this says nothing about plan B.",
    }
)
NEXT = MappingProxyType(
    {
        Verdict.PASS: "No worse than plan A is not yet good: the answers that still mislead are in the report.",
        Verdict.FAIL: "The failed checks and the worst answers in the report say what to change in the policy; "
        "then run again.",
        Verdict.INCONCLUSIVE: "Each undecided check says what it lacks: more items (--items, and no --quick), "
        "or a fault that has to fire.",
        Verdict.NOTHING: "What was wrong stands beside it.",
    }
)
NOT_EXERCISED = "not exercised"  # the check that stands for a class of which nothing was measured
EXIT_CODES = MappingProxyType({Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.INCONCLUSIVE: 3, Verdict.NOTHING: 2})


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One criterion and what was measured. None: does not apply."""

    group: str  # "run", or the class of paths
    name: str
    verdict: Verdict
    reason: str  # one line with the figures
    n: int | None = None  # distinct items it rests on
    value: float | None = None
    bound: float | None = None  # the one-sided bound that was compared
    limit: float | None = None
    needed_n: int | None = None  # items that would decide it

    @property
    def title(self) -> str:
        """The name with its group, once."""
        return titled(self.group, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFigures:
    """One path under one fault in one language, in figures; it is judged as its class pools it. None: not measured."""

    path: str
    fault: str
    lang: str
    n: int  # distinct items with a judged answer
    misleading: int  # of them
    misleading_high: float | None  # upper bounds
    abstained: int
    abstained_high: float | None
    f1_n: int  # distinct items that were answered and measured
    f1: float | None
    f1_low: float | None  # lower bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict of a run."""

    verdict: Verdict
    summary: str
    checks: tuple[Check, ...]
    cells: tuple[CellFigures, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Plain values for `verdict.json`."""
        return {
            "verdict": self.verdict.value,
            "exit_code": self.exit_code,
            "summary": self.summary,
            "checks": [{**asdict(check), "verdict": check.verdict.value} for check in self.checks],
            "cells": [asdict(cell) for cell in self.cells],
        }


def titled(group: str, name: str) -> str:
    """The name of a check with its group, which some names already begin with."""
    return name if name.startswith(f"{group}: ") else f"{group}: {name}"


def decided(checks: Sequence[Check], cells: Sequence[CellFigures] = ()) -> Decision:
    """The worst check decides; no check at all is NOTHING."""
    failed = [check for check in checks if check.verdict is Verdict.FAIL]
    open_ones = [check for check in checks if check.verdict is Verdict.INCONCLUSIVE]
    if not checks:
        return Decision(verdict=Verdict.NOTHING, summary="nothing was judged", checks=())
    if failed:
        verdict, summary = Verdict.FAIL, summary_of("failed", failed, len(checks))
    elif open_ones:
        verdict, summary = Verdict.INCONCLUSIVE, summary_of("could not be decided", open_ones, len(checks))
    else:
        idle = [check.group for check in checks if check.name == NOT_EXERCISED]
        told = f"; {NOT_EXERCISED}: {', '.join(idle)}" if idle else ""
        verdict, summary = Verdict.PASS, f"all {len(checks) - len(idle)} checks passed{told}"
    return Decision(verdict=verdict, summary=summary, checks=tuple(checks), cells=tuple(cells))


def summary_of(what: str, checks: Sequence[Check], total: int) -> str:
    first = checks[0]
    return f"{len(checks)} of {total} checks {what}: {first.title}: {first.reason}"
