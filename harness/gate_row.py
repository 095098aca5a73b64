"""What the gate looks at: one judged answer per row, and rows grouped into cells (pure)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeGuard

from harness.criteria import Pool
from harness.errors import ResultError
from harness.fidelity.case import Label
from harness.gate_scale import Scale
from harness.stats import mean

HEALTHY_PATH = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One request with its judgement. None: not judged, not measured."""

    path: str  # the path that served; "healthy" where nothing was degraded
    withheld: str | None = (
        None  # the model path whose answer the gateway did not trust and put an abstention in place of
    )
    fault: str  # "none" in the steady state
    lang: str
    item_id: str
    label: Label | None
    bertscore_f1: float | None
    healthy: bool  # marked as undegraded
    trial_id: str = ""
    answer: str | None = None
    served: str | None = None  # the path that the record names, of healthy answers, too
    model: str | None = None  # that served, as the answer names it
    crashed: bool = False  # 5xx, a body that is no answer, or nothing at all
    recorded: bool = True  # carried a degradation record
    scale: Scale | None = Scale.OWN  # of bertscore_f1; None: 0 on any, the answer is empty
    unheard: bool = False  # not judged: the judge model that was to be asked gave no opinion

    @property
    def judged_path(self) -> str:
        """The path that this row tells about: a model path answers for what was withheld of it, too."""
        return self.withheld if self.withheld and self.abstained else self.path

    @property
    def misleading(self) -> bool:
        return self.label is Label.MISLEADING

    @property
    def abstained(self) -> bool:
        return self.label is Label.ABSTAINED

    @property
    def measured(self) -> bool:
        """Judged, and scored where there is something to score."""
        return self.label is not None and (self.abstained or usable(self.bertscore_f1))


def usable(score: float | None) -> TypeGuard[float]:
    return score is not None and math.isfinite(score)


def require_one_scale(rows: Iterable[GateRow]) -> None:
    """Raises ResultError for a score above 1: 0 to 1 and 0 to 100 were mixed."""
    for row in rows:
        if usable(row.bertscore_f1) and row.bertscore_f1 > 1 + 1e-6:
            raise ResultError(
                f"{row.trial_id or row.item_id}: bertscore_f1 is {row.bertscore_f1}; scores are in [0, 1], "
                "so scales were mixed"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Answers that are judged together."""

    name: str
    rows: tuple[GateRow, ...]

    def by_item(self) -> Mapping[str, Sequence[GateRow]]:
        """Rows per item: the unit of every count."""
        return grouped(self.rows, lambda row: row.item_id)

    def misleading_items(self) -> dict[str, bool]:
        """Per item with a judged answer: whether any of its answers misleads."""
        return self.labelled_items(Label.MISLEADING)

    def labelled_items(self, label: Label) -> dict[str, bool]:
        """Per item with a judged answer: whether any of its answers is such."""
        judged = {item: [row for row in rows if row.label is not None] for item, rows in self.by_item().items()}
        return {item: any(row.label is label for row in rows) for item, rows in judged.items() if rows}

    def unjudged_items(self) -> set[str]:
        """Items with an answer that was not judged."""
        return {row.item_id for row in self.rows if row.label is None}

    def scales(self) -> frozenset[Scale]:
        """Those of the scores in `f1_of_items`."""
        scored = (row for row in self.rows if row.label is not None and not row.abstained and usable(row.bertscore_f1))
        return frozenset(row.scale for row in scored if row.scale is not None)

    def f1_of_items(self, unmeasured: float | None = None) -> dict[str, float]:
        """Mean F1 per item over its answers that did not abstain.

        `unmeasured` stands for what was not judged or not measured; None: such answers are left out.
        """
        found = {}
        for item, rows in self.by_item().items():
            scores = [row.bertscore_f1 if row.measured else unmeasured for row in rows if not row.abstained]
            known = [score for score in scores if score is not None]
            if known:
                found[item] = mean(known)
        return found

    def unmeasured_items(self) -> set[str]:
        """Items with an answer that was not judged, or not measured."""
        return {row.item_id for row in self.rows if not row.measured}


def grouped(rows: Iterable[GateRow], key: Callable[[GateRow], str]) -> dict[str, list[GateRow]]:
    """Rows by a key, keys in order."""
    return {name: list(group) for name, group in groupby(sorted(rows, key=key), key=key)}


def cells_of(pool: Pool, whole: str, rows: Sequence[GateRow]) -> list[Cell]:
    """The cells that are decided on. `whole`: the name of all of them together."""
    keys: Mapping[Pool, Callable[[GateRow], str]] = {
        Pool.CLASS: lambda _: whole,
        Pool.PATH: lambda row: row.judged_path,
        Pool.PATH_FAULT: lambda row: f"{row.judged_path} under {row.fault}",
        Pool.PATH_FAULT_LANGUAGE: finest,
    }
    return [Cell(name=name, rows=tuple(found)) for name, found in grouped(rows, keys[pool]).items()]


def finest(row: GateRow) -> str:
    """One path under one fault in one language."""
    return f"{row.judged_path} under {row.fault} in {row.lang}"


def looks_of(rows: Sequence[GateRow]) -> list[Cell]:
    """Every path, path under a fault, language, and path under a fault in a language, to be looked at on its own."""
    keys: tuple[Callable[[GateRow], str], ...] = (
        lambda row: f"path {row.judged_path}",
        lambda row: f"path {row.judged_path} under {row.fault}",
        lambda row: f"language {row.lang}",
        lambda row: f"path {finest(row)}",
    )
    found = [Cell(name=name, rows=tuple(group)) for key in keys for name, group in grouped(rows, key).items()]
    distinct = {cell.rows: cell for cell in reversed(found)}  # a path with one fault is one look, not two
    return [cell for cell in found if distinct[cell.rows] is cell]
