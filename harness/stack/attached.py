"""Somebody else's gateway: nothing is started, faults act through the handles that a TOML file names."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Annotated

from msgspec import Meta, Struct

from faults.errors import UndoFailed
from faults.fault import Target
from faults.http_call import call
from faults.process import ProcessId
from faults.revival import Revival
from gateway.clock import Clock
from gateway.errors import GatewayError
from gateway.toml import load
from harness.client import Marks
from harness.errors import ConfigError, StackError
from harness.stack.process import Ready

Positive = Annotated[float, Meta(gt=0)]
START_LIMIT_S = 300.0


class GatewayTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[gateway]`: what is under test, and how it says that an answer is degraded."""

    url: str  # "http://127.0.0.1:8080", without /v1
    model: str  # the model name that clients ask for
    token_env: str | None = None  # environment variable with the bearer token
    admin_token_env: str | None = None  # for /admin of a gateway of ours
    timeout_s: Positive = 120.0
    level_header: str = "x-degradation-level"  # with a value other than "healthy": degraded
    path_header: str = "x-degradation-path"
    reason_header: str = "x-degrade-reason"
    unmarked_is_healthy: bool = False  # an answer without any mark counts as undegraded


class BackendTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[backends.NAME]`: the handles on one backend; each fault says which of them it needs."""

    url: str = ""  # the backend itself
    model: str | None = None  # the model name with which the gateway asks this backend; [gateway] model for "primary"
    toxiproxy_url: str | None = None
    toxiproxy_proxy: str | None = None
    semantic_url: str | None = None
    pid: int | None = None
    pid_file: Path | None = None
    log: Path | None = None
    control: Path | None = None  # of faults.backend_launcher
    device: str = "cpu"
    restart: list[str] | None = None  # command that starts it again; []: a supervisor does; not given: nobody can
    health_url: str | None = None  # answers 200 when it runs; not given: URL/health


class StackFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    gateway: GatewayTable
    backends: dict[str, BackendTable] = {}


def load_stack_file(path: Path) -> StackFile:
    """Raises ConfigError naming file, line, key and what would be right."""
    try:
        found = load(path, StackFile)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except GatewayError as error:
        raise ConfigError(str(error)) from None
    for name, backend in found.backends.items():
        check_backend(path, name, backend)
    for name in ("url",):
        require_http(f"{path}: [gateway] {name}", found.gateway.url)
    return found


def check_backend(path: Path, name: str, backend: BackendTable) -> None:
    place = f"{path}: [backends.{name}]"
    if (backend.toxiproxy_url is None) != (backend.toxiproxy_proxy is None):
        raise ConfigError(f"{place} toxiproxy_url and toxiproxy_proxy belong together; give both or neither")
    if backend.pid is not None and backend.pid_file is not None:
        raise ConfigError(f"{place} give pid or pid_file, not both")
    if backend.pid is not None and backend.restart is not None:
        raise ConfigError(
            f"{place} restart needs pid_file instead of pid: what is started again has another process id"
        )
    for key in ("url", "toxiproxy_url", "semantic_url", "health_url"):
        value = getattr(backend, key)
        if value:
            require_http(f"{place} {key}", value)


def require_http(place: str, url: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"{place} is {url!r}; it has to begin with http:// or https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedStack:
    """The stack of somebody else. `stop` leaves it as it is."""

    file: StackFile
    folder: Path  # relative paths in the file are relative to it
    journal: Path
    clock: Clock
    started: "list[Popen[bytes]]" = field(default_factory=list)  # by restart commands; they outlive the run

    @property
    def gateway_url(self) -> str:
        return self.file.gateway.url.rstrip("/").removesuffix("/v1")

    @property
    def primary_model(self) -> str:
        return self.file.gateway.model

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.file.backends)

    @property
    def models(self) -> Mapping[str, str]:
        """By backend, the model name that makes the gateway ask it."""
        named = {name: backend.model for name, backend in self.file.backends.items() if backend.model}
        return {"primary": self.primary_model, **named} if "primary" in self.file.backends else named

    @property
    def marks(self) -> Marks:
        table = self.file.gateway
        return Marks(
            level_header=table.level_header,
            path_header=table.path_header,
            reason_header=table.reason_header,
            unmarked_is_healthy=table.unmarked_is_healthy,
        )

    @property
    def token(self) -> str | None:
        return secret(self.file.gateway.token_env, "token_env")

    async def start(self) -> None:
        """Raises StackError when nobody listens at the gateway's URL."""
        try:
            await asyncio.to_thread(call, "GET", f"{self.gateway_url}/v1/models")
        except OSError as error:
            raise StackError(f"the gateway at {self.gateway_url} does not answer: {error}; start it first") from None

    def target(self, name: str) -> Target:
        """Raises ConfigError for a backend that the file does not name."""
        backend = self.file.backends.get(name)
        if backend is None:
            known = ", ".join(self.file.backends) or "none"
            raise ConfigError(f"target {name!r} is not in the stack file; backends there: {known}")
        return Target(
            name=name,
            url=backend.url,
            pid=lambda: self.pid(backend),
            restart=None if backend.restart is None else lambda: self.restart(name, backend),
            revival=self.revival(backend),
            log=self.path(backend.log),
            toxiproxy_url=backend.toxiproxy_url,
            toxiproxy_proxy=backend.toxiproxy_proxy,
            semantic_url=backend.semantic_url,
            gateway_url=self.gateway_url,
            gateway_token=secret(self.file.gateway.admin_token_env, "admin_token_env"),
            gateway_token_env=self.file.gateway.admin_token_env,
            device=backend.device,
            control=self.path(backend.control),
            journal=self.journal,
        )

    def path(self, path: Path | None) -> Path | None:
        return None if path is None else self.folder / path

    def pid(self, backend: BackendTable) -> int | None:
        """The process now; None when it is not told, or does not run."""
        pid = backend.pid
        file = self.path(backend.pid_file)
        if file is not None:
            try:
                pid = int(file.read_text("utf-8").strip())
            except (OSError, ValueError):
                return None
        return pid if pid is not None and ProcessId.of(pid) is not None else None

    def revival(self, backend: BackendTable) -> Revival | None:
        """How a backend that is killed comes back without us; None: it cannot be killed, or nobody starts it."""
        if backend.restart is None or backend.pid_file is None:
            return None
        return Revival(
            command=backend.restart,
            folder=str(self.folder.resolve()),
            pid_file=str(backend.pid_file),
            health_url=backend.health_url or f"{backend.url.rstrip('/')}/health",
        )

    async def restart(self, name: str, backend: BackendTable) -> None:
        """Start a killed backend again, or wait for whoever does. Raises StackError when it does not come back."""
        revival = self.revival(backend)
        if revival is None:
            raise StackError(f"backend {name}: restart needs pid_file")
        command = self._start_again(revival) if revival.running is None else None
        ready = Ready(revival.health_url)
        deadline_s = self.clock.now_s() + START_LIMIT_S
        while not await ready():
            if command is not None and command.poll():
                raise StackError(f"backend {name}: {backend.restart} ended with exit code {command.returncode}")
            if self.clock.now_s() > deadline_s:
                raise StackError(f"backend {name} is not healthy {START_LIMIT_S:g} s after its restart ({ready.url})")
            await self.clock.sleep(0.2)

    def _start_again(self, revival: Revival) -> "Popen[bytes] | None":
        try:
            process = revival.start()
        except UndoFailed as error:
            raise StackError(str(error)) from None
        if process is not None:
            self.started.append(process)
        return process

    def stop(self) -> None:
        """It is not ours."""


def secret(variable: str | None, key: str) -> str | None:
    """The value of an environment variable. Raises ConfigError when it is not set."""
    if variable is None:
        return None
    value = os.environ.get(variable)
    if not value:
        raise ConfigError(f"[gateway] {key}: the environment variable {variable} is not set")
    return value


def attach(path: Path, *, journal: Path, clock: Clock) -> AttachedStack:
    return AttachedStack(file=load_stack_file(path), folder=path.resolve().parent, journal=journal, clock=clock)


def only_gateway(url: str, *, journal: Path, clock: Clock) -> AttachedStack:
    """A gateway without any handle on what is behind it; its first model is asked. Raises ConfigError or StackError."""
    require_http("--chaos-gateway", url)
    base = url.rstrip("/").removesuffix("/v1")
    try:
        models = (call("GET", f"{base}/v1/models").value or {}).get("data") or []
    except OSError as error:
        raise StackError(f"the gateway at {base} does not answer: {error}; start it first") from None
    if not models:
        raise StackError(f"the gateway at {base} lists no model; name one in a file for --chaos-stack")
    table = GatewayTable(url=url, model=str(models[0].get("id")))
    return AttachedStack(file=StackFile(gateway=table), folder=Path(), journal=journal, clock=clock)
