"""What is measured: a real serving engine and a gateway, each started by the launcher, and every proxy before them.

client → semantic proxy → Toxiproxy → tap → `transformers serve`
client → gateway → semantic proxy → …
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from faults.fault import Target
from faults.http_call import call
from faults.ports import free_port
from faults.toxiproxy import ToxiproxyServer
from faults.toxiproxy.discover import start_embedded
from gateway.clock import Clock
from harness.effects.reciter import CONTEXT_TOKENS, build_reciter
from harness.effects.tap import Tap, tap
from harness.models.spec import ModelSpec
from harness.stack.backend import BackendLine, announced_port, engine_argv, engine_env
from harness.stack.gateway_config import gateway_argv, gateway_toml
from harness.stack.process import Child, Ready
from harness.stack.stack import create_proxy

START_LIMIT_S = 300.0
PROXY = "measured"
TOKEN = "measured"
LEDGER_BYTES = 1_000_000_000
POLICY = """
name = "measured"
[paths]
order = ["primary", "structured"]
[limits.default]
first_token_s = 60.0
total_s = 120.0
[health]
p99_ms = 60_000.0
[grounding]
apply = "never"
"""


@dataclass(slots=True, kw_only=True)
class Line:
    """Everything that runs, and the handles on it."""

    folder: Path
    clock: Clock
    engine: Child
    tap: Tap
    engine_port: int
    toxiproxy: ToxiproxyServer
    proxy_address: str  # of the Toxiproxy proxy, "127.0.0.1:41001"
    semantic: Child
    semantic_port: int = 0
    gateway: Child | None = None
    gateway_port: int = 0

    @property
    def url(self) -> str:
        """The engine itself."""
        return f"http://127.0.0.1:{self.engine_port}"

    async def restart(self) -> None:
        if self.engine.pid is None:
            self.engine.start()
        await self.engine.wait_until(Ready(f"{self.url}/health"), timeout_s=START_LIMIT_S, clock=self.clock)
        self.write_pid()

    def write_pid(self) -> None:
        (self.folder / "engine.pid").write_text(f"{self.engine.pid}\n", "utf-8")

    def target(self) -> Target:
        """The handles for a fault of the engine."""
        return Target(
            name="primary",
            url=self.url,
            pid=lambda: self.engine.pid,
            restart=self.restart,
            log=self.engine.log,
            toxiproxy_url=self.toxiproxy.url,
            toxiproxy_proxy=PROXY,
            semantic_url=f"http://127.0.0.1:{self.semantic_port}",
            gateway_url=f"http://127.0.0.1:{self.gateway_port}",
            gateway_token=TOKEN,
            control=self.folder / "control-engine",
            journal=self.folder / "journal",
        )

    def gateway_target(self) -> Target:
        """The handles for a fault inside the gateway's process."""
        log = None if self.gateway is None else self.gateway.log
        url = f"http://127.0.0.1:{self.gateway_port}"
        control = self.folder / "control-gateway"
        return Target(name="gateway", url=url, log=log, control=control, journal=self.folder / "journal")

    def reserved_bytes(self) -> int:
        """What the gateway's ledger has promised now."""
        url = f"http://127.0.0.1:{self.gateway_port}/admin/state"
        state = call("GET", url, headers={"Authorization": f"Bearer {TOKEN}"}).value
        return int(state["backends"]["primary"]["ledger"]["reserved_bytes"])

    def stop(self) -> None:
        for child in (self.gateway, self.semantic, self.engine):
            if child is not None:
                child.stop()
        self.toxiproxy.stop()


@asynccontextmanager
async def started(folder: Path, *, clock: Clock, seed: int = 1) -> AsyncIterator[Line]:
    """Build the model, start everything, stop it in the end. Raises StackError when something does not start."""
    model = folder / "models" / "reciter"
    build_reciter(model)
    port = free_port()
    engine = launched("engine", folder, engine_argv(_SPEC, model, port, "cpu")[1:], cwd=model.parent, env=engine_env())
    engine.start()
    async with tap(port) as before_engine:
        toxiproxy = start_embedded(seed=seed)
        listen = await create_proxy(toxiproxy.url, name=PROXY, upstream=f"127.0.0.1:{before_engine.port}")
        argv = [*_PYTHON, "faults.semantic", "--upstream", f"http://{listen}", "--tokenizer", str(model)]
        line = Line(
            folder=folder,
            clock=clock,
            engine=engine,
            tap=before_engine,
            engine_port=port,
            toxiproxy=toxiproxy,
            proxy_address=listen,
            semantic=Child(name="semantic proxy", argv=argv, log=folder / "semantic.log"),
        )
        try:
            await _start_rest(line)
            yield line
        finally:
            line.stop()


_PYTHON = (sys.executable, "-m")
_SPEC = ModelSpec(name="reciter", dtype="float32", context_tokens=CONTEXT_TOKENS)


async def _start_rest(line: Line) -> None:
    line.semantic.start()
    line.semantic_port = await announced_port(line.semantic, line.clock)
    await line.restart()
    config, policy = line.folder / "gateway.toml", line.folder / "policy.toml"
    policy.write_text(POLICY, "utf-8")
    config.write_text(gateway_config(line), "utf-8")
    argv = gateway_argv(config, policy)[1:]
    line.gateway = launched("gateway", line.folder, argv, cwd=line.folder, env={"TRUEFALL_ADMIN_TOKEN": TOKEN})
    line.gateway.start()
    line.gateway_port = await announced_port(line.gateway, line.clock)


def launched(name: str, folder: Path, argv: list[str], *, cwd: Path, env: dict[str, str]) -> Child:
    """A Python program under the launcher, whose control folder is `control-NAME`; `argv` as python takes it."""
    begin = [*_PYTHON, "faults.backend_launcher", "--control", str(folder / f"control-{name}"), "--"]
    return Child(name=name, argv=[*begin, *argv], log=folder / f"{name}.log", cwd=cwd, env=env)


def gateway_config(line: Line) -> str:
    """One backend behind the proxies, with a ledger."""
    model_dir = line.folder / "models" / "reciter"
    backend = BackendLine(
        name="primary",
        model=_SPEC,
        model_dir=model_dir,
        device="cpu",
        logs=line.folder,
        port=line.engine_port,
        semantic_port=line.semantic_port,
    )
    return gateway_toml([backend], memory={"primary": {"kv_capacity_bytes": LEDGER_BYTES, "kv_dtype": "float32"}})
