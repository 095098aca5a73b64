"""Where free memory is read without a GPU: a backend's process, or its cgroup."""

import math
import os
import resource
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from gateway.clock import Clock
from gateway.errors import ProbeError

_STATM_BYTES = 256
_LIST_S = 1.0  # between two looks at who belongs to a process
_UNLIMITED_BYTES = 1 << 60  # cgroup v1 writes "no limit" as a number near 2**63


class MemoryReading(msgspec.Struct, frozen=True, kw_only=True):
    """What was free, and when."""

    free_bytes: int  # 0 or more
    total_bytes: int
    taken_at_s: float

    @property
    def used_share(self) -> float:
        """In [0, 1]."""
        return min(1.0, max(0.0, 1 - self.free_bytes / self.total_bytes)) if self.total_bytes > 0 else 1.0


class Probe(Protocol):
    """One source of truth for memory."""

    def read(self) -> MemoryReading:
        """Raises ProbeError where nothing can be read."""
        ...


def is_stale(reading: MemoryReading, *, now_s: float, max_age_s: float) -> bool:
    """Whether a reading is too old to act on; it then counts as full."""
    return now_s - reading.taken_at_s > max_age_s


class Headroom(NamedTuple):
    """Room under one limit."""

    free: int
    total: int


class ProcessProbe:
    """A process and all that it started: resident memory, together, under `limit_bytes`; each under its own RLIMIT_AS.

    Both are read anew each time, so a limit that is lowered while a process runs is seen at once. The smallest
    room counts. With neither limit the machine's available memory is the room. Who belongs to the process is looked up
    once a second. Memory that several processes share counts once for each.
    """

    def __init__(self, pid: int, limit_bytes: int | None, clock: Clock) -> None:
        self._pid = pid
        self._tree = _Tree(pid)
        self._limit_bytes = limit_bytes
        self._clock = clock

    def read(self) -> MemoryReading:
        now_s = self._clock.now_s()
        try:
            rooms = self._rooms(now_s)
        except (OSError, ValueError) as error:
            raise ProbeError(f"memory of process {self._pid} cannot be read: {error}") from None
        room = rooms[0] if len(rooms) == 1 else min(rooms, key=lambda one: one.free)
        return MemoryReading(free_bytes=max(0, room.free), total_bytes=room.total, taken_at_s=now_s)

    def _rooms(self, now_s: float) -> list[Headroom]:
        taken = self._tree.read(now_s)
        rooms = []
        if self._limit_bytes is not None:
            resident_bytes = sum(one.resident_bytes for one in taken)
            rooms.append(Headroom(self._limit_bytes - resident_bytes, self._limit_bytes))
        for one in taken:
            if one.soft_bytes is not None:
                rooms.append(Headroom(one.soft_bytes - one.virtual_bytes, one.soft_bytes))
        return rooms or [machine_room()]


class Taken(NamedTuple):
    """What one process takes, and how much address space it may; None: unlimited."""

    virtual_bytes: int
    resident_bytes: int
    soft_bytes: int | None


class _Tree:
    """A process with its children, and theirs. The processes of a server start and end while it runs."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._root = _Statm(pid)
        self._below: dict[int, _Statm] = {}
        self._listed_at_s = -math.inf

    def read(self, now_s: float) -> list[Taken]:
        """The process first. Raises OSError where it has ended; a child that has is left out."""
        taken = [_taken(self._pid, self._root)]
        if now_s - self._listed_at_s >= _LIST_S:
            self._listed_at_s = now_s
            self._below = {pid: self._below.get(pid) or _Statm(pid) for pid in descendants(self._pid)}
        for pid, statm in self._below.items():
            with suppress(OSError):
                taken.append(_taken(pid, statm))
        return taken


def _taken(pid: int, statm: "_Statm") -> Taken:
    virtual_bytes, resident_bytes = statm.read()
    return Taken(virtual_bytes, resident_bytes, address_space_limit(pid))


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on; one that ends meanwhile is left out, with what it started."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = _children(waiting.pop())
        found += below
        waiting += below
    return found


def _children(pid: int) -> list[int]:
    """By the kernel's own list; each thread has started some."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError):
                found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii").split())
    return found


class _Statm:
    """The memory of the process that has this pid now. Its file stays open: opening costs ten times the reading."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._fd = -1
        self._close: Callable[[], object] = _nothing

    def read(self) -> tuple[int, int]:
        """(address space, resident) bytes; raises OSError when there is no such process."""
        pages = self._pages() if self._fd >= 0 else None
        if pages is None:  # the first time, and where the pid is another process's by now
            self._open()
            pages = self._pages()
        if pages is None:
            raise ProcessLookupError(f"process {self._pid} has ended")
        return int(pages[0]) * self._page_bytes, int(pages[1]) * self._page_bytes

    def _open(self) -> None:
        self._fd = os.open(f"/proc/{self._pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._close = weakref.finalize(self, os.close, self._fd)

    def _pages(self) -> list[bytes] | None:
        """None, and the file closed, where the process that it belongs to has ended."""
        try:
            pages = os.pread(self._fd, _STATM_BYTES, 0).split()
        except ProcessLookupError:
            pages = []
        if pages and pages[0] != b"0":
            return pages
        self._fd = -1
        self._close()
        return None


def _nothing() -> None:
    """No file is open."""


def address_space_limit(pid: int) -> int | None:
    """The soft RLIMIT_AS of a running process in bytes; None where it is unlimited."""
    soft, _ = resource.prlimit(pid, resource.RLIMIT_AS)
    return None if soft in (resource.RLIM_INFINITY, -1) else soft


def machine_room() -> Headroom:
    """What the machine itself has left."""
    import psutil

    memory = psutil.virtual_memory()
    return Headroom(int(memory.available), int(memory.total))


class CgroupProbe:
    """A cgroup's limit and use, v2 (`memory.max`) or v1 (`memory.limit_in_bytes`); page cache counts as free."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def read(self) -> MemoryReading:
        now_s = self._clock.now_s()
        second = (self._folder / "memory.current").exists()
        limit_name, used_name = (
            ("memory.max", "memory.current") if second else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        try:
            limit = (self._folder / limit_name).read_text(encoding="ascii").strip()
            used_bytes = int((self._folder / used_name).read_text(encoding="ascii"))
            cache_bytes = _inactive_file_bytes(self._folder / "memory.stat")
            machine = machine_room()
            unlimited = limit == "max" or int(limit) >= _UNLIMITED_BYTES
        except (OSError, ValueError) as error:
            raise ProbeError(f"memory of cgroup {self._folder} cannot be read: {error}") from None
        total_bytes = machine.total if unlimited else min(int(limit), machine.total)
        free_bytes = machine.free if unlimited else min(total_bytes - used_bytes + cache_bytes, machine.free)
        return MemoryReading(free_bytes=max(0, free_bytes), total_bytes=total_bytes, taken_at_s=now_s)


def _inactive_file_bytes(stat: Path) -> int:
    rows = dict(line.split(" ", 1) for line in stat.read_text(encoding="ascii").splitlines())
    return int(rows.get("total_inactive_file") or rows.get("inactive_file") or 0)
