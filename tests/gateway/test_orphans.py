"""A pid file that outlived its gateway: the same process is ended, and never a stranger that has its id by now."""

import asyncio
import os
import signal
import sys

import pytest

from gateway.clock import SystemClock
from gateway.watchdog.identity import beside, command_of, is_command, orphan_of, started_of, write_pid
from gateway.watchdog.process import ChildProcess

WAIT = (sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)")
pytestmark = pytest.mark.slow


@pytest.fixture
async def stranger():
    process = await asyncio.create_subprocess_exec(*WAIT, start_new_session=True)
    async with asyncio.timeout(20):
        while command_of(process.pid) != list(WAIT):  # its words come a moment after the process
            await SystemClock().sleep(0.01)
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


def script(path, text="#!/bin/sh\nexec sleep 600\n"):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def child(pid_file):
    return ChildProcess(log_file=None, pid_file=pid_file, stop_s=20.0, clock=SystemClock())


async def started_and_stopped(pid_file, argv):
    one = child(pid_file)
    await one.start(argv, environment=dict(os.environ), folder=None)
    await one.stop()


@pytest.mark.parametrize("words", [(), ("600",)], ids=["one word", "two words"])
async def test_a_stranger_with_the_id_in_the_pid_file_lives_on(tmp_path, stranger, words):
    pid_file = tmp_path / "pid"
    pid_file.write_text(str(stranger.pid))
    await started_and_stopped(pid_file, [script(tmp_path / "serve.sh"), *words])
    assert started_of(stranger.pid) is not None


async def test_a_stranger_with_the_same_command_that_started_at_another_time_lives_on(tmp_path, stranger):
    pid_file = tmp_path / "pid"
    write_pid(pid_file, stranger.pid)
    pid, boot, ticks = beside(pid_file).read_text().split()
    for other in (f"{pid} {boot} {int(ticks) - 1}", f"{pid} another-boot {ticks}"):
        beside(pid_file).write_text(other)
        await child(pid_file).end_orphan(WAIT)
        assert started_of(stranger.pid) is not None


@pytest.mark.parametrize("written", [True, False], ids=["with its start", "id alone"])
async def test_what_the_gateway_before_started_is_ended(tmp_path, stranger, written):
    pid_file = tmp_path / "pid"
    if written:
        write_pid(pid_file, stranger.pid)
    else:
        pid_file.write_text(str(stranger.pid))
    await child(pid_file).end_orphan(WAIT)
    async with asyncio.timeout(20):
        assert await stranger.wait() == -signal.SIGTERM


async def test_a_script_that_became_another_program_is_known_by_its_start(tmp_path):
    pid_file, serve = tmp_path / "pid", script(tmp_path / "serve.sh")
    orphan = await asyncio.create_subprocess_exec(serve, start_new_session=True)
    write_pid(pid_file, orphan.pid)
    await child(pid_file).end_orphan([serve])
    async with asyncio.timeout(20):
        assert await orphan.wait() == -signal.SIGTERM


async def test_a_group_that_is_over_is_signalled_once(tmp_path, monkeypatch):
    one, signalled = child(None), []
    await one.start([sys.executable, "-S", "-c", ""], environment=dict(os.environ), folder=None)
    monkeypatch.setattr("gateway.watchdog.process._signal", lambda pid, number: signalled.append(pid))
    async with asyncio.timeout(20):
        while not one.exited:
            await SystemClock().sleep(0.01)
    await one.stop()
    assert len(signalled) == 1
    await one.stop()  # minutes later the id may be anybody's
    assert len(signalled) == 1
    assert one.exit_code == 0


async def test_a_pid_file_without_a_living_process_means_nobody(tmp_path, stranger):
    pid_file = tmp_path / "pid"
    assert orphan_of(pid_file, WAIT) is None
    for text in ("", "x", "-1", "1" * 5000):
        pid_file.write_text(text)
        assert orphan_of(pid_file, WAIT) is None
    write_pid(pid_file, stranger.pid)
    assert orphan_of(pid_file, WAIT) is not None
    stranger.kill()
    await stranger.wait()
    assert orphan_of(pid_file, WAIT) is None
    assert command_of(stranger.pid) == []


@pytest.mark.parametrize(("first", "before"), [
    ("#!/bin/sh", ["/bin/sh"]),
    ("#! /bin/sh -e -u", ["/bin/sh", "-e -u"]),
    ("#!/usr/bin/env python3", ["python3"]),
    ("#!/usr/bin/env -S python3 -u", ["python3", "-u"]),
    ("#!", []),
    ("# a text", []),
])  # fmt: skip
def test_the_whole_command_line_counts(tmp_path, first, before):
    serve = script(tmp_path / "serve", first + "\n")
    assert is_command([*before, serve, "--port", "1"], [serve, "--port", "1"])
    assert not is_command([*before, serve, "--port", "2"], [serve, "--port", "1"])
    assert not is_command([*before, serve], [serve, "--port", "1"])
    assert not is_command(["vi", serve], [serve])
    assert not is_command(["other", "--port", "1"], [serve, "--port", "1"])
    assert not is_command([], [serve])
