"""How good the judge of a run is: its errors on labelled answers that nothing was fitted to, beside every run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.fidelity.judge_the_judge import ALL_ROWS, NAMES, Measured, judges_of, language_of, measure, plain
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
    by_mode: list[Measured]  # on each mode of collapse, or kind of perturbation, that holds misleading answers


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
    """What the report reads: a row per set, group and judge, those of modes apart; a reliability diagram per set."""

    def told(name: str, measured: Sequence[Measured]) -> list[dict[str, Any]]:
        return [plain(found, name) | {"judge": NAMES[found.judge]} for found in measured]

    return {
        "judges": [row for name, one in judged.items() for row in told(name, one.measured)],
        "modes": [row for name, one in judged.items() for row in told(name, one.by_mode)],
        "reliability": [plain_reliability(one.reliability, name) for name, one in judged.items()],
    }


def judged_set(labelled: Sequence[Labelled], scorer: PairScorer, verdict: Judge) -> JudgedSet:
    """Measure the three scores and the verdict on labelled answers."""
    similarities = scorer.score([(row.case.reference, row.case.candidate) for row in labelled])
    judgements = verdict([row.case for row in labelled], similarities)
    measured = measure(labelled, judges_of(similarities, judgements))
    whole = {ALL_ROWS, *map(language_of, labelled)}
    return JudgedSet(
        [found for found in measured if found.group in whole],
        reliability(labelled, judgements),
        [found for found in measured if found.group not in whole and found.n_misleading],
    )
