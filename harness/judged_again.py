"""A second judgement of the same answers: it lies beside the first, says so, and ends no FAIL of the same judge.

Where a judge model is asked, each judgement is a new draw; whoever draws until it passes has shown nothing.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.decision import Check, Decision, Verdict, decided
from harness.gate_files import VERDICT_FILE, GateFiles
from harness.judge import SCORES_FILE
from harness.judge_identity import Identity, differing

AGAIN = re.compile(r"scores-([0-9]+)\.parquet")


class Earlier(NamedTuple):
    """One judgement that was made before."""

    number: int  # 1 is the first
    verdict: str
    judge: Identity  # empty where it is not known


def number_of(scores: Path) -> int:
    """Which judgement of the run holds these scores; 1 is the first."""
    found = AGAIN.fullmatch(scores.name)
    return int(found.group(1)) if found else 1


def next_scores(run: Path) -> Path:
    """Where the next judgement writes; `scores.parquet` only where nothing was judged yet."""
    first = run / SCORES_FILE
    numbers = [number_of(file) for file in run.glob("scores-*.parquet") if AGAIN.fullmatch(file.name)]
    if not numbers and not first.exists() and not (run / VERDICT_FILE).exists():
        return first
    return run / f"scores-{max(numbers, default=1) + 1}.parquet"


def beside(first: GateFiles, number: int) -> GateFiles:
    """The files of judgement `number`, where `first` are those of the first one by the same criteria and baseline."""
    verdict, junit = (file.with_stem(f"{file.stem}-judgement-{number}") for file in (first.verdict, first.junit))
    return GateFiles(verdict, junit, first.name)


def earlier_judgements(first: GateFiles, number: int) -> list[Earlier]:
    """Those before `number` that a verdict was given on, by the same criteria and baseline."""
    files = [(1, first.verdict), *((n, beside(first, n).verdict) for n in range(2, number))]
    return [found for n, file in files if (found := read_earlier(n, file))]


def read_earlier(number: int, file: Path) -> Earlier | None:
    try:
        content = json.loads(file.read_text("utf-8"))
        return Earlier(number, str(content["verdict"]), dict(content.get("judge") or {}))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def as_judgement(decision: Decision, number: int, earlier: Sequence[Earlier], judge: Identity) -> Decision:
    """`decision` with one more check: FAIL where the same judge has said FAIL before, and that stands."""
    if not decision.checks:
        return decision
    failed = next((e for e in earlier if e.verdict == "FAIL" and not differing(e.judge, judge)), None)
    reason = f"judgement {number} of the same answers; {said(earlier, judge)}"
    if failed:
        reason += f"; the FAIL of judgement {failed.number} by the same judge stands, as no draw undoes another"
    check = Check(
        group="run", name="judged again", verdict=Verdict.FAIL if failed else Verdict.PASS, reason=reason, value=number
    )
    return decided([check, *decision.checks], decision.cells)


def said(earlier: Sequence[Earlier], judge: Identity) -> str:
    """Such as "the first said FAIL, by another judge (model)"."""
    if not earlier or earlier[0].number != 1:
        return "the first was given no verdict"
    parts = differing(earlier[0].judge, judge)
    return f"the first said {earlier[0].verdict}" + (f", by another judge ({', '.join(parts)})" if parts else "")


def named(files: GateFiles, number: int, earlier: Sequence[Earlier], judge: Identity) -> GateFiles:
    """What Markdown and JUnit call it: that it is not the first judgement, and what that one said."""
    return files._replace(name=f"{files.name}, judged again (judgement {number}; {said(earlier, judge)})")
