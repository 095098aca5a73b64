"""Child processes: they end with whoever started them, however stopped they are, and their log says why."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from harness.errors import StackError
from harness.stack.backend import find_port
from harness.stack.process import Child

CLOCK = SystemClock()
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)
POLITE = "import time; print('ready', flush=True); time.sleep(60)"
TIDY = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # waited for, not handled: none can slip in before a sleep
print("ready", flush=True)
signal.sigwait({signal.SIGTERM})
sys.exit(0)
"""
PARENT = f"""
import time, sys
from pathlib import Path
from harness.stack.process import Child
child = Child(name="server", argv=[sys.executable, "-c", {POLITE!r}], log=Path(sys.argv[1]))
child.start()
print(child.pid, flush=True)
time.sleep(60)
"""
FAMILY = """
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path):
    children = []

    def started(code: str) -> Child:
        child = Child(name="server", argv=[sys.executable, "-c", code], log=tmp_path / "server.log")
        children.append(child)
        child.start()
        return child

    yield started
    for child in children:
        child.kill()


async def said(log: Path, pattern: str = "ready") -> str:
    """Wait, a minute at most, for a line in a log."""
    return await eventually(lambda: (found := re.search(pattern, log.read_text())) and found[0])


async def eventually(what, limit_s=60.0):
    end_s = CLOCK.now_s() + limit_s
    while not (found := what()):
        assert CLOCK.now_s() < end_s, "not within a minute"
        await CLOCK.sleep(0.01)
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
async def test_a_child_dies_with_a_parent_that_is_killed(tmp_path):
    log = tmp_path / "server.log"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(log)], stdout=subprocess.PIPE, text=True)
    with parent:
        pid = int(parent.stdout.readline())
        await said(log)
        assert not gone(pid)
        parent.kill()
    await eventually(lambda: gone(pid))


@pytest.mark.slow
async def test_a_stopped_child_is_woken_so_that_it_can_end_as_it_likes(start):
    child = start(TIDY)
    await said(child.log)
    os.kill(child.pid, signal.SIGSTOP)
    pid = child.pid
    child.stop(grace_s=60)
    assert child.process.returncode == 0
    assert child.pid is None
    assert gone(pid)


@pytest.mark.slow
async def test_a_child_that_ignores_the_request_to_end_is_killed_after_the_grace(start):
    child = start(STUBBORN)
    await said(child.log)
    os.kill(child.pid, signal.SIGSTOP)
    child.stop(grace_s=0.05)
    assert child.process.returncode == -signal.SIGKILL


@pytest.mark.slow
async def test_its_own_children_end_with_it(start):
    child = start(FAMILY)
    grandchild = int(await said(child.log, r"\d+(?=\n)"))
    child.stop(grace_s=60)
    await eventually(lambda: gone(grandchild))


@pytest.mark.slow
async def test_ending_it_twice_or_before_it_began_is_harmless(start, tmp_path):
    child = start(POLITE)
    child.kill()
    child.kill()
    child.stop()
    never = Child(name="server", argv=["x"], log=tmp_path / "never.log")
    never.stop()
    never.kill()
    assert never.pid is None


@pytest.mark.slow
async def test_a_child_that_ends_while_starting_is_an_error_with_its_log_and_last_words(start):
    child = start("print('port 80 is taken'); print(); raise SystemExit(3)")

    async def never() -> bool:
        return False

    with pytest.raises(StackError) as caught:
        await child.wait_until(never, timeout_s=30, clock=CLOCK)
    assert str(caught.value) == f"server ended while starting (see {child.log}): port 80 is taken"


@pytest.mark.slow
async def test_a_child_that_is_never_ready_is_an_error_with_its_log_and_the_limit(start):
    child = start(POLITE)
    await said(child.log)

    async def never() -> bool:
        return False

    with pytest.raises(StackError) as caught:
        await child.wait_until(never, timeout_s=0.05, clock=CLOCK)
    assert str(caught.value) == f"server was not healthy within 0.05 s (see {child.log}): ready"
    assert child.pid is not None


@pytest.mark.slow
async def test_what_an_earlier_process_wrote_to_the_same_log_is_not_taken_for_its_own(tmp_path):
    log = tmp_path / "server.log"
    log.write_text('{"port": 1}\n')  # of the run that is resumed
    child = Child(name="server", argv=[sys.executable, "-c", "print('{\"port\": 2}')"], log=log)
    child.start()
    assert find_port(child.said()) in (None, 2)
    child.process.wait(60)
    assert find_port(child.said()) == 2


def test_a_program_that_is_not_there_is_an_error_that_names_it(tmp_path):
    child = Child(name="server", argv=["no-such-program"], log=tmp_path / "server.log")
    with pytest.raises(StackError, match="server: cannot start 'no-such-program': No such file"):
        child.start()


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (b"", "its log is empty"),
        (b"one\ntwo\n\n  \n", "two"),
        (b"caf\xff\n", "caf\ufffd"),
        (b"x" * 1000 + b"end", "x" * 297 + "end"),
    ],
)
def test_the_last_words_are_the_last_line_that_says_something(tmp_path, log, words):
    file = tmp_path / "server.log"
    file.write_bytes(log)
    assert Child(name="server", argv=["x"], log=file).last_words() == words
