"""How good the judge of a run is: its errors on labelled answers that no tuning touches, measured beside every run."""

from collections.abc import Iterator
from pathlib import Path

from harness.fidelity.judge_the_judge import Measured, judges_of, measure, plain
from harness.fidelity.labelled import Labelled, load_labelled
from harness.judge import JUDGE_FILE, Judge, PairScorer, device_of, eyes_beside, verdict_of
from harness.store import RunFolder

FROZEN = Path(__file__).parent / "fidelity" / "data" / "test.jsonl"
NAMES = {"truefall": "this verdict", "bertscore_f1": "BERTScore F1", "cosine": "cosine", "composite": "composite"}


def frozen_sets() -> dict[str, list[Labelled]]:
    """The test halves, by what they hold."""
    collapse = [row for row in load_labelled("collapse") if row.split == "test"]
    return {"short answers": load_labelled(str(FROZEN)), "semantic collapse": collapse}


def write_judge_table(run: Path, scorer: PairScorer) -> None:
    """Measure the judges as they judged the run, and write `judge.json` into its folder."""
    folder = RunFolder.open(run)
    device = device_of(folder.meta())
    verdict = verdict_of(device, eyes=eyes_beside(scorer, device))
    rows = [
        plain(found, name) | {"judge": NAMES[found.judge]}
        for name, labelled in frozen_sets().items()
        for found in measured(labelled, scorer, verdict)
    ]
    folder.write_json(JUDGE_FILE, {"judges": rows})


def measured(labelled: list[Labelled], scorer: PairScorer, verdict: Judge) -> Iterator[Measured]:
    """Every judge on all rows and on each language."""
    similarities = scorer.score([(row.case.reference, row.case.candidate) for row in labelled])
    judgements = verdict([row.case for row in labelled], similarities)
    languages = {row.case.lang for row in labelled}
    for found in measure(labelled, judges_of(similarities, judgements)):
        if found.group in {"all", *languages}:
            yield found
