"""`truefall chaos list`, `explain`, `import`, `export`, and what `--experiment` refuses before anything is started."""

import json
from pathlib import Path

import pytest

from harness.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_list_names_tests_files_and_faults(capsys):
    assert main(["chaos", "list"]) == 0
    said = capsys.readouterr().out
    for name in ("test_a_slow_primary", "growing-latency", "token_drop_answer", "cuda_ballast"):
        assert name in said


def test_the_list_outside_the_root_says_where_to_look(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["chaos", "list"]) == 0
    assert "none in this folder; run in the project's root, or name --experiments" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("latency", ["mean_ms", "written as"]),
        ("growing-latency", ["before request", "stops at"]),
        ("examples/experiments/growing-latency.yaml", ["before request"]),
        ("a_slow_primary_is_left_for_the_next_path", ["tests/chaos/test_2_network.py", "chaos.run("]),
    ],
)
def test_a_fault_a_file_and_a_test_are_explained(capsys, name, words):
    assert main(["chaos", "explain", name]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["chaos", "explain", "growing-latncy"], ["'growing-latncy'", "did you mean growing-latency"]),
        (["chaos", "explain"], ["name what to explain"]),
        (["chaos", "import", "nowhere.json"], ["nowhere.json"]),
        (["chaos", "export", "nowhere.yaml"], ["nowhere.yaml: cannot be read"]),
        (["chaos", "--experiment", "nowhere.yaml"], ["nowhere.yaml: cannot be read"]),
        (["chaos", "--stack", "nowhere.toml"], ["nowhere.toml: cannot be read"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(capsys, argv, words):
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(word in said for word in words), said


def test_an_export_is_json_and_can_be_imported_again(tmp_path, capsys):
    assert main(["chaos", "export", "examples/experiments/growing-latency.yaml"]) == 0
    done = capsys.readouterr()
    assert "left out: words get lost" in done.err
    file = tmp_path / "theirs.json"
    file.write_text(done.out, "utf-8")
    assert json.loads(done.out)["method"]
    assert main(["chaos", "import", str(file)]) == 0
    assert "fault: latency" in capsys.readouterr().out
