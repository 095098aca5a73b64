"""Scores and verdict on a CUDA device beside those of the CPU: `pytest -m gpu tests/harness/fidelity/test_on_a_gpu.py`.

Written without a device at hand: nothing here has ever run on one, and the tolerances are guesses.
"""

from collections.abc import Iterator

import pytest

from harness.fidelity.case import Label
from harness.fidelity.labelled import DATA, Labelled, load_labelled
from harness.fidelity.model_folder import Precision
from harness.fidelity.scorer import Scorer
from harness.judge import SCORES, verdict_of

pytestmark = [pytest.mark.gpu, pytest.mark.models]

ROWS = 60
FAR = {"float32": 1e-3, "bfloat16": 0.02}  # largest difference of a score to float32 on the CPU


@pytest.fixture(scope="module", autouse=True)
def _device() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here: the figures of docs/design/fidelity-scores.md stay those of the CPU")


@pytest.fixture(scope="module")
def rows() -> list[Labelled]:
    return load_labelled(str(DATA / "test.jsonl"))[:ROWS]


@pytest.fixture(scope="module")
def on_cpu() -> Iterator[Scorer]:
    scorer = Scorer()
    yield scorer
    scorer.close()


def pairs(rows: list[Labelled]) -> list[tuple[str, str]]:
    return [(row.case.reference, row.case.candidate) for row in rows]


@pytest.mark.parametrize("precision", FAR)
def test_scores_on_the_device_are_those_of_the_cpu(on_cpu: Scorer, rows: list[Labelled], precision: Precision) -> None:
    on_device = Scorer(device="cuda", precision=precision)
    both = zip(on_cpu.score(pairs(rows)), on_device.score(pairs(rows)), strict=True)
    away = [abs(getattr(a, name) - getattr(b, name)) for a, b in both for name in SCORES]
    assert max(away) <= FAR[precision]


def labels_of(scorer: Scorer, rows: list[Labelled], device: str) -> list[Label]:
    judged = verdict_of(device)([row.case for row in rows], scorer.score(pairs(rows)))
    return [one.label for one in judged]


def test_the_labels_of_the_verdict_on_the_device_are_those_of_the_cpu(on_cpu: Scorer, rows: list[Labelled]) -> None:
    assert labels_of(Scorer(device="cuda"), rows, "cuda") == labels_of(on_cpu, rows, "cpu")
