"""Probes read real processes, real limits and real metric pages."""

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_clock import FakeClock

from gateway.backends.process_probe import PidFileProbe
from gateway.errors import ProbeError
from gateway.memory import CgroupProbe, CudaProbe, MemoryReading, ProcessProbe, VllmProbe, is_stale, kv_cache_usage

MB = 1 << 20
METRICS = """# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.75
vllm:num_requests_running{engine="0",model_name="m"} 3.0
"""


@pytest.fixture
def sleeper() -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate(b"\n")


def test_the_resident_limit_bounds_what_is_free() -> None:
    reading = ProcessProbe(os.getpid(), 64 * 1024 * MB, FakeClock()).read()
    assert reading.total_bytes == 64 * 1024 * MB
    assert 0 < reading.free_bytes < reading.total_bytes


def test_an_address_space_limit_lowered_while_the_process_runs_is_seen_at_once(sleeper: int) -> None:
    probe = ProcessProbe(sleeper, None, FakeClock())
    before = probe.read()
    virtual_bytes = int(Path(f"/proc/{sleeper}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.prlimit(sleeper, resource.RLIMIT_AS, (virtual_bytes + 30 * MB, resource.RLIM_INFINITY))
    during = probe.read()
    assert during.free_bytes <= 30 * MB < before.free_bytes
    resource.prlimit(sleeper, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert probe.read().free_bytes > 30 * MB


def test_a_process_that_has_ended_cannot_be_read() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with pytest.raises(ProbeError, match=str(ended.pid)):
        ProcessProbe(ended.pid, None, FakeClock()).read()


def test_a_process_that_ends_after_it_was_read_cannot_be_read_any_more(sleeper: int) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    probe = ProcessProbe(ended.pid, 1 << 40, FakeClock())
    assert probe.read().free_bytes > 0
    ended.communicate(b"\n")
    for _ in range(2):
        with pytest.raises(ProbeError, match=str(ended.pid)):
            probe.read()


def test_what_a_process_takes_and_gives_back_between_two_readings_is_seen() -> None:
    probe = ProcessProbe(os.getpid(), 1 << 40, FakeClock())
    before = probe.read().free_bytes
    block = bytearray(b"x") * (64 * MB)
    during = probe.read().free_bytes
    del block
    assert before - during > 60 * MB
    assert probe.read().free_bytes - during > 60 * MB


HOLDS = "block = bytearray(b'x') * (64 << 20); print(1, flush=True); input()"


def test_what_the_children_of_a_process_hold_counts_as_its_own_until_they_end() -> None:
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDS!r}]); print(2, flush=True); input()"
    clock = FakeClock()
    with subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        probe = ProcessProbe(process.pid, 1 << 40, clock)
        with_child = probe.read().free_bytes
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"2\n"
        alone = probe.read().free_bytes  # the child that was listed is gone
        assert alone - with_child > 60 * MB
        asyncio.run(clock.advance(10.0))
        assert abs(probe.read().free_bytes - alone) < 8 * MB
        process.stdin.write(b"\n")
        process.stdin.flush()


def test_a_child_that_is_started_later_is_found() -> None:
    outer = f"import subprocess, sys; input(); subprocess.run([sys.executable, '-c', {HOLDS!r}])"
    clock = FakeClock()
    with subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        probe = ProcessProbe(process.pid, 1 << 40, clock)
        probe.read()
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"1\n"
        asyncio.run(clock.advance(10.0))
        before = probe.read().free_bytes
        assert (1 << 40) - before > 64 * MB
        process.stdin.write(b"\n")
        process.stdin.flush()


def test_a_probe_keeps_one_file_open_and_closes_it_at_its_end(sleeper: int) -> None:
    open_files = len(os.listdir("/proc/self/fd"))
    probe = ProcessProbe(sleeper, 1 << 40, FakeClock())
    for _ in range(3):
        probe.read()
        assert len(os.listdir("/proc/self/fd")) == open_files + 1
    del probe
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_a_pid_file_that_names_another_process_is_followed_while_the_first_still_runs(
    sleeper: int, tmp_path: Path
) -> None:
    pid_file = tmp_path / "backend.pid"
    pid_file.write_text(str(os.getpid()))
    probe = PidFileProbe(pid_file, 1 << 40, FakeClock())
    block = bytearray(b"x") * (64 * MB)
    ours = probe.read().free_bytes
    pid_file.write_text(f"{sleeper}\n")
    assert probe.read().free_bytes > ours + 32 * MB
    pid_file.unlink()  # nobody is named: the last one counts as long as it runs
    assert probe.read().free_bytes > ours + 32 * MB
    del block


def test_a_pid_file_is_read_again_where_its_process_has_ended(sleeper: int, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    pid_file = tmp_path / "backend.pid"
    pid_file.write_text(str(ended.pid))
    probe = PidFileProbe(pid_file, 1 << 40, FakeClock())
    probe.read()
    ended.communicate(b"\n")
    for written in (str(ended.pid), "", "no pid"):
        pid_file.write_text(written)
        with pytest.raises(ProbeError, match=r"process \d+ cannot be read|pid file"):
            probe.read()
    pid_file.write_text(str(sleeper))
    assert probe.read().free_bytes > 0


@pytest.mark.parametrize(
    "names", [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")]
)
def test_a_cgroup_of_either_version_counts_its_page_cache_as_free(tmp_path: Path, names: tuple[str, str]) -> None:
    (tmp_path / names[0]).write_text(f"{100 * MB}\n")
    (tmp_path / names[1]).write_text(f"{90 * MB}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {20 * MB}\n")
    reading = CgroupProbe(tmp_path, FakeClock()).read()
    assert (reading.free_bytes, reading.total_bytes) == (30 * MB, 100 * MB)


def test_a_cgroup_without_a_limit_has_the_machine(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1\n")
    (tmp_path / "memory.stat").write_text("inactive_file 0\n")
    assert CgroupProbe(tmp_path, FakeClock()).read().total_bytes > 100 * MB


def test_a_folder_that_is_no_cgroup_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="cgroup"):
        CgroupProbe(tmp_path, FakeClock()).read()


def test_the_fullest_engine_of_a_vllm_backend_counts() -> None:
    probe = VllmProbe(1000)
    with pytest.raises(ProbeError, match="yet"):
        probe.read()
    probe.feed(METRICS, asked_at_s=7.0)
    assert probe.read() == MemoryReading(free_bytes=250, total_bytes=1000, taken_at_s=7.0)


@pytest.mark.parametrize("text", ["", "vllm:kv_cache_usage_perc{} nan\n", "vllm:kv_cache_usage_perc 1.5\n", "<html>"])
def test_metrics_without_a_usable_occupancy_keep_the_old_reading(text: str) -> None:
    probe = VllmProbe(1000)
    probe.feed(METRICS, asked_at_s=0.0)
    with pytest.raises(ProbeError):
        probe.feed(text, asked_at_s=1.0)
    assert probe.read().free_bytes == 250


def test_the_older_name_of_the_metric_is_read_too() -> None:
    assert kv_cache_usage('vllm:gpu_cache_usage_perc{model_name="m"} 1e-2\n') == 0.01


def test_without_nvml_the_error_names_the_package_or_the_device() -> None:
    with pytest.raises(ProbeError, match=r"nvidia-ml-py|CUDA device"):
        CudaProbe(99, FakeClock())


def test_readings_grow_stale() -> None:
    reading = MemoryReading(free_bytes=1, total_bytes=2, taken_at_s=10.0)
    assert not is_stale(reading, now_s=12.0, max_age_s=2.0)
    assert is_stale(reading, now_s=12.1, max_age_s=2.0)
