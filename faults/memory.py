"""Memory that runs out: really, in the backend's own process, and undone later."""

import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import ClassVar

from faults.allocations import failures_counted
from faults.errors import NotApplicable
from faults.fault import Firing, Sleeper, Target
from faults.journal import Journal
from faults.outage import process_of
from faults.parameter import check_bounds, means
from faults.process import ProcessId, own_process
from faults.undo import AddressSpaceLow, FileChanged

MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressSpaceLimit:
    """Lower the running backend's address-space limit (RLIMIT_AS) to what it has plus `headroom_bytes`."""

    name: ClassVar[str] = "address_space_limit"
    headroom_bytes: int = field(default=30 * MIB, metadata=means("what it may still allocate, bytes", low=0))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        limit_bytes = address_space_bytes(process_of(target).pid) + self.headroom_bytes
        firing = Firing()
        async with failures_counted(target, firing, clock):
            with address_space_limited(target, limit_bytes, firing):
                yield firing


@contextmanager
def address_space_limited(target: Target, limit_bytes: int, firing: Firing) -> Iterator[None]:
    """RLIMIT_AS of the running backend at `limit_bytes`; where that is less than it has, nothing more is granted."""
    process = process_of(target)
    undo = _plan(process, Journal.of(target), limit_bytes)
    with Journal.of(target).undoing(target.name, undo):
        # Never above what another fault has already set.
        soft = resource.prlimit(process.pid, resource.RLIMIT_AS)[0]
        limit = undo.limit_bytes if soft == resource.RLIM_INFINITY else min(undo.limit_bytes, soft)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, undo.original[1]))
        firing.evidence.append(f"address space of process {process.pid} limited to {limit} bytes")
        yield


def _plan(process: ProcessId, journal: Journal, limit_bytes: int) -> AddressSpaceLow:
    try:
        original = resource.prlimit(process.pid, resource.RLIMIT_AS)
    except (PermissionError, ProcessLookupError) as error:
        raise NotApplicable(f"process {process.pid}: its limits cannot be read: {error}") from None
    wanted = AddressSpaceLow(process=process, limit_bytes=limit_bytes, original=original)
    # With another such fault on, what is there now is its limit: take over the original that it found.
    for other in journal.others(wanted):
        if isinstance(other, AddressSpaceLow):
            return AddressSpaceLow(process=process, limit_bytes=limit_bytes, original=other.original)
    if 0 <= original[1] < limit_bytes:
        raise NotApplicable(f"process {process.pid}: its hard limit {original[1]} is under {limit_bytes} already")
    return wanted


def address_space_bytes(pid: int) -> int:
    """VmSize of a process. Raises NotApplicable when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        raise NotApplicable(f"process {pid} is gone") from None
    sizes = [line.split()[1] for line in status.splitlines() if line.startswith("VmSize:")]
    if not sizes:
        raise NotApplicable(f"process {pid} has no address space (a zombie)")
    return int(sizes[0]) * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLimit:
    """Lower `memory.max` of the backend's own cgroup (v2) to what it uses plus `headroom_bytes`: the kernel ends it."""

    name: ClassVar[str] = "cgroup_limit"
    headroom_bytes: int = field(default=30 * MIB, metadata=means("what it may still use, bytes", low=0))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        group = own_cgroup(process_of(target).pid)
        limit = group / "memory.max"
        firing = Firing()
        undo = FileChanged(path=str(limit), original=limit.read_text(encoding="utf-8"))
        with Journal.of(target).undoing(target.name, undo):
            before = _oom_events(group)
            used = int((group / "memory.current").read_text(encoding="utf-8"))
            limit.write_text(str(used + self.headroom_bytes), encoding="utf-8")
            try:
                yield firing
            finally:
                firing.touched = _oom_events(group) - before
                firing.evidence.append(f"{group.name}: {firing.touched} times out of memory")


def own_cgroup(pid: int) -> Path:
    """The backend's cgroup folder. Raises NotApplicable unless it is writable and not shared with this process."""
    group, ours = cgroup_of(pid), cgroup_of(own_process().pid)
    if group is None or group == ours:
        raise NotApplicable(f"process {pid} has no cgroup (v2) of its own; start it in one, or use address_space_limit")
    try:
        with (group / "memory.max").open("r+"):
            return group
    except OSError as error:
        raise NotApplicable(f"{group}/memory.max is not writable: {error.strerror}") from None


def cgroup_of(pid: int, root: Path = Path("/sys/fs/cgroup")) -> Path | None:
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    paths = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    return root / paths[0] if paths else None


def _oom_events(group: Path) -> int:
    """Times that the group met its limit and could not get memory."""
    try:
        lines = (group / "memory.events").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.split()[0] == "oom")


@dataclass(frozen=True, slots=True, kw_only=True)
class OomPressure:
    """Let memory run out: on a GPU with a ballast process, without one by the backend's address-space limit."""

    name: ClassVar[str] = "oom_pressure"
    headroom_bytes: int = field(default=30 * MIB, metadata=means("what is left to the backend, bytes", low=0))

    def __post_init__(self) -> None:
        check_bounds(self)

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]:
        from faults.ballast import CudaBallast

        if target.device.startswith("cuda"):
            return CudaBallast(free_bytes=self.headroom_bytes).inject(target, clock=clock, rng=rng)
        return AddressSpaceLimit(headroom_bytes=self.headroom_bytes).inject(target, clock=clock, rng=rng)
