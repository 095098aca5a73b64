"""Gate a run folder: read its rows, decide, write the verdict and its JUnit XML, say it on the terminal."""

import hashlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from evalsets.errors import EvalsetError
from evalsets.jsonl import load_set
from harness.comparable import require_comparable
from harness.criteria import load_criteria
from harness.decision import MEANING, NEXT, Decision, Verdict
from harness.errors import ConfigError, NothingJudged, ResultError
from harness.fidelity.case import Label
from harness.fidelity.llm_judge import tells_unmeasured
from harness.gate import gate
from harness.gate_baseline import Injections, Judges
from harness.gate_files import GateFiles, files_of, has_ended, own_files
from harness.gate_languages import Languages
from harness.gate_markdown import as_markdown
from harness.gate_row import HEALTHY_PATH, GateRow
from harness.gate_scale import scale_of
from harness.judge import SCORES_FILE, judge_in, judge_run, read_scores
from harness.judge_identity import Identity
from harness.judged_again import (
    Demand,
    as_judgement,
    beside,
    compared_with,
    earlier_judgements,
    is_written,
    named,
    next_scores,
    number_of,
    scores_of,
    scores_that_count,
)
from harness.junit import junit_xml
from harness.run_lock import only_writer
from harness.safety import leftovers_of
from harness.sent_items import require_items_as_sent
from harness.store import RunFolder
from harness.trial import NO_FAULT, Outcome, Trial
from harness.whole_file import write_whole

CRASHES = (Outcome.FAILED, Outcome.UNANSWERED)
WITHHELD = ("ungrounded", "schema_violated", "invalid_output", "tokens_mismatch", "semantic_gate")
MARKED_BY_STATUS = (Outcome.REFUSED, Outcome.REJECTED, Outcome.DEGRADED)


class Scored(NamedTuple):
    """A run, or the one it is compared with, and the judgement of it that counts."""

    run: Path
    scores: str = SCORES_FILE


def gate_run(
    run_dir: Path,
    criteria_file: Path,
    *,
    baseline: Path | None = None,
    scores: str = SCORES_FILE,
    baseline_scores: str | None = None,
    markdown: Path | None = None,
    junit: Path | None = None,
    ends_run: bool = False,
    out: TextIO | None = None,
) -> int:
    """Decide on a judged run; the exit code: 0 pass, 1 fail, 3 inconclusive, 2 nothing judged.

    `scores`: those of the first judgement, or of one that was made again and lies beside it.
    `ends_run`: the verdict is the run's own, whatever was there; else see `files_of`.
    """
    sha256 = hashlib.sha256(criteria_file.read_bytes()).hexdigest()
    files = own_files(run_dir) if ends_run else files_of(run_dir, criteria_file, sha256, baseline)
    number = number_of(Path(scores))
    against = None if baseline is None else Scored(baseline, baseline_scores or SCORES_FILE)
    demand = Demand(sha256, None if baseline is None else baseline.resolve().name)
    if number > 1 and not is_written(files.verdict, demand) and (run_dir / SCORES_FILE).is_file():
        first_against = None if baseline is None else Scored(baseline, scores_that_count(baseline) or SCORES_FILE)
        gate_run_files(Scored(run_dir), criteria_file, first_against, demand, files, ends_run=ends_run)
    decision, files = gate_run_files(Scored(run_dir, scores), criteria_file, against, demand, files, ends_run=ends_run)
    if junit is not None:
        write_whole(junit, junit_xml(decision, name=files.name))
    if markdown is not None:
        write_whole(markdown, as_markdown(decision, files.name))
    show(decision, files, out or sys.stdout)
    return decision.exit_code


def gate_run_files(
    judged: Scored, criteria_file: Path, baseline: Scored | None, demand: Demand, first: GateFiles, *, ends_run: bool
) -> tuple[Decision, GateFiles]:
    """Decide, and write verdict and JUnit XML: to `first`, or beside it where this is not the first judgement."""
    folder, decision = RunFolder.open(judged.run), decide(judged, criteria_file, baseline)
    files, number, judge = first, number_of(Path(judged.scores)), judge_in(judged.run / judged.scores)
    if number > 1:
        again = partial(decide_earlier, judged.run, criteria_file, baseline.run if baseline else None)
        earlier = earlier_judgements(judged.run, number, demand, again)
        decision = as_judgement(decision, number, earlier, judge)
        files = named(beside(first, number), number, earlier, judge)
    content = {
        **decision.to_json(),
        "criteria": criteria_file.name,
        "criteria_sha256": demand.criteria_sha256,
        "baseline": demand.baseline,
        "baseline_judgement": None if baseline is None else number_of(Path(baseline.scores)),
        "ends_run": files.own and (ends_run or has_ended(judged.run)),
        "judgement": number,
        "judge": judge,
    }
    folder.write_json(files.verdict.name, content)
    write_whole(files.junit, junit_xml(decision, name=files.name))
    return decision, files


def decide(judged: Scored, criteria_file: Path, baseline: Scored | None) -> Decision:
    """The decision on one judgement, whatever others said. Raises NothingJudged, ResultError, ConfigError."""
    criteria = load_criteria(criteria_file)
    folder = RunFolder.open(judged.run)
    rows = read_rows(folder, judged.scores)
    earlier_run = None if baseline is None else read_baseline(baseline, folder)
    judges = None if baseline is None else Judges(now=judge_of_scores(judged), then=judge_of_scores(baseline))
    injections = None if baseline is None else injections_of(folder, RunFolder.open(baseline.run))
    return gate(
        rows,
        criteria,
        blocks=folder.known_blocks(),
        baseline=earlier_run,
        leftovers=leftovers_of(folder.meta()),
        judges=judges,
        injections=injections,
        languages=languages_of(folder),
    )


def languages_of(folder: RunFolder) -> Languages:
    """Those that were sent, and those of the whole set where it can be read."""
    evalset = folder.meta().get("evalset")
    try:
        items = load_set(evalset) if isinstance(evalset, str) else ()
    except (EvalsetError, OSError):
        items = ()
    return Languages(frozenset(trial.lang for trial in folder.trials()), frozenset(item.lang for item in items))


def injections_of(folder: RunFolder, earlier: RunFolder) -> Injections:
    """What the two runs know of their faults."""
    return Injections(
        now=folder.known_blocks(), then=earlier.known_blocks(), leftovers_then=leftovers_of(earlier.meta())
    )


def judge_of_scores(judged: Scored) -> Identity:
    """Who judged; empty where the scores do not say."""
    return judge_in(judged.run / judged.scores)


def decide_earlier(run: Path, criteria_file: Path, baseline: Path | None, number: int) -> Decision:
    """The decision on judgement `number`, against those scores of the baseline that it was compared with then."""
    against = None if baseline is None else Scored(baseline, compared_with(run, number, baseline))
    return decide(Scored(run, scores_of(number)), criteria_file, against)


def read_rows(folder: RunFolder, scores_file: str = SCORES_FILE) -> list[GateRow]:
    """Trials of whole blocks, judged. Raises NothingJudged without a trial, ResultError without scores."""
    trials = folder.trials()
    if not trials:
        raise NothingJudged(f"{folder.path}: no trial of a whole block is there to judge")
    require_whole_blocks(folder, trials)
    scores = read_scores(folder.path / scores_file)
    return [gate_row(trial, scores.get(trial.id, {})) for trial in trials]


def require_whole_blocks(folder: RunFolder, trials: Sequence[Trial]) -> None:
    """Raises ResultError when rows are gone that a block says were written: what is left proves nothing."""
    there = Counter(trial.block for trial in trials)
    for block in folder.blocks():
        if there[block.id] < block.trials and not block.cut_short:
            counted = f"{there[block.id]} of its {block.trials} trials are there"
            raise ResultError(f"{folder.trials_file}: block {block.id}: {counted}; rows were lost, run it again")


def read_baseline(baseline: Scored, folder: RunFolder) -> list[GateRow]:
    """Rows of an earlier run. Raises ConfigError when items, seed or models were others, or it is the same folder."""
    require_another(folder, baseline.run)
    earlier = RunFolder.open(baseline.run)
    require_comparable(folder, earlier, "a baseline has to share items, seed and models with the run")
    return read_rows(earlier, baseline.scores)


def require_another(folder: RunFolder, baseline: Path) -> None:
    """Raises ConfigError where a run is to be compared with itself."""
    if baseline.resolve() == folder.path.resolve():
        raise ConfigError(f"{baseline}: a run cannot be its own baseline")


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
        served=trial.path,
        model=trial.model_served,
        crashed=trial.outcome in CRASHES,
        recorded=healthy or trial.level is not None or trial.outcome in MARKED_BY_STATUS,
        scale=scale_of(score.get("flags") or ()),
        unheard=label is None and tells_unmeasured(score.get("reasons") or ()),
    )


def withheld_path(trial: Trial) -> str | None:
    """The last path that had an answer which the gateway did not trust; None: there was none."""
    withheld = [try_["path"] for try_ in trial.record.get("attempts") or () if try_.get("reason") in WITHHELD]
    return str(withheld[-1]) if withheld else None


def judge_if_needed(run_dir: Path, *, again: bool) -> str:
    """The file of scores that counts; judged here when there is none, or `again`: then beside the first ones.

    Raises ResultError where the set of the run was edited since; scores that are there need no set.
    """
    meta = RunFolder.open(run_dir).meta()
    if not again and (found := scores_that_count(run_dir)):
        require_unedited(meta, run_dir)
        return found
    if not isinstance(meta.get("evalset"), str):
        raise ResultError(f"{run_dir / 'run.json'}: evalset is missing, so the run cannot be judged here")
    scores = next_scores(run_dir).name
    judge_run(run_dir, load_set(meta["evalset"]), scores_file=scores)
    return scores


def judge_locked(run_dir: Path, *, again: bool) -> str:
    """`judge_if_needed` where nobody here holds the folder yet: it is held while something is written into it.

    Raises ResultError where another process writes into it.
    """
    if not again and scores_that_count(run_dir):
        return judge_if_needed(run_dir, again=False)
    with only_writer(RunFolder.open(run_dir)):
        return judge_if_needed(run_dir, again=again)


def require_unedited(meta: Mapping[str, Any], run_dir: Path) -> None:
    """Raises ResultError where the set that a run names is there, and is not what the run sent."""
    with suppress(EvalsetError):
        items = load_set(str(meta.get("evalset")))
        if "items_sha256" in meta:
            require_items_as_sent(meta, items, of=run_dir)


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
