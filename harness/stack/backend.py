"""One backend's line: gateway → semantic fault proxy → Toxiproxy proxy → serving engine."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faults.ports import free_port
from gateway.clock import Clock
from harness.errors import StackError
from harness.models import ModelSpec
from harness.models.spec import Dtype
from harness.stack.process import Child, Ready

START_LIMIT_S = 300.0
ANNOUNCE_LIMIT_S = 30.0


@dataclass(slots=True, kw_only=True)
class BackendLine:
    """The processes of one backend, started from the engine outwards."""

    name: str  # "primary", "secondary"
    model: ModelSpec
    model_dir: Path
    device: str
    logs: Path
    port: int = field(default_factory=free_port)
    argv: Sequence[str] = ()  # another serving engine's command line; () for the model's own
    engine: Child | None = None
    semantic: Child | None = None
    semantic_port: int | None = None

    @property
    def url(self) -> str:
        """The engine itself."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def proxy_name(self) -> str:
        """Its name at the Toxiproxy server, which others may share."""
        return f"truefall-{self.name}-{self.port}"

    @property
    def fault_url(self) -> str:
        """What the gateway is given: every fault can act there. The engine itself where no proxy was put before it."""
        return self.url if self.semantic_port is None else f"http://127.0.0.1:{self.semantic_port}"

    @property
    def log(self) -> Path:
        return self.logs / f"{self.name}.log"

    def pid(self) -> int | None:
        return self.engine.pid if self.engine else None

    def memory_settings(self, pid_file: Path) -> dict[str, object]:
        """How the gateway measures this backend's memory: the device, or the engine's process."""
        if self.model.engine == "vllm":
            return {"probe": "vllm", "kv_capacity_bytes": self.model.kv_capacity_bytes}
        dtype = activation_dtype(self.model, self.device)
        shared: dict[str, object] = {"kv_capacity_bytes": self.model.kv_capacity_bytes}
        if dtype != "auto":
            shared["kv_dtype"] = dtype
        if self.device == "cuda":
            return {"probe": "cuda", "margin_share": self.model.margin_share, **shared}
        return {"probe": "process", "pid_file": str(pid_file), "margin_bytes": self.model.margin_bytes, **shared}

    def start_engine(self) -> None:
        """Start the serving process; `ready` waits for it."""
        self.engine = Child(
            name=f"backend {self.name}",
            argv=self.argv or engine_argv(self.model, self.model_dir, self.port, self.device),
            log=self.log,
            env=engine_env(),
            cwd=self.model_dir.parent,
        )
        self.engine.start()

    async def ready(self, clock: Clock) -> None:
        """Raises StackError when the engine does not become healthy."""
        if self.engine is None:
            raise StackError(f"backend {self.name} was not started")
        await self.engine.wait_until(Ready(f"{self.url}/health"), timeout_s=START_LIMIT_S, clock=clock)

    async def restart(self, clock: Clock) -> None:
        """Start a dead engine again on the same port."""
        if self.pid() is None:
            self.start_engine()
        await self.ready(clock)

    async def start_semantic(self, upstream: str, clock: Clock) -> None:
        """Start the proxy that understands chat completions, in front of `upstream`."""
        argv = [
            sys.executable,
            "-m",
            "faults.semantic",
            "--upstream",
            upstream,
            "--port",
            "0",
            "--tokenizer",
            str(self.model_dir),
        ]
        log = self.logs / f"{self.name}-semantic.log"
        self.semantic = Child(name=f"semantic proxy of {self.name}", argv=argv, log=log)
        self.semantic.start()
        self.semantic_port = await announced_port(self.semantic, clock)

    def stop(self) -> None:
        for child in (self.semantic, self.engine):
            if child is not None:
                child.stop()


def engine_argv(model: ModelSpec, model_dir: Path, port: int, device: str) -> list[str]:
    """The command line of the serving engine."""
    if model.engine == "vllm":
        return ["vllm", "serve", str(model_dir), "--host", "127.0.0.1", "--port", str(port), *model.args]
    quantised = ["--int8"] if model.dtype == "int8" and device == "cpu" else []
    return [
        *(sys.executable, "-m", "harness.stack.transformers_engine", *quantised, "serve", model_dir.name),
        *("--device", device, "--dtype", activation_dtype(model, device)),
        *("--host", "127.0.0.1", "--port", str(port), *model.args),
    ]


def activation_dtype(model: ModelSpec, device: str) -> Dtype:
    """What the model computes in, and its KV cache is kept in; "auto": what its config says.

    The 8-bit kernels are the CPU's; on a GPU the light replica is one in bfloat16.
    """
    if model.dtype != "int8":
        return model.dtype
    return "float32" if device == "cpu" else "bfloat16"


def engine_env() -> dict[str, str]:
    """No hub, output at once, threads that sleep while they wait, and memory that goes back to the system.

    Spinning threads stall each other on a busy machine: 40 tokens took 25 s with them and 6.7 s without (two busy
    cores). Large blocks of their own mappings are given back when they are freed, so that the process's size says what
    is in use; without that, the memory of the longest prompt so far stays, and hides every shortage. One arena:
    every other has 64 MiB of address space in reserve, where glibc goes on after a failure as if there were no limit.
    """
    return {
        "HF_HUB_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "MALLOC_MMAP_THRESHOLD_": "262144",
        "MALLOC_TRIM_THRESHOLD_": "1048576",
        "MALLOC_ARENA_MAX": "1",
    }


async def announced_port(child: Child, clock: Clock) -> int:
    """The port that a server of ours announces as one JSON line on its output."""

    async def announced() -> bool:
        return find_port(child.said()) is not None

    await child.wait_until(announced, timeout_s=ANNOUNCE_LIMIT_S, clock=clock)
    port = find_port(child.said())
    if port is None:
        raise StackError(f"{child.name} did not say its port (see {child.log})")
    return port


def find_port(said: str) -> int | None:
    """The last `{"port": …}` of what a server wrote; None when there is none yet."""
    port = None
    for line in said.splitlines():
        if line.startswith("{") and '"port"' in line:
            try:
                port = int(json.loads(line)["port"])
            except (ValueError, KeyError, TypeError):
                continue
    return port
