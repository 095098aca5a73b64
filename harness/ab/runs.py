"""Read two run folders for a comparison; refuse those that cannot be compared."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.ab.pairs import Answer
from harness.comparable import require_comparable as require_same
from harness.errors import ConfigError
from harness.gate_run import CRASHES, gate_row
from harness.gate_run_level import problem_of
from harness.judge import SCORES_FILE, judge_in, read_scores
from harness.judge_identity import differing
from harness.safety import leftovers_of
from harness.store import RunFolder
from harness.trial import NO_FAULT, Trial


def require_comparable(a: RunFolder, b: RunFolder) -> None:
    """Raises ConfigError when it is the same run, or something else than the policy differs."""
    if a.path.resolve() == b.path.resolve():
        raise ConfigError(f"{b.path}: a run cannot be compared with itself; give two run folders")
    require_same(a, b, "the two runs have to share items, seed and models, and differ in the policy")


def require_same_judge(a: Path, b: Path) -> None:
    """Of two files of scores. Raises ConfigError where two judges are shown, or one of the two is not known."""
    ours, theirs = judge_in(a), judge_in(b)
    parts = differing(ours, theirs) if ours and theirs else ["not known"] if ours or theirs else []
    if parts:
        raise ConfigError(
            f"{b}: its judge differs from that of {a} ({', '.join(parts)}), so not the policy alone differs; "
            "give --judge-again to judge both runs anew"
        )


def read_answers(folder: RunFolder, scores_file: str = SCORES_FILE) -> list[Answer]:
    """The answers under a fault, as a judgement of the run has them. Raises ResultError without scores."""
    scores = read_scores(folder.path / scores_file)
    disturbed = bool(leftovers_of(folder.meta()))  # a fault of somebody else's was on when the run began
    unproved = {block.id for block in folder.blocks() if disturbed or problem_of(block)}
    return [
        answer_of(trial, scores.get(trial.id, {}), proved=trial.block not in unproved)
        for trial in folder.trials()
        if trial.fault != NO_FAULT
    ]


def answer_of(trial: Trial, score: Mapping[str, Any], *, proved: bool) -> Answer:
    row = gate_row(trial, score)
    return Answer(
        trial_id=trial.id,
        item_id=trial.item_id,
        label=row.label,
        bertscore_f1=row.bertscore_f1,
        cosine=score.get("cosine"),
        failed=trial.outcome in CRASHES,
        proved=proved,
    )


def policy_name(folder: RunFolder) -> str:
    """The policy's file name, as a person would call it."""
    return Path(str(folder.meta().get("policy", "unknown policy"))).name


def same_policy(a: RunFolder, b: RunFolder) -> bool:
    """Whether both runs used the same policy: then only chance differs."""
    ours, theirs = a.meta().get("policy_sha256"), b.meta().get("policy_sha256")
    return ours is not None and ours == theirs
