"""A file that a person named is written whole, or what was there before stays."""

import resource
import signal
from pathlib import Path

import pytest

from harness.cli import main
from harness.whole_file import write_whole


@pytest.fixture
def full_disk():
    """No file may grow beyond 100 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    heard = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, heard)


def test_a_file_that_has_no_room_is_named_and_the_old_one_stays(tmp_path, full_disk):
    file = tmp_path / "out.md"
    file.write_text("old")
    with pytest.raises(OSError, match="File too large") as told:
        write_whole(file, "x" * 1000)
    assert told.value.filename == str(file)
    assert [found.name for found in tmp_path.iterdir()] == ["out.md"]
    assert file.read_text() == "old"


def test_a_device_is_written_to_and_stays_one():
    write_whole(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


def test_a_command_without_room_for_its_output_says_which_file(tmp_path, full_disk, capsys):
    assert main(["layers", "--out", str(tmp_path / "layers.svg")]) == 2
    assert capsys.readouterr().err == f"truefall layers: {tmp_path / 'layers.svg'}: File too large\n"
    assert list(tmp_path.iterdir()) == []
