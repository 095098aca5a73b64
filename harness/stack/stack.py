"""The whole stack of a run: backends, their fault proxies, and the gateway. Started in order, always stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from faults.fault import Target
from faults.toxiproxy import ToxiproxyServer, find_server
from gateway.clock import Clock
from harness.errors import ConfigError, StackError
from harness.models import Profile
from harness.stack.backend import BackendLine, announced_port
from harness.stack.gateway_config import gateway_argv, gateway_toml
from harness.stack.process import Child, Ready

GATEWAY_START_LIMIT_S = 30.0


@dataclass(slots=True, kw_only=True)
class Stack:
    """Everything that runs. `start` either brings up all of it or stops what it began and raises StackError."""

    profile: Profile
    lines: Mapping[str, BackendLine]
    policy: Path
    folder: Path  # for configs, pid files and logs
    journal: Path  # where faults write how to undo them
    seed: int
    clock: Clock
    admin_token: str
    toxiproxy: ToxiproxyServer | None = None
    gateway: Child | None = None
    gateway_port: int | None = None

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def primary_model(self) -> str:
        return self.lines["primary"].model_dir.name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.lines)

    @property
    def models(self) -> Mapping[str, str]:
        """By backend, the model name that makes the gateway ask it; the others are asked when it cannot answer."""
        return {"primary": self.primary_model}

    async def start(self) -> None:
        try:
            for line in self.lines.values():
                line.start_engine()
            self.toxiproxy = find_server(seed=self.seed)
            for line in self.lines.values():
                await self._put_proxies_before(line)
            for line in self.lines.values():
                await line.ready(self.clock)
            await self._start_gateway()
        except BaseException:
            self.stop()
            raise

    async def _put_proxies_before(self, line: BackendLine) -> None:
        """Create the Toxiproxy proxy of this run (its name carries the port, so that a shared server is no trouble)."""
        if self.toxiproxy is None:
            raise StackError("the Toxiproxy server was not started")
        listen = await create_proxy(self.toxiproxy.url, name=line.proxy_name, upstream=f"127.0.0.1:{line.port}")
        await line.start_semantic(f"http://{listen}", self.clock)

    async def _start_gateway(self) -> None:
        config = self.folder / "gateway.toml"
        memory = {name: line.memory_settings(self.write_pid_file(name)) for name, line in self.lines.items()}
        config.write_text(gateway_toml(self.lines.values(), memory=memory), "utf-8")
        self.gateway = Child(
            name="gateway",
            argv=gateway_argv(config, self.policy),
            log=self.folder / "gateway.log",
            env={"TRUEFALL_ADMIN_TOKEN": self.admin_token},
        )
        self.gateway.start()
        self.gateway_port = await announced_port(self.gateway, self.clock)
        await self.gateway.wait_until(
            Ready(f"{self.gateway_url}/readyz"), timeout_s=GATEWAY_START_LIMIT_S, clock=self.clock
        )

    def target(self, name: str) -> Target:
        """The handles on one backend. Raises ConfigError for a name that is not in the stack."""
        try:
            line = self.lines[name]
        except KeyError:
            raise ConfigError(f"target {name!r} is not a backend; known are {', '.join(self.lines)}") from None
        return Target(
            name=name,
            url=line.url,
            pid=line.pid,
            restart=lambda: self.restart(name),
            log=line.log,
            toxiproxy_url=self.toxiproxy.url if self.toxiproxy else None,
            toxiproxy_proxy=self.lines[name].proxy_name,
            semantic_url=line.fault_url,
            gateway_url=self.gateway_url,
            gateway_token=self.admin_token,
            device=line.device,
            journal=self.journal,
        )

    async def restart(self, name: str) -> None:
        """Start a killed backend again and tell the memory probe its new process."""
        await self.lines[name].restart(self.clock)
        self.write_pid_file(name)

    def write_pid_file(self, name: str) -> Path:
        """Where the gateway's memory probe finds the backend's process."""
        path = (self.folder / f"{name}.pid").resolve()  # the gateway takes relative ones from its config
        path.write_text(f"{self.lines[name].pid() or ''}\n", "utf-8")
        return path

    def stop(self) -> None:
        """Stop everything; harmless when called again."""
        if self.gateway is not None:
            self.gateway.stop()
        for line in self.lines.values():
            line.stop()
        if self.toxiproxy is not None:
            self.toxiproxy.stop()


async def create_proxy(api_url: str, *, name: str, upstream: str) -> str:
    """Create a proxy on a free port and return the address it listens on. Raises StackError."""
    import aiohttp

    body = {"name": name, "listen": "127.0.0.1:0", "upstream": upstream}
    try:
        async with aiohttp.ClientSession() as session, session.post(f"{api_url}/proxies", json=body) as response:
            answer = await response.json(content_type=None)
    except aiohttp.ClientError as error:
        raise StackError(f"Toxiproxy at {api_url} does not answer: {error}") from None
    if response.status != 201:
        raise StackError(f"Toxiproxy at {api_url} refused proxy {name!r}: {answer.get('error', answer)}")
    return str(answer["listen"])
