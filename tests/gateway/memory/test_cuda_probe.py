"""A CUDA device read through NVML; the module is a fake one with the names and the errors of the real one."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from fake_clock import FakeClock

from gateway.errors import ProbeError
from gateway.memory import CudaProbe, Guard, Ledger, Margin, MemoryReading
from gateway.memory.guard import Verdict

GB = 10**9


class NVMLError(Exception):
    """As pynvml has it."""


class FakeNvml(ModuleType):
    """Devices as (free, total) bytes; `is_lost` fails each reading, as a device that fell off the bus does."""

    NVMLError = NVMLError

    def __init__(self, *devices: tuple[int, int]) -> None:
        super().__init__("pynvml")
        self.devices = list(devices)
        self.is_lost = False
        self.is_started = False

    def nvmlInit(self) -> None:
        self.is_started = True

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if not self.is_started or index >= len(self.devices):
            raise NVMLError("Invalid Argument")
        return index

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:
        if self.is_lost:
            raise NVMLError("GPU is lost")
        free, total = self.devices[handle]
        return SimpleNamespace(free=free, total=total, used=total - free)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    module = FakeNvml((10 * GB, 80 * GB), (30 * GB, 40 * GB))
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return module


def test_the_device_that_is_named_is_read_in_bytes_and_anew_each_time(nvml: FakeNvml) -> None:
    clock = FakeClock()
    first, second = CudaProbe(0, clock), CudaProbe(1, clock)
    assert first.read() == MemoryReading(free_bytes=10 * GB, total_bytes=80 * GB, taken_at_s=clock.now_s())
    assert second.read().free_bytes == 30 * GB
    nvml.devices[1] = (5 * GB, 40 * GB)
    assert second.read().free_bytes == 5 * GB
    assert first.read().free_bytes == 10 * GB


def test_a_device_that_is_not_there_is_refused_by_its_number(nvml: FakeNvml) -> None:
    with pytest.raises(ProbeError, match="CUDA device 2 cannot be opened: Invalid Argument"):
        CudaProbe(2, FakeClock())


def test_a_device_that_is_lost_counts_as_full_until_it_answers_again(nvml: FakeNvml) -> None:
    clock = FakeClock()
    probe = CudaProbe(1, clock)
    guard = Guard(probe, Margin(bytes_=8 * GB), Ledger(40 * GB, clock), clock)
    assert guard.admits(GB).admitted
    nvml.is_lost = True
    with pytest.raises(ProbeError, match="cannot be read: GPU is lost"):
        probe.read()
    decision = guard.admits(GB)
    assert (decision.verdict, decision.used_share) == (Verdict.NO_READING, 1.0)
    assert "GPU is lost" in decision.reason
    assert guard.used_share() is None
    nvml.is_lost = False
    assert guard.admits(GB).admitted


def test_the_margin_is_kept_on_the_device_that_is_read(nvml: FakeNvml) -> None:
    clock = FakeClock()
    for device, admitted in ((0, False), (1, True)):
        guard = Guard(CudaProbe(device, clock), Margin(share=0.2), Ledger(80 * GB, clock), clock)
        assert guard.admits(GB).admitted is admitted
