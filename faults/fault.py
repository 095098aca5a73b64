"""What a fault is: a small frozen value that becomes an async context manager around a target."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import ClassVar, Protocol

from faults.reach import EVERYTHING, Reach
from faults.revival import Revival


class Sleeper(Protocol):
    """The clock that faults need."""

    def now_s(self) -> float: ...
    async def sleep(self, delay_s: float) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The handles on one backend. A fault touches nothing else."""

    name: str  # the backend's name, as "primary"
    url: str  # the backend itself, without any proxy: "http://127.0.0.1:41001"
    pid: Callable[[], int | None] = lambda: None  # the backend's process now; None: not ours
    restart: Callable[[], Awaitable[None]] | None = None  # starts a killed backend again and waits until it is healthy
    revival: Revival | None = None  # the same as values; None: it ends with this process, which started it
    log: Path | None = None  # the backend's log file
    toxiproxy_url: str | None = None  # API of the Toxiproxy server in front of it
    toxiproxy_proxy: str | None = None  # name of its proxy there
    semantic_url: str | None = None  # control API of the semantic fault proxy in front of it
    gateway_url: str | None = None
    gateway_token: str | None = None  # for /admin of the gateway (ledger pressure)
    gateway_token_env: str | None = None  # the environment variable that has it; a sweep reads it there
    device: str = "cpu"
    control: Path | None = None  # control folder of the launcher that started the process; None: started without it
    reach: Reach = EVERYTHING  # the blast radius: which requests a fault may touch
    journal: Path | None = None  # folder for the undo records; None: one per user in the temporary folder


@dataclass(slots=True, kw_only=True)
class Firing:
    """The proof that a fault fired; filled while it is on, complete once the block has ended."""

    touched: int = 0  # requests, connections or allocations that met the fault
    evidence: list[str] = field(default_factory=list)  # lines a person can read

    @property
    def fired(self) -> bool:
        return self.touched > 0


class Fault(Protocol):
    """One fault. `inject` applies it on entry and undoes it on every way out; undoing twice is harmless."""

    name: ClassVar[str]  # its name in the catalogue

    def inject(self, target: Target, *, clock: Sleeper, rng: Random) -> AbstractAsyncContextManager[Firing]: ...
