"""The command line: quick, and one clear line with exit code 2 for whatever is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from evalsets.errors import EvalsetError
from harness.cli import COMMANDS, main, run_command
from harness.commands.chaos import chaos_command

ROOT = Path(__file__).parents[2]


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if name not in shown] == []


def test_an_unknown_command_is_refused_and_the_known_ones_named(capsys):
    assert main(["chaso"]) == 2
    assert "unknown command 'chaso'" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_imported_and_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as ended:
        run_command(name, ["--help"])
    assert ended.value.code == 0
    assert f"usage: truefall {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["chaos", "--profile", "nope"], "nope"),
        (["chaos", "--policy", "nope.toml"], "nope.toml"),
        (["chaos", "--criteria", "nope.toml"], "nope.toml"),
        (["chaos", "--evalset", "nope"], "nope"),
        (["chaos", "--experiments", "nope"], "nope"),
        (["chaos", "--items", "0"], "at least 1"),
        (["chaos", "--resume", "nope"], "run.json"),
        (["chaos", "--item", "support-en-0001"], "did you mean support-en-001"),
        (["gateway", "--config", "x.toml", "--port", "65536"], "from 0 (any free one) to 65535"),
        (["faults", "explain", "latncy"], "did you mean latency?"),
        (["gate", "nope"], "nope"),
        (["report", "nope"], "nope"),
        (["ab", "nope", "nope"], "nope"),
        (["evalset", "lint", "nope"], "'nope' (of 2 known); known are collapse, support"),
        (["chaos", "list", "--experiments", "nope"], "--experiments nope: no such file"),
        (["models", "prepare", "nope"], "nope"),
        (["score", "--input", "nope.jsonl", "--output", "out.jsonl"], "nope.jsonl"),
        (["baseline", "--output", "b.json", "--texts", "nope"], "'nope' (of 2 known); known are collapse, support"),
        (["baseline", "--output", "b.json", "--pairs", "0"], "--pairs 0: a baseline needs 2 different texts"),
        (["baseline", "--output", "nope/b.json"], "nope: no such folder for --output"),
        (["baseline", "--output", "b.json", "--model", "no-such-folder"], "'no-such-folder' is no folder"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(argv, said, capsys, tmp_path, monkeypatch):
    (tmp_path / "tests" / "chaos").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["chaos", "--seed", "abc"], "argument --seed: invalid int value: 'abc'"),
        (["chaos", "--device", "tpu"], "invalid choice: 'tpu'"),
        (["gate", "run", "--sedd"], "unrecognized arguments: --sedd"),
        (["models", "nope"], "invalid choice: 'nope'"),
        (["score"], "required: --input, --output"),
        (["baseline"], "required: --output"),
        (["score", "--device", "tpu"], "'tpu' is no device; use cpu, cuda or cuda:N"),
        (["judge-the-judge", "collapse", "--device", "cuda:"], "'cuda:' is no device"),
        (["judge-the-judge", "collapse", "--nli", "nope"], "nope: no model folder: config.json is missing"),
    ],
)
def test_a_wrong_option_is_one_line_too(argv, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


@pytest.mark.slow
def test_the_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom harness.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\nprint(len(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout.split()[-1]) < 300


def test_each_problem_of_an_evaluation_set_names_the_set(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = (ROOT / "examples" / "your-own-gateway" / "items.jsonl").read_text("utf-8").splitlines()[0]
    (tmp_path / "mine.jsonl").write_text(f"{first}\n{first.replace('shop-en-001', 'shop-en-002')}\n", "utf-8")
    assert main(["evalset", "lint", "support", "mine.jsonl"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said
    assert all(line.startswith("mine.jsonl: ") for line in said)


def test_an_error_of_several_lines_is_told_in_one(capsys, monkeypatch, tmp_path):
    def broken(path):
        raise EvalsetError("first line\n  second line")

    monkeypatch.setattr("evalsets.lint.lint_set", broken)
    assert main(["evalset", "lint", "support"]) == 2
    assert capsys.readouterr().err == "truefall evalset: first line second line\n"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"NOX_CURRENT_SESSION": "tests"}, "truefall chaos"),
        ({"NOX_CURRENT_SESSION": "chaos"}, "python3 -m nox -s chaos --"),
    ],
)
def test_how_to_go_on_is_said_in_the_words_that_the_user_typed(environ, said):
    assert chaos_command(environ) == said
