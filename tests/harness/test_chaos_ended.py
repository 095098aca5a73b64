"""`truefall chaos` where nothing is sent: a run that has ended with FAIL, and a selector that matches nothing."""

import argparse
import io
from pathlib import Path

import pytest
from run_builder import Row, block_of

from evalsets.jsonl import load_set
from harness.chaos_job import ChaosJob
from harness.cli import main
from harness.commands.chaos import add_arguments
from harness.gate_run import gate_run
from harness.judge import SCORES_FILE, read_scores, write_scores

pytestmark = pytest.mark.slow
EXPERIMENT = "import pytest\n\n@pytest.mark.chaos\ndef test_a_dead_primary(chaos):\n    chaos.run('kill')\n"


@pytest.fixture
def argv(tmp_path, monkeypatch) -> list[str]:
    """An experiment against a gateway that nobody runs: whoever sends anything ends with an error."""
    monkeypatch.chdir(tmp_path)
    Path("experiments_of_one.py").write_text(EXPERIMENT)
    Path("stack.toml").write_text('[gateway]\nurl = "http://127.0.0.1:9"\nmodel = "m"\n')
    return ["--stack", "stack.toml", "--experiments", "experiments_of_one.py"]


def ended(argv: list[str], label: str) -> tuple[ChaosJob, int]:
    """A run of which every template answer is called `label`, and the exit code that it ended with."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    job = ChaosJob.prepare(parser.parse_args(argv))
    rows = [Row(item=item, fault="kill", label=label, path="template") for item in load_set("support")[:30]]
    for row in rows:
        job.folder.append(row.trial)
    job.folder.close_block(block_of("kill", len(rows)))
    write_scores(job.folder.path / SCORES_FILE, [row.judged for row in rows])
    return job, gate_run(job.folder.path, job.criteria, ends_run=True, out=io.StringIO())


@pytest.fixture
def failed(argv) -> Path:
    """A run folder whose template misleads on every item, judged at its end."""
    job, code = ended(argv, "misleading")
    assert code == 1
    return job.folder.path


def content(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_run_that_ended_with_fail_is_not_run_until_it_is_green(argv, failed, capsys):
    before = content(failed)
    for _ in range(2):
        assert main(["chaos", *argv, "--resume", str(failed)]) == 1
        said = capsys.readouterr().err
        assert "this run has ended, nothing more is sent; begin a new one" in said
        assert "FAIL: " in said
    assert content(failed) == before
    assert main(["gate", str(failed)]) == 1
    assert main(["chaos", *argv, "--resume", str(failed)]) == 1, "judged once more, it is as final as before"


def test_a_fail_of_a_later_judgement_is_as_final_as_one_of_the_first(argv, capsys):
    job, code = ended(argv, "faithful")
    assert code != 1
    run = job.folder.path
    write_scores(
        run / "scores-2.parquet", [{**row, "label": "misleading"} for row in read_scores(run / SCORES_FILE).values()]
    )
    assert gate_run(run, job.criteria, scores="scores-2.parquet", out=io.StringIO()) == 1
    assert main(["chaos", *argv, "--resume", str(run)]) == 1
    assert "this run has ended, nothing more is sent; begin a new one" in capsys.readouterr().err


def test_a_run_that_has_ended_is_not_ended_again_by_criteria_that_ask_for_less(argv, failed, tmp_path, capsys):
    before = content(failed)
    lax = tmp_path / "lax.toml"
    lax.write_text('[run]\nconfidence = 0.9\nmax_crashes = 9\nmax_unmarked = 9\nmin_coverage = 0.0\n'
                   '[paths.any]\nmatch = ["*"]\npool = "class"\nmin_n = 1\nmisleading = 1.0\n')  # fmt: skip
    assert main(["chaos", *argv, "--resume", str(failed), "--criteria", str(lax)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "this run has ended, judged by other criteria (cpu.toml)" in line
    assert content(failed) == before


def test_a_mistyped_selector_matches_no_experiment_and_leaves_no_run(argv, capsys):  # S10
    assert main(["chaos", *argv, "-k", "a_daed_primary"]) == 2
    said = capsys.readouterr().err
    assert "no experiment matches a_daed_primary; see `pytest --collect-only -m chaos experiments_of_one.py`" in said
    assert "Traceback" not in said
    assert not list(Path("results").glob("*"))
