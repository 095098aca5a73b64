"""The undo journal, without a stack."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from faults.errors import BadFault, UndoFailed
from faults.journal import Journal, sweep
from faults.process import ProcessId
from faults.undo import AddressSpaceLow, FileChanged, ProxyOff, Stopped

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(folder=tmp_path / "journal")


@pytest.fixture
def sleeper() -> Iterator[ProcessId]:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as process:
        found = ProcessId.of(process.pid)
        assert found is not None
        yield found
        process.kill()


def test_the_record_is_there_during_the_block_and_gone_after_it(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "limit"
    file.write_text("old")
    with journal.undoing("primary", FileChanged(path=str(file), original="old")):
        (record,) = journal.folder.glob("*")
        assert record.read_text().endswith("\n")
        file.write_text("new")
    assert file.read_text() == "old"
    assert list(journal.folder.glob("*")) == []


def test_a_failed_undo_is_loud_and_its_record_stays(journal: Journal, tmp_path: Path) -> None:
    folder = tmp_path / "is a folder"
    folder.mkdir()
    with (
        pytest.raises(UndoFailed, match="is a folder"),
        journal.undoing("primary", FileChanged(path=str(folder), original="old")),
    ):
        pass
    assert len(journal.entries()) == 1


def test_a_sweep_leaves_the_faults_of_a_living_owner_and_unreadable_records_are_loud(journal: Journal) -> None:
    journal.write("primary", ProxyOff(url=NOWHERE, proxy="p"))
    assert sweep(journal.folder) == []
    assert len(journal.entries()) == 1
    (journal.folder / "x.jsonl").write_text("{}")
    with pytest.raises(UndoFailed, match=r"x\.jsonl"):
        sweep(journal.folder)


def test_a_server_that_is_gone_needs_no_undo(journal: Journal) -> None:
    entry = journal.write("primary", ProxyOff(url=NOWHERE, proxy="p"))
    assert journal.settle(entry) == "already gone"
    assert journal.entries() == []


def test_a_process_id_that_was_used_again_is_never_touched(sleeper: ProcessId) -> None:
    other = ProcessId(pid=sleeper.pid, started=sleeper.started + 1)
    limits = resource.prlimit(sleeper.pid, resource.RLIMIT_AS)
    assert not other.alive
    assert other.send(signal.SIGSTOP) is False
    assert Stopped(processes=[other]).settle([]) == "already gone"
    assert AddressSpaceLow(process=other, limit_bytes=1, original=(2**40, -1)).settle([]) == "already gone"
    assert resource.prlimit(sleeper.pid, resource.RLIMIT_AS) == limits
    assert not sleeper.stopped


def test_of_two_limits_the_lower_one_holds_until_both_are_gone(journal: Journal, sleeper: ProcessId) -> None:
    original = resource.prlimit(sleeper.pid, resource.RLIMIT_AS)
    entries = [
        journal.write("primary", AddressSpaceLow(process=sleeper, limit_bytes=limit, original=original))
        for limit in (2**40, 2**41, 2**42)
    ]
    journal.settle(entries[0])
    assert resource.prlimit(sleeper.pid, resource.RLIMIT_AS)[0] == 2**41
    journal.settle(entries[2])
    assert resource.prlimit(sleeper.pid, resource.RLIMIT_AS)[0] == 2**41
    journal.settle(entries[1])
    assert resource.prlimit(sleeper.pid, resource.RLIMIT_AS) == original


def test_a_process_has_a_start_time_and_its_children() -> None:
    me = ProcessId.of(os.getpid())
    assert me is not None
    assert me.alive
    assert me.tree()[0] == me
    assert ProcessId.of(2**22 + 1) is None


def test_a_sweep_of_no_folder_is_an_error_of_the_user(tmp_path: Path) -> None:
    from argparse import Namespace

    from harness.commands.faults import run

    with pytest.raises(BadFault, match="no such folder"):
        run(Namespace(action="sweep", folder=tmp_path / "no"))


def test_a_sweep_leaves_the_draft_of_a_living_process_and_drops_a_dead_ones(journal: Journal) -> None:
    entry = journal.write("primary", ProxyOff(url=NOWHERE, proxy="p"))
    owner = entry.owner
    living = journal.folder / f"one.{owner.pid}-{owner.started}.draft"
    dead = journal.folder / f"two.{owner.pid}-{owner.started - 1}.draft"
    for draft in (living, dead):
        draft.touch()
    assert sweep(journal.folder) == []
    assert living.exists()
    assert not dead.exists()


def test_two_who_sweep_at_once_undo_a_leftover_once(journal: Journal, tmp_path: Path) -> None:
    file = tmp_path / "limit"
    file.write_text("new")
    entry = journal.write("primary", FileChanged(path=str(file), original="old"))
    gone = ProcessId(pid=entry.owner.pid, started=entry.owner.started - 1)
    journal._on_disk(msgspec.structs.replace(entry, owner=gone))
    with ThreadPoolExecutor(2) as pool:
        swept = list(pool.map(sweep, [journal.folder] * 2))
    assert sorted(map(len, swept)) == [0, 1]
