"""The proxy as a process of its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest

STARTER = """
import subprocess, sys
command = [sys.executable, "-m", "faults.semantic", "--upstream", "http://127.0.0.1:9"]
child = subprocess.Popen(command, stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_the_process_says_its_port_and_dies_with_its_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.getcwd()
    ) as parent:
        assert parent.stdout is not None
        said = json.loads(parent.stdout.readline())
        assert said["url"] == f"http://127.0.0.1:{said['port']}"
        proxy = psutil.Process(said["pid"])
        parent.send_signal(signal.SIGKILL)
        with suppress(psutil.NoSuchProcess):
            proxy.wait(timeout=60)
        assert not psutil.pid_exists(said["pid"])


@pytest.mark.slow
async def test_the_process_ends_on_sigterm() -> None:
    proxy = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "faults.semantic", "--upstream", "http://127.0.0.1:9", stdout=subprocess.PIPE
    )
    assert proxy.stdout is not None
    assert json.loads(await proxy.stdout.readline())["pid"] == proxy.pid
    proxy.terminate()
    assert await asyncio.wait_for(proxy.wait(), 60) == 0


@pytest.mark.slow
def test_a_folder_without_a_tokenizer_is_one_clear_line(tmp_path: object) -> None:
    command = [
        sys.executable,
        "-m",
        "faults.semantic",
        "--upstream",
        "http://127.0.0.1:9",
        "--tokenizer",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "tokenizer.json" in done.stderr
