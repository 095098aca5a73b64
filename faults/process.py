"""Which process is meant: its id and its start time, so that a reused id is never taken for it."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from faults.errors import NotApplicable


class ProcessId(msgspec.Struct, frozen=True, kw_only=True):
    """One process for all time."""

    pid: int
    started: int  # clock ticks since boot

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """None: there is no such process now. A zombie is gone, unless threads of it still run and hold its sockets."""
        fields = _stat(pid)
        if fields is None or (fields[0] in "ZX" and _threads(pid) <= 1):
            return None
        return cls(pid=pid, started=int(fields[19]))

    @property
    def alive(self) -> bool:
        return ProcessId.of(self.pid) == self

    @property
    def stopped(self) -> bool:
        fields = _stat(self.pid)
        return self.alive and fields is not None and fields[0] == "T"

    def send(self, number: signal.Signals) -> bool:
        """Send a signal; False: the process is gone."""
        if not self.alive:
            return False
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True

    def tree(self) -> list["ProcessId"]:
        """The process and its descendants, parents first."""
        found = [self]
        for process in found:
            for thread in Path(f"/proc/{process.pid}/task").glob("*/children"):
                with suppress(OSError):
                    children = [ProcessId.of(int(pid)) for pid in thread.read_text().split()]
                    found.extend(child for child in children if child is not None)
        return found


def _stat(pid: int) -> list[str] | None:
    """Fields of /proc/<pid>/stat from the state on; the name before them may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _threads(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def own_process() -> ProcessId:
    me = ProcessId.of(os.getpid())
    if me is None:
        raise NotApplicable("there is no /proc here; faults on processes need Linux")
    return me
