"""Files that the gateway writes: a missing folder is made, and what can never be written is refused at the start."""

from pathlib import Path

import pytest
from served import backend, gateway
from upstream_stub import running, says

from gateway.answers import cache_file
from gateway.config import load_config
from gateway.drift import DriftMarks, Row
from gateway.drift_monitor import DriftMonitor
from gateway.errors import ConfigError
from gateway.review import Held, ReviewQueue
from gateway.state_files import require_writable, state_files
from harness.cli import main

BACKEND = '[[backends]]\nname = "primary"\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
WATCHED = BACKEND + '[backends.watchdog]\ncommand = ["serve"]\n'
KEYS = {
    "deferred.path": "[deferred]\npath = {}\n",
    "answers.cache_file": "[answers]\ncache_file = {}\n",
    "answers.review_db": "[answers]\nreview_db = {}\n",
    "telemetry.drift_baseline": "[telemetry]\ndrift_baseline = {}\n",
    "backends.primary.watchdog.log_file": "log_file = {}\n",
    "backends.primary.watchdog.pid_file": "pid_file = {}\n",
}


def config_with(folder: Path, key: str, value: str) -> Path:
    """A config file that sets `key`."""
    file, table = folder / "gateway.toml", KEYS[key].format(f'"{value}"')
    file.write_text(WATCHED + table if "watchdog" in key else table + BACKEND)
    return file


@pytest.mark.parametrize("key", KEYS)
def test_a_file_in_place_of_its_folder_is_refused_in_one_line_by_a_check(tmp_path, key, capsys):
    (tmp_path / "taken").write_text("")
    assert main(["gateway", "--config", str(config_with(tmp_path, key, "taken/state")), "--check"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{key} = '{tmp_path}/taken/state' cannot be written: {tmp_path}/taken is no folder" in line


@pytest.mark.parametrize("key", KEYS)
def test_a_folder_in_place_of_the_file_is_refused_and_one_that_is_to_be_made_is_not(tmp_path, key):
    config = load_config(config_with(tmp_path, key, "."))
    with pytest.raises(ConfigError, match="it is there, and is no file"):
        require_writable(config)
    config = load_config(config_with(tmp_path, key, "new/folder/state"))
    require_writable(config)
    assert [name for name, _ in state_files(config)] == [key]
    assert not (tmp_path / "new").exists()


async def test_a_start_refuses_as_a_check_does(tmp_path):
    (tmp_path / "taken").write_text("")
    config = load_config(config_with(tmp_path, "answers.review_db", "taken/review.db"))
    async with running(says("Yes.")) as up:
        with pytest.raises(ConfigError, match=r"answers\.review_db = .* cannot be written"):
            async with gateway(backend(up, "primary"), answers=config.answers):
                pass


def test_who_writes_first_makes_the_folder(tmp_path):
    review, kept, drift = (tmp_path / name / "deep" / "file" for name in ("review", "kept", "drift"))
    held = Held(path="p", task="t", delta=None, entropy=0.0, question="q", answer="a", stands_for=None)
    identity = ReviewQueue(review, max_bytes=999_999, now_unix_s=lambda: 0.0).put(held)
    assert [one.id for one in ReviewQueue(review, max_bytes=999_999, now_unix_s=lambda: 0.0).entries()] == [identity]
    cache_file.save(kept, [], space="hashed", wording="w")
    assert cache_file.load(kept, space="hashed", wording="w") == []
    marks = DriftMarks(features=("latency_ms",), window_samples=20, stride_samples=5)
    monitor = DriftMonitor(marks=lambda: marks, tell=lambda *_: None, file=drift)
    for number in range(20):
        monitor.observe({"latency_ms": float(number)}, Row(0.1, ()))
    assert drift.is_file()


NAMED = {
    **KEYS,
    "answers.rules": "[answers]\nrules = {}\n",
    "answers.classifier": "[answers]\nclassifier = {}\n",
    "answers.intents": "[answers]\nintents = {}\n",
    "attention.model_dir": "[attention]\nmodel_dir = {}\n",
    "manifests.path": "[manifests]\npath = {}\n",
    "backends.0.model_dir": "model_dir = {}\n",
    "backends.0.watchdog.command.0": "command = [{}]\n",
    "server.host": "[server]\nhost = {}\n",
}


@pytest.mark.parametrize("key", NAMED)
def test_a_nul_in_a_path_or_a_text_is_one_line_with_file_and_key(tmp_path, key, capsys):
    table, file = NAMED[key].format('"a\\u0000b"'), tmp_path / "gateway.toml"
    if key.startswith("backends"):
        watchdog = "[backends.watchdog]\n" if "watchdog" in key else ""
        command = 'command = ["serve"]\n' if watchdog and "command" not in key else ""
        file.write_text(BACKEND + watchdog + command + table)
    else:
        file.write_text(table + BACKEND)
    assert main(["gateway", "--config", str(file), "--check"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{key.replace('.primary.', '.0.')} holds a NUL character" in line
    assert "gateway.toml:" in line
