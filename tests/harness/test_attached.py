"""Somebody else's gateway: the plugin in their repository, real sockets, no model; and files that are refused."""

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults.process import ProcessId
from faults.revival import Revival
from gateway.clock import SystemClock
from harness.errors import ConfigError, StackError
from harness.stack.attached import attach, load_stack_file, only_gateway
from harness.store import RunFolder, read_rows

pytest_plugins = ["pytester"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "your-own-gateway"


@contextmanager
def example_running(folder: Path) -> Iterator[Path]:
    """The example's stack; yields its stack.toml."""
    argv = [sys.executable, str(EXAMPLE / "start.py"), str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert b"stack.toml" in started.stdout.readline()
        try:
            yield folder / "stack.toml"
        finally:
            started.send_signal(2)


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Path]:
    with example_running(tmp_path_factory.mktemp("stack")) as stack:
        yield stack


def arguments(stack: Path) -> list[str]:
    """Of a pytest without Hypothesis, whose import takes longer than most of these runs."""
    without = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    run = (f"--chaos-stack={stack}", "--chaos-run=run", f"--chaos-evalset={EXAMPLE / 'items.jsonl'}")
    return ["-m", "chaos", *without, *run]


def in_their_repository(pytester: pytest.Pytester, stack: Path, *more: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*arguments(stack), *more)


@pytest.mark.slow
def test_a_gateway_py_beside_their_tests_hides_nothing(pytester, running):
    pytester.copy_example(str(EXAMPLE / "test_plan_b.py"))
    pytester.makepyfile(gateway="raise SystemExit('their own gateway was run')")
    program = Path(sys.executable).with_name("pytest")  # not by pytester, which puts the folder on PYTHONPATH
    argv = [str(program), *arguments(running), "-k", "without_a_fault"]
    ran = subprocess.run(argv, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert "1 passed" in ran.stdout


@pytest.mark.slow
def test_a_module_of_theirs_that_hides_ours_is_named_and_never_run(pytester):
    pytester.makepyfile(gateway="raise SystemExit('their own gateway was run')")
    pytester.makepyfile(test_it="import pytest\n@pytest.mark.chaos\ndef test_it(chaos): pass")
    result = pytester.run(sys.executable, "-m", "pytest", *arguments(Path("stack.toml")))
    assert result.ret == 96
    result.stdout.fnmatch_lines(["*truefall: */gateway.py: hides a package of truefall; rename it*"])


@pytest.mark.slow
def test_another_team_runs_the_plugin_against_its_own_gateway(pytester, running):
    pytester.copy_example(str(EXAMPLE / "test_plan_b.py"))
    result = in_their_repository(pytester, running, "--chaos-items=1")  # two faults cost a second for each
    result.assert_outcomes(passed=5)
    blocks = (pytester.path / "run" / "blocks.jsonl").read_text("utf-8")
    assert '"fired": true' in blocks
    assert '"fired": false' not in blocks
    assert "leftovers" not in (pytester.path / "run" / "run.json").read_text("utf-8")


@pytest.mark.slow
def test_a_yaml_experiment_runs_against_it_too(pytester, running):
    experiment = pytester.path / "bursts.yaml"
    example = EXAMPLE.parent / "experiments" / "bursts-for-one-tenant.yaml"
    experiment.write_text(example.read_text("utf-8"), "utf-8")
    from harness import experiment_files

    result = in_their_repository(pytester, running, f"--chaos-experiment={experiment}", str(experiment_files.__file__))
    result.assert_outcomes(passed=2)
    rows = (pytester.path / "run" / "trials.jsonl").read_text("utf-8")
    assert '"path": "canned"' in rows
    assert '"phase": "recover"' in rows


@pytest.mark.slow
def test_a_proxy_that_traffic_does_not_pass_is_found_before_the_run(pytester, running, tmp_path):
    argv = [sys.executable, "-m", "faults.semantic", "--upstream", "http://127.0.0.1:9"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as aside:
        try:
            assert aside.stdout is not None
            url = aside.stdout.readline().decode().split('"url": "')[1].split('"')[0]
            stack = tmp_path / "wrong.toml"
            lines = running.read_text("utf-8").splitlines()
            kept = [line for line in lines if not line.startswith("semantic_url")]
            stack.write_text("\n".join([*kept, f'semantic_url = "{url}"']), "utf-8")
            pytester.makepyfile("import pytest\n@pytest.mark.chaos\ndef test_x(chaos): raise AssertionError('ran')")
            result = in_their_repository(pytester, stack)
        finally:
            aside.kill()
    said = result.stdout.str() + result.stderr.str()
    assert f"primary: a probe did not pass the semantic proxy at {url}" in said
    assert "AssertionError" not in said
    assert result.ret == 96


@pytest.mark.slow
def test_a_fault_that_could_not_be_undone_is_the_last_line_and_an_exit_code_of_its_own(pytester, running):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.chaos
        def test_leaves_something_on(chaos):
            (chaos.run_.folder.journal / "left.jsonl").write_text("a record that nobody can undo")
        """
    )
    result = in_their_repository(pytester, running)
    assert result.ret == 97
    assert "A FAULT IS STILL ON" in result.stdout.str() + result.stderr.str()
    assert "left.jsonl" in result.stdout.str() + result.stderr.str()


STOPPED = """
import os, signal
import pytest

@pytest.mark.chaos
def test_before(chaos):
    assert chaos.steady().trials

@pytest.mark.chaos
def test_that_stops(chaos):
    {how}

@pytest.mark.chaos
def test_after(chaos):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "more", "known"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", (), ["began"]),
        ("pytest.exit('enough')", (), ["began"]),
        ("raise AssertionError", ("-x",), ["began"]),
        ("raise AssertionError", (), ["began", "ended"]),
    ],
)
def test_a_run_that_is_stopped_between_two_experiments_is_known(pytester, running, how, more, known):
    pytester.makepyfile(STOPPED.format(how=how))
    in_their_repository(pytester, running, "--chaos-items=1", *more)
    folder = RunFolder.open(pytester.path / "run")
    assert [row["session"] for row in read_rows(folder.sessions_file)] == known
    assert [block.cut_short for block in folder.known_blocks()] == ([False] if "ended" in known else [False, True])


RESTART = """\
#!/bin/sh
echo $$ > backend.pid
exec {python} {backend} {port}
"""
KILL_AND_HANG = """
import pytest

pytestmark = pytest.mark.chaos

def test_killed_twice(chaos):
    for time in ("first", "second"):
        killed = chaos.run("kill", name=f"kill-{time}")
        assert killed.fired
        assert killed.recovered
        assert not killed.crashes

def test_the_new_process_is_known(chaos):
    assert chaos.run("hang").fired
"""


def restartable(running: Path, folder: Path, **changed: str) -> Path:
    """The example's stack file, with a command that starts the backend again."""
    found = tomllib.loads(running.read_text("utf-8"))["backends"]["primary"]
    script = RESTART.format(python=sys.executable, backend=EXAMPLE / "backend.py", port=found["url"].rpartition(":")[2])
    (folder / "start.sh").write_text(script, "utf-8")
    (folder / "backend.pid").write_text(f"{found['pid']}\n", "utf-8")
    more = {"pid_file": '"backend.pid"', "restart": '["sh", "start.sh"]', **changed}
    lines = [line for line in running.read_text("utf-8").splitlines() if not line.startswith("pid =")]
    stack = folder / "stack.toml"
    stack.write_text("\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())]), "utf-8")
    return stack


@pytest.mark.slow
def test_a_killed_backend_is_started_again_by_their_own_command_and_outlives_the_run(pytester, tmp_path):
    folder = tmp_path / "started"
    folder.mkdir()
    with example_running(folder) as running:
        stack = restartable(running, tmp_path)
        first = (tmp_path / "backend.pid").read_text("utf-8")
        pytester.makepyfile(KILL_AND_HANG)
        result = in_their_repository(pytester, stack)
        last = int((tmp_path / "backend.pid").read_text("utf-8"))
        try:
            result.assert_outcomes(passed=2)
            assert last != int(first)
            assert ProcessId.of(last) is not None, "the backend ended with the run"
        finally:
            os.kill(last, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "words"),
    [('["sh", "-c", "exit 3"]', "ended with exit code 3"), ('["./not-there"]', "No such file or directory")],
)
def test_a_restart_command_that_fails_is_the_loudest_line(pytester, tmp_path, command, words):
    folder = tmp_path / "started"
    folder.mkdir()
    with example_running(folder) as running:
        stack = restartable(running, tmp_path, restart=command)
        pytester.makepyfile(KILL_AND_HANG)
        result = in_their_repository(pytester, stack)
    said = result.stdout.str() + result.stderr.str()
    assert result.ret == 97, said
    assert "A FAULT IS STILL ON" in said
    assert words in said


GOOD = """\
[gateway]
url = "http://127.0.0.1:1"
model = "m"

[backends.primary]
url = "http://127.0.0.1:2"
"""


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ('model = "m"', 'modle = "m"', [":3", "modle", "model"]),
        ('url = "http://127.0.0.1:1"', 'url = "127.0.0.1:1"', ["'127.0.0.1:1'", "http://"]),
        ('url = "http://127.0.0.1:2"', 'toxiproxy_url = "http://x"', ["belong together"]),
        ('url = "http://127.0.0.1:2"', 'pid = 1\npid_file = "p"', ["not both"]),
        ('url = "http://127.0.0.1:2"', "pid = 1\nrestart = []", ["pid_file instead of pid"]),
        ('url = "http://127.0.0.1:2"', 'pid = "1"', [":6", "int"]),
        ("[gateway]", "[gateway", ["not valid TOML"]),
    ],
)
def test_a_wrong_stack_file_is_refused_with_what_would_be_right(tmp_path, was, now, words):
    file = tmp_path / "stack.toml"
    file.write_text(GOOD.replace(was, now), "utf-8")
    with pytest.raises(ConfigError) as refused:
        load_stack_file(file)
    assert all(word in str(refused.value) for word in ["stack.toml", *words]), refused.value


async def test_a_gateway_that_is_not_there_a_backend_that_is_not_named_and_a_secret_that_is_not_set(
    tmp_path, monkeypatch
):
    file = tmp_path / "stack.toml"
    file.write_text(GOOD.replace('model = "m"', 'model = "m"\ntoken_env = "TRUEFALL_TEST_TOKEN"'), "utf-8")
    stack = attach(file, journal=tmp_path, clock=SystemClock())
    with pytest.raises(StackError, match="start it first"):
        await stack.start()
    with pytest.raises(ConfigError, match=r"'third' is not in the stack file; backends there: primary"):
        stack.target("third")
    with pytest.raises(ConfigError, match="TRUEFALL_TEST_TOKEN is not set"):
        _ = stack.token
    monkeypatch.setenv("TRUEFALL_TEST_TOKEN", "t")
    assert stack.token == "t"
    with pytest.raises(StackError, match="start it first"):
        only_gateway("http://127.0.0.1:1", journal=tmp_path, clock=SystemClock())


def test_a_pid_file_is_read_each_time_and_a_dead_process_is_none(tmp_path):
    file = tmp_path / "stack.toml"
    file.write_text(GOOD.replace('url = "http://127.0.0.1:2"', 'pid_file = "backend.pid"'), "utf-8")
    target = attach(file, journal=tmp_path, clock=SystemClock()).target("primary")
    assert target.pid() is None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (tmp_path / "backend.pid").write_text(f"{process.pid}\n", "utf-8")
        assert target.pid() == process.pid
        process.kill()
    assert target.pid() is None


def test_a_fault_is_told_how_the_backend_comes_back_without_the_harness(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_TOKEN", "secret")
    named = GOOD.replace("[backends", 'admin_token_env = "OUR_TOKEN"\n\n[backends')
    (tmp_path / "stack.toml").write_text(named + 'pid_file = "run/p.pid"\nrestart = ["./start.sh"]\n')
    target = attach(tmp_path / "stack.toml", journal=tmp_path, clock=SystemClock()).target("primary")
    assert target.revival == Revival(
        command=["./start.sh"], folder=str(tmp_path), pid_file="run/p.pid", health_url="http://127.0.0.1:2/health"
    )
    assert (target.gateway_token, target.gateway_token_env) == ("secret", "OUR_TOKEN")
    (tmp_path / "stack.toml").write_text(GOOD)
    assert attach(tmp_path / "stack.toml", journal=tmp_path, clock=SystemClock()).target("primary").revival is None
