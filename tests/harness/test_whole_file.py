"""A file that a person named is written whole, or what was there before stays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.whole_file import write_whole

NO_ROOM = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # no file of this process may grow beyond 100 bytes
"""


def without_room(code: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own: the limit would hold for this one's own output, too, where that is a file."""
    run = [sys.executable, "-B", "-c", NO_ROOM + code, *argv]
    return subprocess.run(run, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.slow
def test_a_file_that_has_no_room_is_named_and_the_old_one_stays(tmp_path):
    file = tmp_path / "out.md"
    file.write_text("old")
    code = """
from pathlib import Path
from harness.whole_file import write_whole
try:
    write_whole(Path(sys.argv[1]), "x" * 1000)
except OSError as error:
    print(error.strerror, error.filename)
"""
    assert without_room(code, str(file)).stdout == f"File too large {file}\n"
    assert [found.name for found in tmp_path.iterdir()] == ["out.md"]
    assert file.read_text() == "old"


def test_a_device_is_written_to_and_stays_one():
    write_whole(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.slow
def test_a_command_without_room_for_its_output_says_which_file(tmp_path):
    file = tmp_path / "layers.svg"
    ran = without_room("from harness.cli import main\nsys.exit(main(sys.argv[1:]))", "layers", "--out", str(file))
    assert (ran.returncode, ran.stderr) == (2, f"truefall layers: {file}: File too large\n")
    assert list(tmp_path.iterdir()) == []


def test_half_a_surrogate_pair_is_escaped_and_json_with_it_reads_as_before(tmp_path):
    file = tmp_path / "f.json"
    write_whole(file, json.dumps("half \ud800 a pair", ensure_ascii=False))
    assert json.loads(file.read_text("utf-8")) == "half \ud800 a pair"
