"""How each fault is undone: values that fit in a line of JSON, so that another process can do it after a crash.

`settle` puts the resource where it belongs when `others` (the faults still on, on the same resource) remain; with none
it is as it was before. It may run twice, in any order, and on a target that restarted or is gone.
"""

import os
import resource
import shutil
import signal
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Union

import msgspec

from faults.errors import FaultError, UndoFailed
from faults.http_call import call
from faults.process import ProcessId
from faults.revival import Revival
from faults.toxiproxy_client import NotThereError, ServerGoneError, Toxiproxy

GONE = "already gone"


class ToxicThere(msgspec.Struct, frozen=True, kw_only=True, tag="toxic"):
    """A toxic was added to a proxy."""

    url: str
    proxy: str
    toxic: str

    @property
    def resource(self) -> str:
        return f"{self.url}/proxies/{self.proxy}/toxics/{self.toxic}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "kept for another fault"
        return _tolerant(lambda: Toxiproxy(url=self.url).remove_toxic(self.proxy, self.toxic), "toxic removed")


class ProxyOff(msgspec.Struct, frozen=True, kw_only=True, tag="proxy_off"):
    """A proxy was disabled."""

    url: str
    proxy: str

    @property
    def resource(self) -> str:
        return f"{self.url}/proxies/{self.proxy}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "left off for another fault"
        return _tolerant(lambda: Toxiproxy(url=self.url).set_enabled(self.proxy, True), "proxy enabled")


def _tolerant(act: Callable[[], None], done: str) -> str:
    try:
        act()
    except (NotThereError, ServerGoneError):
        return GONE
    except FaultError as error:
        raise UndoFailed(str(error)) from error
    return done


class SemanticOn(msgspec.Struct, frozen=True, kw_only=True, tag="semantic"):
    """A fault was set in the semantic proxy; it also runs out by itself."""

    url: str
    fault_id: str

    @property
    def resource(self) -> str:
        return f"{self.url}/__fault__/{self.fault_id}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "kept for another fault"
        try:
            reply = call("DELETE", self.resource)
        except ConnectionRefusedError:
            return GONE
        except OSError as error:
            raise UndoFailed(f"{self.resource}: {error}") from error
        if reply.status not in (200, 404):
            raise UndoFailed(f"{self.resource}: status {reply.status}: {reply.text[:200]}")
        return "fault taken away" if reply.status == 200 else GONE


class Stopped(msgspec.Struct, frozen=True, kw_only=True, tag="stopped"):
    """Processes were stopped with SIGSTOP; the first is the one that was meant."""

    processes: list[ProcessId]

    @property
    def resource(self) -> str:
        return f"stopped/{self.processes[0].pid}/{self.processes[0].started}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "left stopped for another fault"
        woken = [process.send(signal.SIGCONT) for process in reversed(self.processes)]
        return "process goes on" if any(woken) else GONE


class AddressSpaceLow(msgspec.Struct, frozen=True, kw_only=True, tag="address_space"):
    """RLIMIT_AS of a process was lowered to `limit_bytes`."""

    process: ProcessId
    limit_bytes: int
    original: tuple[int, int]  # soft, hard; -1: unlimited

    @property
    def resource(self) -> str:
        return f"address_space/{self.process.pid}/{self.process.started}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if not self.process.alive:
            return GONE
        lows = [other.limit_bytes for other in others if isinstance(other, AddressSpaceLow)]
        soft, hard = self.original
        wanted = (min(lows), hard) if lows else (soft, hard)
        try:
            resource.prlimit(self.process.pid, resource.RLIMIT_AS, wanted)
        except ProcessLookupError:
            return GONE
        except (OSError, ValueError) as error:
            raise UndoFailed(
                f"RLIMIT_AS of process {self.process.pid} cannot be set back to {wanted}: {error}"
            ) from error
        return "limit kept for another fault" if lows else "limit restored"


class FileChanged(msgspec.Struct, frozen=True, kw_only=True, tag="file"):
    """A small file (a cgroup's limit, a control file) was written; None: it was not there before."""

    path: str
    original: str | None

    @property
    def resource(self) -> str:
        return f"file/{self.path}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "left for another fault"
        path = Path(self.path)
        try:
            if self.original is None:
                path.unlink(missing_ok=True)
            elif path.parent.exists():
                path.write_text(self.original, encoding="utf-8")
        except OSError as error:
            raise UndoFailed(f"{path} cannot be set back: {error.strerror}") from error
        return "file restored"


class ChildRuns(msgspec.Struct, frozen=True, kw_only=True, tag="child"):
    """A process of our own was started (memory ballast)."""

    process: ProcessId

    @property
    def resource(self) -> str:
        return f"child/{self.process.pid}/{self.process.started}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "kept for another fault"
        return "process ended" if self.process.send(signal.SIGKILL) else GONE


class Killed(msgspec.Struct, frozen=True, kw_only=True, tag="killed"):
    """A backend's process was ended. Its own harness starts it again; this is how somebody else does."""

    backend: str  # its URL
    process: ProcessId
    revival: Revival | None  # None: it was the harness's child, and ends with it in any case

    @property
    def resource(self) -> str:
        return f"killed/{self.backend}"

    def settle(self, others: Sequence["Undo"]) -> str:
        if others:
            return "left down for another fault"
        if self.revival is None or self.process.alive or self.revival.healthy:
            return GONE
        self.revival.revive()
        return "started again"


class WeightsDamaged(msgspec.Struct, frozen=True, kw_only=True, tag="weights"):
    """A backend was to start on a copy of its weights in which bits are flipped."""

    switch: str  # the control file
    copy: str  # the folder of the copy
    sound: ProcessId  # the process that ran before
    revival: Revival | None  # None: it was the harness's child, and ends with it in any case

    @property
    def resource(self) -> str:
        return f"weights/{Path(self.switch).parent}"

    def settle(self, others: Sequence["Undo"]) -> str:
        self.take_away()
        if others:
            return "left to another fault"
        if self.revival is None or self.revival.running == self.sound:
            return GONE
        self.revival.end()
        self.revival.revive()
        return "started again on the sound weights"

    def take_away(self) -> None:
        """Whatever starts from now on is sound; raises UndoFailed."""
        try:
            Path(self.switch).unlink(missing_ok=True)
        except OSError as error:
            raise UndoFailed(f"{self.switch} cannot be removed: {error.strerror}") from error
        shutil.rmtree(self.copy, ignore_errors=True)


class LedgerHeld(msgspec.Struct, frozen=True, kw_only=True, tag="ledger"):
    """A reservation is held in a gateway's ledger; the gateway itself releases it at `ends_s`."""

    ledger: str  # URL
    reservation: str  # empty: the gateway was asked, and its answer is not known
    token_env: str | None  # the environment variable with the admin token, which is not written down
    ends_s: float  # seconds since 1970

    @property
    def resource(self) -> str:
        return f"{self.ledger}/{self.reservation}"

    def settle(self, others: Sequence["Undo"]) -> str:  # noqa: ARG002  (each reservation is one fault's)
        left_s = self.ends_s - datetime.now(UTC).timestamp()
        if left_s <= 0:
            return GONE
        token = os.environ.get(self.token_env or "", "")
        try:
            reply = call("DELETE", self.resource, None, {"Authorization": f"Bearer {token}"})
        except ConnectionRefusedError:
            return GONE  # the gateway is gone, and its ledger with it
        except OSError as error:
            raise UndoFailed(f"{self.resource}: {error}; it ends by itself in {left_s:.0f} s") from error
        if self.reservation and reply.status in (200, 204, 404):
            return GONE if reply.status == 404 else "reservation released"
        hint = f"set {self.token_env} to the admin token, or wait" if self.token_env else "wait"
        raise UndoFailed(f"{self.resource}: status {reply.status}; {hint}: it ends by itself in {left_s:.0f} s")


Undo = Union[  # noqa: UP007
    ToxicThere,
    ProxyOff,
    SemanticOn,
    Stopped,
    AddressSpaceLow,
    FileChanged,
    ChildRuns,
    Killed,
    WeightsDamaged,
    LedgerHeld,
]
