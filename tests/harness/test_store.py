"""A run folder keeps what was written, whatever ended the run."""

import errno
import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from harness.errors import ResultError
from harness.store import RunFolder, append_row, read_rows
from harness.trial import Begun, Block, Outcome, Trial


def a_trial(number: int, block: str = "steady#0") -> Trial:
    return Trial(
        id=f"steady/{number}", experiment="steady", block=block, fault="none", target=None, item_id=str(number),
        lang="en", stream=False, outcome=Outcome.OK, reasons=("timeout",),
    )  # fmt: skip


def a_block(block_id: str = "steady#0") -> Block:
    return Block(id=block_id, experiment="steady", fault="none", target=None, trials=1, steady=True, fired=None)


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path / "run", {"seed": 0})


def test_a_trial_comes_back_as_it_was_written(folder):
    folder.append(a_trial(1))
    folder.close_block(a_block())
    assert folder.trials() == [a_trial(1)]
    assert folder.blocks() == [a_block()]


def test_trials_of_a_block_that_was_cut_short_do_not_count(folder):
    folder.append(a_trial(1))
    folder.append(a_trial(2, block="steady#1"))
    folder.close_block(a_block())
    assert [trial.id for trial in folder.trials()] == ["steady/1"]


def test_a_block_that_was_begun_and_never_closed_is_kept_apart_counted_and_named(folder):
    folder.append(a_trial(1))
    folder.close_block(a_block())
    folder.begin_block(Begun("hang#0", "hang", "hang", "primary"))
    folder.append(a_trial(2, block="kill#0"))
    folder.append(a_trial(3, block="kill#0"))
    assert [block.id for block in folder.blocks()] == ["steady#0"]
    assert {(block.id, block.trials, block.cut_short) for block in folder.open_blocks()} == {
        ("hang#0", 0, True),
        ("kill#0", 2, True),
    }
    assert all("begun and never ended" in block.error for block in folder.open_blocks())
    assert folder.new_block_id("hang#0") == "hang#0.1"


def test_a_run_that_was_killed_between_two_blocks_is_known_until_it_is_gone_on_with(folder):
    folder.append(a_trial(1))
    folder.close_block(a_block())
    killed = folder.session()
    killed.__enter__()  # and nothing more
    assert [(block.id, block.cut_short) for block in folder.known_blocks()] == [("steady#0", False), ("session", True)]
    assert "was killed or interrupted" in folder.known_blocks()[-1].error
    with folder.session():
        pass
    assert folder.known_blocks() == folder.blocks()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ResultError, AssertionError])
def test_a_session_that_an_exception_ends_is_not_noted_as_ended(folder, error):
    with pytest.raises(error), folder.session():
        raise error
    assert [block.id for block in folder.known_blocks()] == ["session"]


def test_a_session_that_was_interrupted_without_an_exception_is_not_noted_as_ended(folder):
    with folder.session() as noted:
        noted.interrupted = True
    assert [block.id for block in folder.known_blocks()] == ["session"]


def test_a_session_says_when_it_began_and_ended(folder):
    with folder.session():
        pass
    rows = list(read_rows(folder.sessions_file))
    assert [row["session"] for row in rows] == ["began", "ended"]
    assert all(datetime.fromisoformat(row["at"]).utcoffset() == timedelta(0) for row in rows)


def test_a_block_that_was_begun_again_is_open_only_as_its_last_attempt(folder):
    folder.append(a_trial(1, block="kill#0"))
    folder.append(a_trial(1, block="kill#0.1"))
    assert [block.id for block in folder.open_blocks()] == ["kill#0.1"]
    folder.append(a_trial(1, block="kill#0.2"))
    folder.close_block(a_block("kill#0.2"))
    assert folder.open_blocks() == []
    assert [block.id for block in folder.known_blocks()] == ["kill#0.2"]


@pytest.mark.parametrize("second", ["steady#0", "steady#1"])
def test_an_id_that_stands_twice_in_whole_blocks_is_an_error_that_names_it(folder, second):
    folder.append(a_trial(1))
    folder.append(replace(a_trial(1, block=second), answer="another"))
    for block_id in {"steady#0", second}:
        folder.close_block(a_block(block_id))
    with pytest.raises(ResultError, match=r"trial 'steady/1' stands there twice \(block steady#0.*make a new run"):
        folder.trials()


def test_a_line_that_a_kill_cut_in_half_is_dropped_and_written_over(folder):
    folder.append(a_trial(1))
    with folder.trials_file.open("a") as rows:
        rows.write('{"id": "stea')
    folder.close_block(a_block())
    assert [trial.id for trial in folder.trials()] == ["steady/1"]
    folder.append(a_trial(2))
    assert [trial.id for trial in folder.trials()] == ["steady/1", "steady/2"]


def test_a_broken_line_in_the_middle_is_an_error_with_its_number(folder):
    folder.trials_file.write_text('{"id": 1}\nnonsense\n{"id": 2}\n')
    with pytest.raises(ResultError, match=r"line 2: not JSON"):
        list(read_rows(folder.trials_file))


def test_an_unknown_field_is_an_error_that_names_it(folder):
    append_row(folder.trials_file, {**a_trial(1).to_row(), "colour": "red"})
    folder.close_block(a_block())
    with pytest.raises(ResultError, match="'colour'"):
        folder.trials()


def test_a_folder_that_exists_is_never_written_over(folder):
    with pytest.raises(ResultError, match="--resume"):
        RunFolder.create(folder.path, {"seed": 1})
    assert folder.meta() == {"seed": 0}


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ResultError, match=r"run\.json is missing"):
        RunFolder.open(tmp_path)


def test_nan_never_reaches_a_file(folder):
    with pytest.raises(ValueError, match="not JSON compliant"):
        append_row(folder.trials_file, {"x": float("nan")})
    assert not folder.trials_file.exists()


def test_a_json_file_is_replaced_whole_or_not_at_all(folder):
    with pytest.raises(ValueError, match="not JSON compliant"):
        folder.write_json("run.json", {"x": float("inf")})
    assert json.loads(folder.meta_file.read_text()) == {"seed": 0}


def test_a_folder_that_cannot_be_filled_is_not_left_behind(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(RunFolder, "write_json", full)
    with pytest.raises(ResultError, match="No space left on device; choose another with --results"):
        RunFolder.create(tmp_path / "run", {})
    assert not (tmp_path / "run").exists()


def test_a_folder_that_was_made_for_nothing_goes_and_one_that_holds_anything_stays(tmp_path):
    empty = RunFolder.create(tmp_path / "empty", {})
    empty.discard_unused()
    assert not empty.path.exists()
    used = RunFolder.create(tmp_path / "used", {})
    (used.logs / "primary.log").write_text("")
    used.discard_unused()
    assert used.path.exists()
