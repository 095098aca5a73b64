"""Outages of a backend: cut off, killed, stopped, going up and down."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar

from faults.errors import NotApplicable, UndoFailed
from faults.fault import Firing, Sleeper, Target
from faults.journal import Entry, Journal
from faults.parameter import check_bounds, means
from faults.process import ProcessId
from faults.semantic_client import relayed
from faults.toxiproxy_client import Toxiproxy, toxiproxy_of
from faults.undo import Killed, ProxyOff, Stopped

DEATH_LIMIT_S = 10.0  # a killed process that holds much memory takes a while to be gone
LOOK_S = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyDown:
    """Cut the backend off: the Toxiproxy proxy in front of it drops its connections and refuses new ones."""

    name: ClassVar[str] = "proxy_down"

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        server, proxy = toxiproxy_of(target.name, target.toxiproxy_url, target.toxiproxy_proxy)
        firing = Firing()
        with Journal.of(target).undoing(target.name, ProxyOff(url=server.url, proxy=proxy)):
            before = relayed(target)
            server.set_enabled(proxy, False)
            try:
                yield firing
            finally:
                _prove_met(firing, target, "broken", before, "connections refused or dropped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flapping:
    """Cut the backend off for `down_s`, let it through for `up_s`, and so on; the first time at once."""

    name: ClassVar[str] = "flapping"
    down_s: float = field(default=2.0, metadata=means("time it is cut off, s", low=0.01))
    up_s: float = field(default=2.0, metadata=means("time it is let through, s", low=0.01))

    def __post_init__(self) -> None:
        check_bounds(self)

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        server, proxy = toxiproxy_of(target.name, target.toxiproxy_url, target.toxiproxy_proxy)
        firing = Firing()
        with Journal.of(target).undoing(target.name, ProxyOff(url=server.url, proxy=proxy)):
            before = relayed(target)
            server.set_enabled(proxy, False)
            flapping = asyncio.create_task(self._flap(Journal.of(target), server, proxy, clock))
            try:
                yield firing
            finally:
                flapping.cancel()
                if flapping.done() and not flapping.cancelled():
                    firing.evidence.append(f"flapping ended early: {flapping.exception()}")
                _prove_met(firing, target, "broken", before, "connections refused or dropped")

    async def _flap(self, journal: Journal, server: Toxiproxy, proxy: str, clock: Sleeper) -> None:
        here = ProxyOff(url=server.url, proxy=proxy)
        while True:
            await clock.sleep(self.down_s)
            if len(journal.others(here)) == 1:  # only ours: nobody else wants the proxy down
                server.set_enabled(proxy, True)
            await clock.sleep(self.up_s)
            server.set_enabled(proxy, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """End the backend's process and its children with SIGKILL; it is started again when the fault is undone."""

    name: ClassVar[str] = "kill"

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        async with down(target, clock) as said:
            yield Firing(touched=1, evidence=[said])


@asynccontextmanager
async def down(target: Target, clock: Sleeper, *, last: ProcessId | None = None) -> AsyncIterator[str]:
    """The backend does not run within the block; yields the evidence.

    It is started again at the end, unless another block holds it down. `last`: its process if none runs any more.
    """
    if target.restart is None:
        raise NotApplicable(f"{target.name}: it could not be started again after a kill (restart)")
    journal = Journal.of(target)
    running = _running(target)
    process = running or killed_process(target) or last or process_of(target)
    entry = journal.write(target.name, Killed(backend=target.url, process=process, revival=target.revival))
    try:
        for victim in process.tree():
            victim.send(signal.SIGKILL)
        await _until_dead(process, clock)
        yield f"process {process.pid} ended by SIGKILL" if running else f"process {process.pid} was down already"
    finally:
        await finish(_start_again(target, journal, entry, clock))


def killed_process(target: Target) -> ProcessId | None:
    """The process that a fault which is still on has ended; None: there is no such fault."""
    held = [entry.undo for entry in Journal.of(target).entries()]
    return next((undo.process for undo in held if isinstance(undo, Killed) and undo.backend == target.url), None)


async def _until_dead(process: ProcessId, clock: Sleeper) -> None:
    deadline_s = clock.now_s() + DEATH_LIMIT_S
    while process.alive and clock.now_s() < deadline_s:
        await clock.sleep(LOOK_S)
    if process.alive:
        raise NotApplicable(f"process {process.pid} did not end within {DEATH_LIMIT_S:g} s of SIGKILL")


async def _start_again(target: Target, journal: Journal, entry: Entry, clock: Sleeper) -> None:
    """`restart` does nothing when somebody else started it meanwhile; it also waits until it is healthy."""
    if journal.others(entry.undo, but=entry):
        journal.strike(entry)
        return
    try:
        if isinstance(entry.undo, Killed):
            await _until_dead(entry.undo.process, clock)
        if target.restart is not None:
            await target.restart()
    except Exception as error:  # whatever it is, the backend is down
        raise UndoFailed(f"{target.name}: not started again after the kill: {error}") from error
    journal.strike(entry)


async def finish(work: Coroutine[Any, Any, None]) -> None:
    """Await `work` to its end even when cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:
            break
    task.result()
    if cancelled is not None:
        raise cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """Stop the backend's process and its children with SIGSTOP: it accepts connections and never answers."""

    name: ClassVar[str] = "hang"

    @asynccontextmanager
    async def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AsyncIterator[Firing]:  # noqa: ARG002
        processes = process_of(target).tree()
        firing = Firing()
        with Journal.of(target).undoing(target.name, Stopped(processes=processes)):
            before = relayed(target)
            for process in processes:
                process.send(signal.SIGSTOP)
            try:
                yield firing
            finally:
                if processes[0].stopped:
                    firing.evidence.append(f"process {processes[0].pid} was stopped")
                    _prove_met(firing, target, "requests", before, "requests while it was stopped")
                else:
                    firing.evidence.append(f"process {processes[0].pid} was not stopped any more, or gone")


def process_of(target: Target) -> ProcessId:
    """The backend's process now. Raises NotApplicable when it is not ours or does not run."""
    process = _running(target)
    if process is None:
        raise NotApplicable(f"{target.name}: its process is not ours, or does not run (pid is {target.pid()})")
    return process


def _running(target: Target) -> ProcessId | None:
    pid = target.pid()
    return None if pid is None else ProcessId.of(pid)


def _prove_met(firing: Firing, target: Target, count: str, before: dict[str, int] | None, what: str) -> None:
    """Count what met the fault at the semantic proxy; without one, being applied has to do."""
    after = relayed(target)
    if before is None or after is None:
        firing.touched = 1
        firing.evidence.append(f"{what}: not counted, there is no semantic proxy")
        return
    firing.touched = after[count] - before[count]
    firing.evidence.append(f"{firing.touched} {what}")
