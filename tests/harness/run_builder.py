"""Run folders made by code: trials, blocks and judgements as a test wants them, without any model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalsets.item import Item
from evalsets.jsonl import load_set
from harness.judge import SCORES, SCORES_FILE, write_scores
from harness.sent_items import items_sha256
from harness.store import RunFolder
from harness.trial import Block, Outcome, Trial

ITEMS_SHA256 = items_sha256(load_set("support"))
META = {
    "evalset": "support", "items_sha256": ITEMS_SHA256, "profile": "cpu", "seed": 0, "max_tokens": 40,
    "policy": "p.toml",
}  # fmt: skip
PASSED = {"verdict": "PASS", "exit_code": 0, "summary": "all 0 checks passed", "checks": []}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One request and its judgement; label None: not judged."""

    item: Item
    fault: str = "none"
    label: str | None = "faithful"
    answer: str | None = "an answer"
    path: str | None = "primary"
    score: float | None = 0.8
    risk: float | None = 0.1
    reasons: tuple[str, ...] = ()
    outcome: Outcome = Outcome.OK
    level: str | None = "as usual"  # degraded under a fault, none where nothing came, else healthy
    latency_ms: float | None = 120.0
    sent_at_s: float | None = 1.0

    @property
    def trial(self) -> Trial:
        usual = "healthy" if self.fault == "none" else "degraded"
        usual_level = None if self.outcome in (Outcome.FAILED, Outcome.UNANSWERED) else usual
        level = usual_level if self.level == "as usual" else self.level
        return Trial(
            id=f"{self.fault}/{self.item.id}", experiment=self.fault, block=f"{self.fault}#0", fault=self.fault,
            target=None if self.fault == "none" else "primary", item_id=self.item.id, lang=self.item.lang, stream=False,
            outcome=self.outcome, status=200, answer=self.answer, path=self.path,
            level=level,
            record={"level": level}, latency_ms=self.latency_ms, sent_at_s=self.sent_at_s,
        )  # fmt: skip

    @property
    def judged(self) -> dict[str, Any]:
        scores = dict.fromkeys(SCORES, None if self.label in (None, "abstained") else self.score)
        risk = None if self.label is None else self.risk
        row = {"trial_id": self.trial.id, "label": self.label, "risk": risk, "reasons": list(self.reasons)}
        return {**row, **scores, "flags": []}


def block_of(fault: str, trials: int, **more: Any) -> Block:
    none = fault == "none"
    given = {
        "steady": True, "fired": None if none else True, "touched": trials, "recovered": None if none else True,
        "began_at_s": 0.5, "ended_at_s": 9.0, "recovery_ms": None if none else 700.0, "detection_ms": 90.0, **more,
    }  # fmt: skip
    return Block(id=f"{fault}#0", experiment=fault, fault=fault, target=None, trials=trials, **given)


def run_folder(
    path: Path, rows: Sequence[Row], *, verdict: dict[str, Any] | None = None, unfired: Sequence[str] = (), **meta: Any
) -> RunFolder:
    """A judged run; `unfired` names faults that did not fire."""
    folder = RunFolder.create(path, {**META, **meta})
    for row in rows:
        folder.append(row.trial)
    for fault in dict.fromkeys(row.fault for row in rows):
        count = sum(row.fault == fault for row in rows)
        folder.close_block(block_of(fault, count, **({"fired": False} if fault in unfired else {})))
    write_scores(path / SCORES_FILE, [row.judged for row in rows])
    folder.write_json("verdict.json", verdict or PASSED)
    return folder
