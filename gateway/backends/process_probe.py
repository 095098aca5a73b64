"""The memory of a backend's process, found again by its pid file after a restart."""

import os
from pathlib import Path

from gateway.clock import Clock
from gateway.errors import ProbeError
from gateway.memory.config import Memory
from gateway.memory.probes import MemoryReading, Probe, ProcessProbe


def follow(memory: Memory, clock: Clock) -> Probe:
    """The probe for a fixed pid, or for whichever pid the file names."""
    if memory.pid_file is not None:
        return PidFileProbe(memory.pid_file, memory.limit_bytes, clock)
    return ProcessProbe(memory.pid or 0, memory.limit_bytes, clock)


class PidFileProbe:
    """Reads the pid file at the first reading, when it was written since, and when its process cannot be read.

    That a process runs does not make it the backend: a new one may be up before the old one ends, and while a backend
    is down another process may be given its pid.
    """

    def __init__(self, pid_file: Path, limit_bytes: int | None, clock: Clock) -> None:
        self._pid_file = pid_file
        self._limit_bytes = limit_bytes
        self._clock = clock
        self._probe: ProcessProbe | None = None
        self._written: tuple[int, ...] | None = None

    def read(self) -> MemoryReading:
        """Raises ProbeError while there is no such process."""
        written = self._stamp()
        if self._probe is not None and written in (None, self._written):
            try:
                return self._probe.read()
            except ProbeError:
                pass
        self._probe, self._written = None, written
        self._probe = ProcessProbe(self._pid(), self._limit_bytes, self._clock)
        return self._probe.read()

    def _stamp(self) -> tuple[int, ...] | None:
        """Another one each time the file is written; None: there is none."""
        try:
            found = os.stat(self._pid_file)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _pid(self) -> int:
        try:
            return int(self._pid_file.read_text(encoding="ascii"))
        except (OSError, ValueError) as error:
            raise ProbeError(f"pid file {self._pid_file}: {error}") from None
