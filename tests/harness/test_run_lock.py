"""A run folder has one writer at a time, and a dead one holds nothing."""

import subprocess
import sys

import pytest

from evalsets.jsonl import load_set
from harness import cli
from harness.errors import ResultError
from harness.meta import describe_run, open_folder
from harness.models import load_profile
from harness.run_lock import LOCK_FILE, only_writer
from harness.session import ChaosSession, SessionOptions, plan_of
from harness.store import RunFolder

HOLD = """
import sys
from pathlib import Path
from harness.run_lock import only_writer
from harness.store import RunFolder
with only_writer(RunFolder.open(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", {"profile": "cpu"})


def test_a_second_writer_is_refused_and_told_who_has_it(folder):
    with (
        only_writer(folder),
        pytest.raises(ResultError, match=r"process \d+ is writing this run folder; wait"),
        only_writer(folder),
    ):
        pass
    with only_writer(folder):
        pass


def test_a_folder_that_cannot_be_locked_is_one_line(folder):
    (folder.path / LOCK_FILE).mkdir()
    with pytest.raises(ResultError, match="cannot write: Is a directory"), only_writer(folder):
        pass


@pytest.mark.slow
def test_a_killed_writer_holds_nothing(folder):
    argv = [sys.executable, "-c", HOLD, str(folder.path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ResultError, match=f"process {holder.pid} is writing"), only_writer(folder):
            pass
        holder.kill()
        holder.wait(timeout=60)
    with only_writer(folder):
        pass


@pytest.mark.parametrize("command", ["gate", "report"])
def test_whoever_would_write_into_a_folder_waits_for_nobody(folder, capsys, command):
    with only_writer(folder):
        assert cli.main([command, str(folder.path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is writing this run folder" in line


@pytest.mark.slow
def test_a_second_session_on_a_folder_is_refused_before_anything_is_started(tmp_path):
    options = SessionOptions(run_folder=str(tmp_path / "run"), gateway_url="http://127.0.0.1:9")
    profile = load_profile(options.profile)
    plan = plan_of(options, profile, load_set(options.evalset))
    folder = open_folder(options, describe_run(options, profile, plan))
    with (
        only_writer(folder),
        pytest.raises(ResultError, match="is writing this run folder"),
        ChaosSession.open(options),
    ):
        pass
