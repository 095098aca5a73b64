"""A second judgement of the same answers: it lies beside the first, says so, and ends no FAIL of the same judge.

Where a judge model is asked, each judgement is a new draw; whoever draws until it passes has shown nothing.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.decision import Check, Decision, Verdict, decided
from harness.errors import ResultError
from harness.gate_files import GateFiles, own_files, read_verdict
from harness.judge import SCORES_FILE, judge_in
from harness.judge_identity import Identity, differing

AGAIN = re.compile(r"scores-([0-9]+)\.parquet")
VERDICT_AGAIN = re.compile(r"verdict.*-judgement-([0-9]+)\.json")


class Earlier(NamedTuple):
    """One judgement that was made before."""

    number: int  # 1 is the first
    verdict: str
    judge: Identity  # empty where it is not known


class Demand(NamedTuple):
    """What a run is judged by. None: against no baseline."""

    criteria_sha256: str
    baseline: str | None  # the name of its run folder


def number_of(scores: Path) -> int:
    """Which judgement of the run holds these scores; 1 is the first."""
    found = AGAIN.fullmatch(scores.name)
    return int(found.group(1)) if found else 1


def scores_of(number: int) -> str:
    """The name of the file that holds the scores of a judgement."""
    return SCORES_FILE if number == 1 else f"scores-{number}.parquet"


def later_numbers(run: Path) -> list[int]:
    """Those of the judgements after the first whose scores are there."""
    return [number_of(file) for file in run.glob("scores-*.parquet") if AGAIN.fullmatch(file.name)]


def next_scores(run: Path) -> Path:
    """Where the next judgement writes; `scores.parquet` only where nothing was judged yet.

    The number of a judgement of which the verdict alone is left is not given again.
    """
    first, verdicts = run / SCORES_FILE, [file.name for file in run.glob("verdict*.json")]
    told = [int(found.group(1)) for name in verdicts if (found := VERDICT_AGAIN.fullmatch(name))]
    numbers = [*later_numbers(run), *told]
    if not numbers and not first.exists() and not verdicts:
        return first
    return run / scores_of(max(numbers, default=1) + 1)


def scores_that_count(run: Path) -> str | None:
    """The scores of the first judgement; where they are gone, of the newest; None: there are none."""
    if (run / SCORES_FILE).is_file():
        return SCORES_FILE
    numbers = later_numbers(run)
    return scores_of(max(numbers)) if numbers else None


def verdict_that_counts(run: Path) -> Path:
    """The run's own verdict; where there is none, that of the judgement whose scores count."""
    own, number = own_files(run), number_of(Path(scores_that_count(run) or SCORES_FILE))
    return own.verdict if own.verdict.exists() or number == 1 else beside(own, number).verdict


def beside(first: GateFiles, number: int) -> GateFiles:
    """The files of judgement `number`, where `first` are those of the first one by the same criteria and baseline."""
    verdict, junit = (file.with_stem(f"{file.stem}-judgement-{number}") for file in (first.verdict, first.junit))
    return GateFiles(verdict, junit, first.name)


def earlier_judgements(run: Path, number: int, demand: Demand, decide: Callable[[int], Decision]) -> list[Earlier]:
    """Those before `number`, each decided from its own scores; by what was written then where these are gone."""
    return [found for n in range(1, number) if (found := earlier_judgement(run, n, demand, decide))]


def earlier_judgement(run: Path, number: int, demand: Demand, decide: Callable[[int], Decision]) -> Earlier | None:
    """`decide`: the decision of a judgement by `demand`; raises ResultError where its scores cannot be read."""
    try:
        return Earlier(number, decide(number).verdict.value, judge_in(run / scores_of(number)))
    except ResultError:
        return written_earlier(run, number, demand)


def written_earlier(run: Path, number: int, demand: Demand) -> Earlier | None:
    """What a file says of a judgement by the same criteria and baseline, whatever its name; the worst of several."""
    said = [content for file in sorted(run.glob("verdict*.json")) if (content := read_verdict(file))]
    found = [one for one in said if one.get("judgement", 1) == number and demand_of(one) == demand and "verdict" in one]
    worst = next((one for one in found if one["verdict"] == "FAIL"), found[0] if found else None)
    if worst is None:
        return None
    judge = worst.get("judge")
    return Earlier(number, str(worst["verdict"]), judge if isinstance(judge, dict) else {})


def demand_of(content: dict[str, Any]) -> Demand:
    """By what a written verdict was given."""
    return Demand(str(content.get("criteria_sha256", "")), content.get("baseline"))


def is_written(file: Path, demand: Demand) -> bool:
    """Whether a file holds a verdict by these criteria and this baseline."""
    content = read_verdict(file)
    return content is not None and demand_of(content) == demand


def compared_with(run: Path, number: int, baseline: Path) -> str:
    """The scores of the baseline that a judgement was compared with; those that count where no verdict says it."""
    name = baseline.resolve().name
    for file in sorted(run.glob("verdict*.json")):
        content = read_verdict(file) or {}
        if content.get("judgement", 1) == number and content.get("baseline") == name:
            then = content.get("baseline_judgement")
            if isinstance(then, int) and (baseline / scores_of(then)).is_file():
                return scores_of(then)
    return scores_that_count(baseline) or SCORES_FILE


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
