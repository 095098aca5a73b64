"""What outlives a run: leftovers are undone and make the next run inconclusive; a failed undo is the loudest line."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from run_builder import Row, block_of, run_folder

import harness
from evalsets.item import Item
from faults.fault import Target
from faults.journal import Journal
from faults.process import ProcessId
from faults.undo import FileChanged
from harness.chaos_job import ChaosJob
from harness.decision import Verdict
from harness.errors import HarnessError, NothingJudged, StackError
from harness.gate_run import gate_run
from harness.gate_run_level import began_clean
from harness.safety import STILL_ON_CODE, find_foreign, leftovers_of, still_on, sweep_leftovers
from harness.store import RunFolder

ITEM = Item(
    id="set-en-001", lang="en", system="", context="", prompt="q", reference="yes", must_keep=(), must_not=(),
    contract=None, tags=(), source="test", licence="Apache-2.0",
)  # fmt: skip


def left_by_a_dead_run(journal: Path, changed: Path, original: str = "as it was") -> None:
    """A record as a killed harness leaves it: its owner is no process any more."""
    journal.mkdir(parents=True, exist_ok=True)
    entry = Journal(folder=journal).write("primary", FileChanged(path=str(changed), original=original))
    file = journal / f"{entry.id}.jsonl"
    row = json.loads(file.read_text("utf-8"))
    row["owner"] = {"pid": 1, "started": 1}
    file.write_text(json.dumps(row), "utf-8")


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs" / "new", {"seed": 1})


@pytest.mark.parametrize("where", ["runs/new/journal", "runs/earlier/journal"])
def test_a_leftover_of_this_run_or_of_one_beside_it_is_undone_and_written_down(tmp_path, folder, where):
    RunFolder.create(tmp_path / "runs" / "earlier", {})
    changed = tmp_path / "limit"
    changed.write_text("lowered", "utf-8")
    left_by_a_dead_run(tmp_path / where, changed)
    (line,) = sweep_leftovers(folder)
    assert changed.read_text("utf-8") == "as it was"
    assert "limit" in line
    assert leftovers_of(folder.meta()) == [line]
    assert sweep_leftovers(folder) == []
    assert leftovers_of(folder.meta()) == [line], "a second start forgot that the run began with a leftover"


def test_a_leftover_that_cannot_be_undone_stops_the_run_before_it_begins(tmp_path, folder):
    left_by_a_dead_run(folder.journal, tmp_path)  # a folder cannot be written like a file
    with pytest.raises(StackError, match="still on"):
        sweep_leftovers(folder)


def test_a_clean_start_writes_nothing(folder):
    before = folder.meta_file.read_bytes()
    assert sweep_leftovers(folder) == []
    assert folder.meta_file.read_bytes() == before


def test_a_run_that_began_with_a_leftover_is_inconclusive():
    check = began_clean(["primary: toxic latency is on"])
    assert check.verdict is Verdict.INCONCLUSIVE
    assert "toxic latency" in check.reason


@pytest.mark.parametrize(("leftovers", "verdicts"), [([], []), (["primary: toxic x"], ["INCONCLUSIVE"])])
def test_the_gate_reads_from_the_run_folder_what_was_on_before(tmp_path, leftovers, verdicts):
    rows = [Row(item=ITEM), Row(item=ITEM, fault="latency")]
    run = run_folder(tmp_path / "run", rows, leftovers=leftovers).path
    gate_run(run, Path(harness.__file__).parent / "gates" / "cpu.toml", ends_run=True, out=io.StringIO())
    checks = json.loads((run / "verdict.json").read_text("utf-8"))["checks"]
    assert [check["verdict"] for check in checks if check["name"] == "nothing was on before"] == verdicts


def test_a_process_that_somebody_stopped_is_found_before_the_first_fault(folder):
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as process:
        try:
            target = Target(name="primary", url="http://127.0.0.1:1", pid=lambda: process.pid)
            assert find_foreign(folder, [target]) == []
            identity = ProcessId.of(process.pid)
            assert identity is not None
            process.send_signal(19)
            while not identity.stopped:
                continue
            assert find_foreign(folder, [target]) == [f"primary: process {process.pid} is stopped"]
            assert leftovers_of(folder.meta())
        finally:
            process.kill()


def test_an_undo_that_failed_is_still_on(tmp_path):
    folder = run_folder(tmp_path / "run", [Row(item=ITEM, fault="latency")])
    assert still_on(folder) == []
    folder.close_block(block_of("hang", 1, error="UndoFailed: primary: it stays"))
    assert still_on(folder) == ["hang#0: UndoFailed: primary: it stays"]


class Job(ChaosJob):
    """The end of a run without its models."""

    __slots__ = ()

    def judge_and_gate(self, *, experiments_failed: bool) -> int:
        raise NothingJudged("no trial")


@pytest.mark.parametrize("failed", [True, False])
def test_a_failed_undo_has_its_own_exit_code_whatever_else_went_wrong(tmp_path, capsys, failed):
    folder = run_folder(tmp_path / "run", [Row(item=ITEM, fault="latency")])
    job = Job(options=None, profile=None, criteria=tmp_path, folder=folder)
    if not failed:
        with pytest.raises(HarnessError):
            job.finish(experiments_failed=True)
        return
    folder.close_block(block_of("hang", 1, error="UndoFailed: primary: it stays"))
    assert job.finish(experiments_failed=True) == STILL_ON_CODE
    assert "A FAULT IS STILL ON: hang#0: UndoFailed: primary: it stays" in capsys.readouterr().err
