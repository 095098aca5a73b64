"""A bench session measures what it says: nothing is left out silently."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCH = """
import pytest

def test_with_the_fixture(benchmark, tell):
    benchmark(lambda: None)
    tell("a figure of 7 ms")

def test_without_it(tell):
    tell("a figure of 9 ms")
"""
SKIPS = '\ndef test_that_cannot_be_measured_here():\n    pytest.skip("no GPU")\n'


def session(folder, text, *options):
    shutil.copy(ROOT / "tests/bench/conftest.py", folder)
    (folder / "test_one.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *options, str(folder)]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_benchmark_runs_and_its_figures_are_shown_at_the_end(tmp_path):
    ran = session(tmp_path, BENCH)
    assert ran.returncode == 0
    assert "a figure of 7 ms" in ran.stdout
    assert "a figure of 9 ms" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("text", "options"), [(BENCH + SKIPS, ()), (BENCH, ("--benchmark-only",))])
def test_a_session_that_skips_is_not_green_and_says_what_it_left_out(tmp_path, text, options):
    ran = session(tmp_path, text, *options)
    assert ran.returncode == 1
    assert "NOT MEASURED: test_one.py::test_" in ran.stdout


def test_the_sessions_command_leaves_nothing_out():
    lines = [line for line in (ROOT / "noxfile.py").read_text("utf-8").splitlines() if '"tests/bench"' in line]
    assert len(lines) == 1
    assert '"-m", ""' in lines[0]
    assert not {"--benchmark-only", "--benchmark-skip", "-k", "--ignore", "--deselect"} & set(lines[0].split('"'))
