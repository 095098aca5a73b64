"""TOML that no parser takes, and numbers that no float holds: one line that names file, line and reason."""

import contextlib
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway import toml
from gateway.config import Config
from gateway.errors import ConfigError
from gateway.policy import Policy

CONFIG = '[server]\nport = 0\n[[backends]]\nname = "a"\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
NESTED = "x = " + "[" * 3000 + "]" * 3000
TABLES = "limits = " + "{a=" * 3000 + "1" + "}" * 3000
DIGITS = "x = " + "1" * 5000
HEX = "[deadline]\nrequest_s = 0x" + "f" * 5000


@pytest.mark.parametrize(("text", "told"), [
    (NESTED, "f.toml:1: nested too deeply"),
    (f'name = "x"\n\n{TABLES}\n', "f.toml:3: nested too deeply"),
    ("paths = [\n" + "[\n" * 3000 + "]\n" * 3000 + "]\n", "nested too deeply"),
    (f'name = "x"\n{DIGITS}\ny = 1\n', "f.toml:2: an integer of more than 4300 digits; write a smaller one"),
    (f'name = "{"1" * 5000}"\n{DIGITS}', "f.toml:2: an integer of more than 4300 digits"),
    (HEX, "f.toml:2: Number out of range - at deadline.request_s = an integer of thousands of digits"),
    (f"[cache]\nmax_bytes = {'9' * 400}", "f.toml:2: Expected `int` <= 1000000000000000 - at cache.max_bytes"),
])  # fmt: skip
@pytest.mark.slow
def test_what_cannot_be_read_is_refused_with_its_line(text, told):
    for kind in (Policy, Config) if "x = " in text else (Policy,):
        with pytest.raises(ConfigError) as refused:
            toml.parse(text, kind, source="f.toml")
        assert told in str(refused.value)
        assert "\n" not in str(refused.value)


PARTS = st.sampled_from([
    "x", "limits", "paths", "order", "deadline", "request_s", "templates", "cache", "max_bytes", ".", " = ", "\n", "[",
    "]", "[[", "]]", "{", "}", ",", '"a"', "'", '"""', "1", "-", "0x" + "f" * 5000, "9" * 5000, "[" * 600, "]" * 600,
    "{a=" * 600, "}" * 600, "a." * 600, "1e999", "nan", "1979-05-27", "07:32:00", "\\u0000", "\0", "é", "...", "#",
])  # fmt: skip


@pytest.mark.slow
@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.lists(PARTS, max_size=14).map("".join))
@example("deadline.request_s = 0x" + "f" * 5000)
@example("paths.order = " + "[" * 600 + "]" * 600)
def test_any_text_is_read_or_refused(text):
    for kind in (Policy, Config):
        with contextlib.suppress(ConfigError):
            assert isinstance(toml.parse(text, kind, source="f.toml"), kind)


@pytest.mark.slow
@pytest.mark.parametrize("text", [NESTED, DIGITS, HEX], ids=["nested", "digits", "hex"])
@pytest.mark.parametrize("culprit", ["config.toml", "policy.toml"])
@pytest.mark.parametrize("more", [(), ("--check",)], ids=["start", "check"])
def test_the_gateway_says_one_line_at_a_start_and_with_check(tmp_path, text, culprit, more):
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "policy.toml").write_text('name = "x"\n')
    (tmp_path / culprit).write_text(text + "\n")
    files = ("--config", str(tmp_path / "config.toml"), "--policy", str(tmp_path / "policy.toml"))
    command = [sys.executable, "-m", "harness.cli", "gateway", *files, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert culprit in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
