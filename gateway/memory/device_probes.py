"""Where free memory is read with a GPU: NVML for the whole device, or a vLLM backend's own metrics."""

import re
from importlib import import_module

from gateway.clock import Clock
from gateway.errors import ConfigError, ProbeError
from gateway.memory.probes import MemoryReading

_USAGE = re.compile(r"^vllm:(?:kv_cache_usage_perc|gpu_cache_usage_perc)(?:\{[^}\n]*\})?[ \t]+(\S+)", re.MULTILINE)


def kv_cache_usage(metrics_text: str) -> float:
    """The fullest engine's KV-cache occupancy in [0, 1] from a vLLM `/metrics` page; raises ProbeError without one."""
    try:
        shares = [float(value) for value in _USAGE.findall(metrics_text)]
    except ValueError as error:
        raise ProbeError(f"vllm:kv_cache_usage_perc is not a number: {error}") from None
    if not shares:
        raise ProbeError("the metrics hold no vllm:kv_cache_usage_perc")
    fullest = max(shares)
    if not 0 <= fullest <= 1:
        raise ProbeError(f"vllm:kv_cache_usage_perc is {fullest}, must be in [0, 1]")
    return fullest


class VllmProbe:
    """The KV pool of a vLLM backend, `total_bytes` large; fed with its metrics by whoever polls them."""

    def __init__(self, total_bytes: int) -> None:
        if total_bytes <= 0:
            raise ConfigError(f"the KV pool is {total_bytes} bytes, must be above 0")
        self._total_bytes = total_bytes
        self._latest: MemoryReading | None = None

    def feed(self, metrics_text: str, *, asked_at_s: float) -> None:
        """Take in one `/metrics` page; without the metric raises ProbeError and keeps the old reading."""
        free_bytes = round((1 - kv_cache_usage(metrics_text)) * self._total_bytes)
        self._latest = MemoryReading(free_bytes=free_bytes, total_bytes=self._total_bytes, taken_at_s=asked_at_s)

    def read(self) -> MemoryReading:
        if self._latest is None:
            raise ProbeError("no metrics of the vLLM backend have come yet")
        return self._latest


class CudaProbe:
    """One device through NVML. What the backend's allocator holds and does not use counts as used: only it knows."""

    def __init__(self, device_index: int, clock: Clock) -> None:
        try:
            pynvml = import_module("pynvml")
        except ImportError:
            raise ProbeError(
                "reading a CUDA device needs the package nvidia-ml-py; without a GPU choose the process or cgroup probe"
            ) from None
        self._nvml = pynvml
        self._clock = clock
        try:
            pynvml.nvmlInit()
            self._device = pynvml.nvmlDeviceGetHandleByIndex(device_index)
        except pynvml.NVMLError as error:
            raise ProbeError(f"CUDA device {device_index} cannot be opened: {error}") from None

    def read(self) -> MemoryReading:
        now_s = self._clock.now_s()
        try:
            memory = self._nvml.nvmlDeviceGetMemoryInfo(self._device)
        except self._nvml.NVMLError as error:
            raise ProbeError(f"the CUDA device's memory cannot be read: {error}") from None
        return MemoryReading(free_bytes=int(memory.free), total_bytes=int(memory.total), taken_at_s=now_s)
