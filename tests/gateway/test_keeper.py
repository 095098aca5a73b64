"""A gateway that runs its backend itself: real processes, killed, stopped, damaged and broken."""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from served import backend, gateway, policy_of
from test_watch import folder

from gateway.clock import SystemClock
from gateway.record import Reason
from gateway.watchdog.config import Launch, WatchdogConfig
from gateway.watchdog.keeper import Keeper

CLOCK = SystemClock()
SCRIPT = Path(__file__).with_name("small_backend.py")
pytestmark = pytest.mark.slow


def command(port, mode, words="{weights_name}"):
    return (sys.executable, "-S", "-E", str(SCRIPT), str(port), mode, words)


def watched(port, mode="good", *, words="usual", **fields):
    quick = {"probe_s": 0.1, "probe_timeout_s": 1.0, "back_off_s": 0.05, "max_back_off_s": 0.2, "stop_s": 0.2}
    return WatchdogConfig(**{"command": command(port, mode, words), **quick, **fields})


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


async def until(done, *, limit_s=60):
    async with asyncio.timeout(limit_s):
        while not done():
            await CLOCK.sleep(0.02)


PATIENT = {"default": {"connect_s": 10.0, "first_token_s": 20.0, "total_s": 20.0}}
POLICY = policy_of(limits=PATIENT, deadline={"request_s": 30.0})


def running(port, watchdog):
    return gateway(backend(port, "primary", watchdog=watchdog), policy=POLICY)


async def test_a_killed_or_stopped_backend_is_started_again(tmp_path):
    port = free_port()
    pid_file = tmp_path / "run" / "pid"
    async with running(port, watched(port, pid_file=pid_file)) as served:
        keeper = served.runtime.backends["primary"].keeper
        assert not keeper.up
        waiting = await served.chat()
        assert waiting.record["path"] == "template"
        assert waiting.record["attempts"][0]["reason"] == "restarting"
        await until(lambda: keeper.up)
        assert (await served.chat()).text == "from usual"
        for starts, number in ((1, signal.SIGKILL), (2, signal.SIGSTOP)):
            assert keeper.watch.starts == starts
            os.kill(int(pid_file.read_text()), number)
            await until(lambda starts=starts: keeper.watch.starts > starts)
            await until(lambda: keeper.up)
            assert (await served.chat()).record == {"level": "healthy"}
        ready = (await served.request("GET", "/readyz")).json
        assert ready["watchdog"]["primary"] == {"phase": "running", "launch": "usual", "starts": 3, "due_in_s": None}
        metrics = (await served.request("GET", "/metrics")).body.decode()
        assert 'truefall_watchdog_starts_total{backend="primary"} 3.0' in metrics
        pid = int(pid_file.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)  # gone with its gateway


async def test_a_damaged_copy_is_not_started_from(tmp_path):
    bad, good = folder(tmp_path / "first", wrong=True), folder(tmp_path / "second")
    port = free_port()
    async with running(port, watched(port, words="{weights_name}", weights=(bad, good))) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.up)
        assert (await served.chat()).text == "from second"
        state = (await served.admin("GET", "state")).json["backends"]["primary"]["watchdog"]
        assert "first/model.safetensors is damaged" in state["damaged"][0]
        os.kill(state["pid"], signal.SIGKILL)
        (good / "model.safetensors").write_bytes(b"rot")
        await until(lambda: keeper.watch.failures >= 2)
        assert not keeper.up  # nothing whole is left: never started from damaged weights
        assert keeper.watch.starts == 1


async def test_a_kernel_failure_leads_to_another_launch_and_the_record_says_so():
    port = free_port()
    sdpa = Launch(name="sdpa", after="kernel", command=command(port, "good", "sdpa"))
    async with running(port, watched(port, "kernel", degraded=(sdpa,))) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.up)
        for _ in range(2):
            assert (await served.chat()).record["attempts"][0]["reason"] == "kernel_failure"
        await until(lambda: keeper.degraded and keeper.up)
        answer = await served.chat()
        assert answer.text == "from sdpa"
        assert (answer.record["level"], answer.record["reasons"]) == ("degraded", ["degraded_launch"])
        assert "reduced configuration" in answer.record["notice"]


async def test_an_engine_that_answers_out_of_memory_and_lives_on_gets_another_launch(tmp_path):
    port = free_port()
    sdpa = Launch(name="sdpa", after="kernel", command=command(port, "good", "sdpa"))
    small = Launch(name="efficient", after="memory", command=command(port, "good", "small"))
    async with running(port, watched(port, "memory", degraded=(sdpa, small))) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.up)
        for _ in range(3):
            assert (await served.chat()).record["attempts"][0]["reason"] == "out_of_memory"
        await until(lambda: keeper.degraded and keeper.up)
        answer = await served.chat()
        assert (keeper.launch.name, answer.text) == ("efficient", "from small")
        assert "degraded_launch" in answer.record["reasons"]  # beside the level's own, after so many deaths by memory


async def test_the_cause_that_its_answers_told_is_the_one_in_the_log():
    port = free_port()
    small = Launch(name="efficient", after="memory", command=command(port, "good", "small"))
    told = []

    async def probe():
        return True

    keeper = Keeper(
        watched(port, degraded=(small,)),
        probe=probe,
        clock=CLOCK,
        environ=os.environ,
        tell=lambda event, detail: told.append((event, detail)),
        on_ready=lambda: None,
    )
    kept = asyncio.create_task(keeper.run())
    await until(lambda: keeper.up)
    for _ in range(3):
        keeper.failed(Reason.OUT_OF_MEMORY)
    await until(lambda: keeper.degraded)
    kept.cancel()
    await asyncio.gather(kept, return_exceptions=True)
    (down,) = [detail for event, detail in told if event == "backend_down"]
    assert (down.split(",")[0], down.split(", ")[-1]) == ("memory", "cause memory")


async def test_a_start_that_dies_of_memory_leads_to_the_small_launch(tmp_path):
    port = free_port()
    small = Launch(name="bf16", after="memory", command=command(port, "good", "small"))
    words = "CUDA out of memory"
    watchdog = watched(port, "exits", words=words, degraded=(small,), log_file=tmp_path / "log")
    async with running(port, watchdog) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.up)
        answer = await served.chat()
        assert (keeper.launch.name, answer.text) == ("bf16", "from small"), answer.record


async def test_a_process_that_outlived_its_gateway_is_ended_first(tmp_path):
    port, pid_file = free_port(), tmp_path / "pid"
    orphan = await asyncio.create_subprocess_exec(*command(port, "good", "usual"), start_new_session=True)
    pid_file.write_text(str(orphan.pid))
    async with running(port, watched(port, pid_file=pid_file)) as served:
        await until(lambda: served.runtime.backends["primary"].keeper.up)
        assert await orphan.wait() in (-signal.SIGTERM, -signal.SIGKILL)
        assert served.runtime.backends["primary"].keeper.watch.starts == 1


async def test_a_command_that_is_not_there_backs_off_and_says_so():
    port = free_port()
    async with running(port, watched(port, command=("/nowhere/serve",))) as served:
        keeper = served.runtime.backends["primary"].keeper
        await until(lambda: keeper.watch.failures >= 3)
        served.runtime.log.flush()
        assert "/nowhere/serve: No such file" in served.runtime.log._out.getvalue()
