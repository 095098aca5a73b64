"""How good the judge of a run is: its errors on labelled answers that no tuning touches, measured beside every run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.fidelity.judge_the_judge import NAMES, Measured, judges_of, measure, plain
from harness.fidelity.labelled import Labelled, load_generated, load_labelled
from harness.fidelity.reliability import Reliability, reliability
from harness.fidelity.reliability import plain as plain_reliability
from harness.judge import JUDGE_FILE, Judge, PairScorer, device_of, eyes_beside, verdict_of
from harness.store import RunFolder

FROZEN = Path(__file__).parent / "fidelity" / "data" / "test.jsonl"


class JudgedSet(NamedTuple):
    """Every judge on all rows of a set and on each language, and how far the verdict's risk is off."""

    measured: list[Measured]
    reliability: Reliability


def frozen_sets() -> dict[str, list[Labelled]]:
    """The test halves, by what they hold; the last is what the generator of perturbations makes of the others."""
    collapse = [row for row in load_labelled("collapse") if row.split == "test"]
    return {
        "short answers": load_labelled(str(FROZEN)),
        "semantic collapse": collapse,
        "generated": load_generated("test"),
    }


def write_judge_table(run: Path, scorer: PairScorer) -> None:
    """Measure the judges as they judged the run, and write `judge.json` into its folder.

    Without the models that a profile names under [judge]: `truefall judge-the-judge` measures with them.
    """
    folder = RunFolder.open(run)
    device = device_of(folder.meta())
    verdict = verdict_of(device, eyes=eyes_beside(scorer, device))
    folder.write_json(
        JUDGE_FILE, as_json({name: judged_set(rows, scorer, verdict) for name, rows in frozen_sets().items()})
    )


def as_json(judged: Mapping[str, JudgedSet]) -> dict[str, Any]:
    """What the report reads: a row per set, group and judge, and a reliability diagram per set."""
    return {
        "judges": [
            plain(found, name) | {"judge": NAMES[found.judge]} for name, one in judged.items() for found in one.measured
        ],
        "reliability": [plain_reliability(one.reliability, name) for name, one in judged.items()],
    }


def judged_set(labelled: Sequence[Labelled], scorer: PairScorer, verdict: Judge) -> JudgedSet:
    """Measure the three scores and the verdict on labelled answers."""
    similarities = scorer.score([(row.case.reference, row.case.candidate) for row in labelled])
    judgements = verdict([row.case for row in labelled], similarities)
    without_modes = [replace(row, mode="") for row in labelled]
    return JudgedSet(measure(without_modes, judges_of(similarities, judgements)), reliability(labelled, judgements))
