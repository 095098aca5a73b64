"""Where free memory is read: a process, a cgroup, a CUDA device, a vLLM backend's own metrics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gateway.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReading:
    free_bytes: int  # the allocator's own reusable slack included
    total_bytes: int
    taken_at_s: float


class Probe(Protocol):
    def read(self) -> MemoryReading:
        """Raises ProbeError."""
        ...


def is_stale(reading: MemoryReading, *, now_s: float, max_age_s: float) -> bool:
    return now_s - reading.taken_at_s > max_age_s


class ProcessProbe:
    def __init__(self, pid: int, limit_bytes: int | None, clock: Clock) -> None:
        raise NotImplementedError

    def read(self) -> MemoryReading:
        raise NotImplementedError


class CgroupProbe:
    def __init__(self, folder: Path, clock: Clock) -> None:
        raise NotImplementedError

    def read(self) -> MemoryReading:
        raise NotImplementedError


class VllmProbe:
    """Fed with the text of the backend's `/metrics` by whoever polls it."""

    def __init__(self, total_bytes: int, clock: Clock) -> None:
        raise NotImplementedError

    def feed(self, metrics_text: str) -> None:
        raise NotImplementedError

    def read(self) -> MemoryReading:
        raise NotImplementedError


class CudaProbe:
    """NVML."""

    def __init__(self, device_index: int, clock: Clock) -> None:
        raise NotImplementedError

    def read(self) -> MemoryReading:
        raise NotImplementedError
