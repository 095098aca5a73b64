"""Gate a run folder: read its rows, decide, write the verdict and its JUnit XML, say it on the terminal."""

import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from harness.criteria import load_criteria
from harness.decision import MEANING, NEXT, Decision, Verdict
from harness.errors import ConfigError, NothingJudged, ResultError
from harness.fidelity.case import Label
from harness.fidelity.llm_judge import tells_unmeasured
from harness.gate import gate
from harness.gate_files import GateFiles, files_of, has_ended, own_files
from harness.gate_markdown import as_markdown
from harness.gate_row import HEALTHY_PATH, NO_FAULT, GateRow
from harness.gate_scale import scale_of
from harness.judge import SCORES_FILE, judge_run, read_scores
from harness.junit import junit_xml
from harness.safety import leftovers_of
from harness.store import RunFolder
from harness.trial import Outcome, Trial
from harness.whole_file import write_whole

CRASHES = (Outcome.FAILED, Outcome.UNANSWERED)
WITHHELD = ("ungrounded", "schema_violated", "invalid_output", "tokens_mismatch", "semantic_gate")
MARKED_BY_STATUS = (Outcome.REFUSED, Outcome.REJECTED, Outcome.DEGRADED)


def gate_run(
    run_dir: Path,
    criteria_file: Path,
    *,
    baseline: Path | None = None,
    markdown: Path | None = None,
    junit: Path | None = None,
    ends_run: bool = False,
    out: TextIO | None = None,
) -> int:
    """Decide on a judged run; the exit code: 0 pass, 1 fail, 3 inconclusive, 2 nothing judged.

    `ends_run`: the verdict is the run's own, whatever was there; else see `files_of`.
    """
    criteria = load_criteria(criteria_file)
    folder = RunFolder.open(run_dir)
    rows = read_rows(folder)
    earlier = None if baseline is None else read_baseline(baseline, folder)
    decision = gate(rows, criteria, blocks=folder.blocks(), baseline=earlier, leftovers=leftovers_of(folder.meta()))
    sha256 = hashlib.sha256(criteria_file.read_bytes()).hexdigest()
    files = own_files(run_dir) if ends_run else files_of(run_dir, criteria_file, sha256, baseline)
    content = {
        **decision.to_json(),
        "criteria": criteria_file.name,
        "criteria_sha256": sha256,
        "baseline": None if baseline is None else baseline.name,
        "ends_run": ends_run or (files.own and has_ended(run_dir)),
    }
    folder.write_json(files.verdict.name, content)
    xml = junit_xml(decision, name=files.name)
    for file in (files.junit, junit):
        if file is not None:
            write_whole(file, xml)
    if markdown is not None:
        write_whole(markdown, as_markdown(decision, files.name))
    show(decision, files, out or sys.stdout)
    return decision.exit_code


def read_rows(folder: RunFolder) -> list[GateRow]:
    """Trials of whole blocks, judged. Raises NothingJudged without a trial, ResultError without scores."""
    trials = folder.trials()
    if not trials:
        raise NothingJudged(f"{folder.path}: no trial of a whole block is there to judge")
    require_whole_blocks(folder, trials)
    scores = read_scores(folder.path / SCORES_FILE)
    return [gate_row(trial, scores.get(trial.id, {})) for trial in trials]


def require_whole_blocks(folder: RunFolder, trials: Sequence[Trial]) -> None:
    """Raises ResultError when rows are gone that a block says were written: what is left proves nothing."""
    there = Counter(trial.block for trial in trials)
    for block in folder.blocks():
        if there[block.id] < block.trials:
            counted = f"{there[block.id]} of its {block.trials} trials are there"
            raise ResultError(f"{folder.trials_file}: block {block.id}: {counted}; rows were lost, run it again")


def read_baseline(path: Path, folder: RunFolder) -> list[GateRow]:
    """Rows of an earlier run on the same items. Raises ConfigError when it had others, or is the same folder."""
    earlier = RunFolder.open(path)
    if earlier.path.resolve() == folder.path.resolve():
        raise ConfigError(f"{path}: a run cannot be its own baseline")
    for key in ("evalset", "items_sha256"):
        then, now = earlier.meta().get(key), folder.meta().get(key)
        if then != now:
            raise ConfigError(
                f"{path}: {key} is {then!r} there and {now!r} in {folder.path}; the items have to be the same"
            )
    return read_rows(earlier)


def gate_row(trial: Trial, score: Mapping[str, Any]) -> GateRow:
    """Raises ResultError for a label that is none."""
    try:
        label = None if score.get("label") is None else Label(score["label"])
    except ValueError:
        known = ", ".join(Label)
        raise ResultError(f"{trial.id}: label is {score['label']!r}; it has to be one of {known}") from None
    # Without a record nothing is known; where no fault was on, an answer then counts as undegraded.
    healthy = trial.level == "healthy" or (
        trial.level is None and trial.fault == NO_FAULT and trial.outcome is Outcome.OK
    )
    return GateRow(
        path=HEALTHY_PATH if healthy else trial.path or trial.outcome.value,
        withheld=withheld_path(trial),
        fault=trial.fault,
        lang=trial.lang,
        item_id=trial.item_id,
        label=label,
        bertscore_f1=score.get("bertscore_f1"),
        healthy=healthy,
        trial_id=trial.id,
        answer=trial.answer,
        crashed=trial.outcome in CRASHES,
        recorded=healthy or trial.level is not None or trial.outcome in MARKED_BY_STATUS,
        scale=scale_of(score.get("flags") or ()),
        unheard=label is None and tells_unmeasured(score.get("reasons") or ()),
    )


def withheld_path(trial: Trial) -> str | None:
    """The last path that had an answer which the gateway did not trust; None: there was none."""
    withheld = [try_["path"] for try_ in trial.record.get("attempts", ()) if try_.get("reason") in WITHHELD]
    return str(withheld[-1]) if withheld else None


def judge_if_needed(run_dir: Path, *, again: bool) -> None:
    """Write `scores.parquet` when it is not there, or `again`; the items are those that `run.json` names."""
    if (run_dir / SCORES_FILE).is_file() and not again:
        return
    from evalsets.jsonl import load_set

    meta = RunFolder.open(run_dir).meta()
    if not isinstance(meta.get("evalset"), str):
        raise ResultError(f"{run_dir / 'run.json'}: evalset is missing, so the run cannot be judged here")
    judge_run(run_dir, load_set(meta["evalset"]))


def show(decision: Decision, files: GateFiles, out: TextIO) -> None:
    """A table of the checks, then the verdict on a line of its own."""
    from rich.console import Console
    from rich.table import Table

    colours = {Verdict.PASS: "green", Verdict.FAIL: "bold red"}
    console = Console(file=out, highlight=False, soft_wrap=False, width=None if out.isatty() else 160)
    table = Table(box=None, pad_edge=False)
    for heading in ("", "criterion", "measured"):
        table.add_column(heading, overflow="fold")
    for check in decision.checks:
        colour = colours.get(check.verdict, "yellow")
        table.add_row(f"[{colour}]{check.verdict.value}[/]", escaped(check.title), escaped(check.reason))
    if decision.checks:
        console.print(table)
    if not files.own:
        print(f"Written to {files.verdict}; the run's own verdict and its report stay.", file=out)
    print(f"{MEANING[decision.verdict]} {NEXT[decision.verdict]}", file=out)
    print(f"{decision.verdict.value}: {decision.summary}", file=out)


def escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
