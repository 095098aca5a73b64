"""The rows that a report is drawn from: each trial with its judgement and its item. Pure once they are read."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsets.item import Item
from gateway.damaged import why
from harness.errors import NothingJudged, ResultError
from harness.judge import JUDGE_FILE, SCORES_FILE, read_scores
from harness.judged_again import scores_that_count, verdict_that_counts
from harness.observables import FILE
from harness.store import RunFolder
from harness.trial import NO_FAULT, Block, Trial

MISLEADING = "misleading"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTrial:
    """One request, and what the judge said of its answer. None: not judged."""

    trial: Trial
    item: Item | None
    label: str | None = None
    risk: float | None = None
    reasons: tuple[str, ...] = ()
    bertscore_f1: float | None = None
    cosine: float | None = None

    @property
    def path(self) -> str:
        """The path that served, or what happened instead."""
        if self.trial.path:
            return self.trial.path
        return "healthy" if self.trial.level == "healthy" else str(self.trial.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """All answers of one path under one fault."""

    path: str
    fault: str
    rows: tuple[JudgedTrial, ...]

    def count(self, label: str) -> int:
        return sum(row.label == label for row in self.rows)

    @property
    def n(self) -> int:
        return len(self.rows)

    def latencies_ms(self) -> list[float]:
        return sorted(row.trial.latency_ms for row in self.rows if row.trial.latency_ms is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongAnswer:
    """A misleading answer, with every request that got it."""

    row: JudgedTrial
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything that a report shows."""

    meta: dict[str, Any]
    verdict: dict[str, Any]
    rows: tuple[JudgedTrial, ...]
    blocks: tuple[Block, ...]
    step_s: dict[str, float]
    observables: tuple[dict[str, Any], ...] = ()
    judges: tuple[dict[str, Any], ...] = ()  # how good the judge is, on labelled answers
    judge_modes: tuple[dict[str, Any], ...] = ()  # the same by mode of collapse or kind of perturbation
    reliability: tuple[dict[str, Any], ...] = ()  # whether its risk comes true there, a diagram per set

    def cells(self) -> list[Cell]:
        """Degraded paths first, then the healthy one; by fault within a path."""
        keys = sorted({(row.path, row.trial.fault) for row in self.rows}, key=lambda key: (key[0] == "healthy", *key))
        return [
            Cell(path=path, fault=fault, rows=tuple(r for r in self.rows if (r.path, r.trial.fault) == (path, fault)))
            for path, fault in keys
        ]

    def plan_b(self) -> list[JudgedTrial]:
        """What a fallback said: marked as degraded, or under a fault and not marked at all, or marked healthy and wrong
        where the undisturbed answer to the same item was not."""
        right = {
            r.trial.item_id: r for r in self.rows if r.trial.fault == NO_FAULT and r.label not in (None, MISLEADING)
        }
        return [row for row in self.rows if row.trial.degraded or slipped_through(row, right.get(row.trial.item_id))]

    def wrong_answers(self) -> list[WrongAnswer]:
        """Misleading answers of plan B, those that many got first, then by risk; the same text on one path once."""
        return collect_wrong(row for row in self.plan_b() if row.label == MISLEADING)

    def wrong_of_healthy(self) -> list[WrongAnswer]:
        """Misleading answers that no fallback is to blame for."""
        ours = {row.trial.id for row in self.plan_b()}
        return collect_wrong(row for row in self.rows if row.label == MISLEADING and row.trial.id not in ours)


def slipped_through(row: JudgedTrial, undisturbed: JudgedTrial | None) -> bool:
    """`undisturbed`: the answer to the same item without a fault, when it did not mislead."""
    if row.trial.fault == NO_FAULT or row.label is None:
        return False
    if row.trial.level is None:
        return True
    return row.label == MISLEADING and undisturbed is not None and undisturbed.trial.answer != row.trial.answer


def collect_wrong(rows: Iterable[JudgedTrial]) -> list[WrongAnswer]:
    """Group equal answers of one path; what many users got comes first."""
    groups: dict[tuple[str, str | None], list[JudgedTrial]] = {}
    for row in rows:
        groups.setdefault((row.path, row.trial.answer), []).append(row)
    wrong = [WrongAnswer(row=max(group, key=lambda r: r.risk or 0.0), times=len(group)) for group in groups.values()]
    return sorted(wrong, key=lambda w: (-w.times, -(w.row.risk or 0.0), w.row.trial.id))


def read_report_data(run: Path, items: Sequence[Item]) -> ReportData:
    """Raises ResultError when the folder is not a judged run, NothingJudged when it holds no trial of a whole block."""
    folder = RunFolder.open(run)
    trials = folder.trials()
    if not trials:
        raise NothingJudged(f"{run}: no trial of a whole block is there to report on")
    scores = read_scores(run / (scores_that_count(run) or SCORES_FILE))
    by_id = {item.id: item for item in items}
    rows = []
    for trial in trials:
        score = scores.get(trial.id, {})
        rows.append(
            JudgedTrial(
                trial=trial,
                item=by_id.get(trial.item_id),
                label=score.get("label"),
                risk=score.get("risk"),
                reasons=tuple(map(str, score.get("reasons") or ())),
                bertscore_f1=score.get("bertscore_f1"),
                cosine=score.get("cosine"),
            )
        )
    judge = read_json(run / JUDGE_FILE) if (run / JUDGE_FILE).is_file() else {}
    return ReportData(
        meta=folder.meta(),
        verdict=read_json(verdict_that_counts(run)),
        rows=tuple(rows),
        blocks=tuple(folder.known_blocks()),
        step_s=read_json(run / "steps.json") if (run / "steps.json").is_file() else {},
        observables=tuple(read_json(run / FILE)["observables"]) if (run / FILE).is_file() else (),
        judges=tuple(judge.get("judges", ())),
        judge_modes=tuple(judge.get("modes", ())),
        reliability=tuple(judge.get("reliability", ())),
    )


def read_json(file: Path) -> dict[str, Any]:
    """Raises ResultError when the file is missing or not an object."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ResultError(f"{file}: missing; `truefall gate {file.parent}` gives the run a verdict") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ResultError(f"{file}: cannot be read: {why(error)}") from None
    if not isinstance(content, dict):
        raise ResultError(f"{file}: need an object, got {type(content).__name__}")
    return content
