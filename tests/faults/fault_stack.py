"""A whole line for the fault tests, each part a process: stub backend, embedded Toxiproxy, semantic proxy."""

import asyncio
import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from stub_server import ANSWER

from faults.fault import Target
from faults.http_call import call
from faults.ports import free_port
from faults.process import ProcessId
from faults.revival import Revival

PROXY = "primary"
TOKEN, TOKEN_ENV = "secret", "TRUEFALL_ADMIN_TOKEN"
START = """\
#!/bin/sh
echo $$ > backend.pid
export PYTHONPATH="{paths}" TOKEN={token}
exec {python} -m faults.backend_launcher --control control -- {stub} {port} model >> backend.out 2>> backend.log
"""
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@dataclass
class FaultStack:
    """Started once for a module; `target` gives the handles, `state` what a fault could have left."""

    folder: Path
    revival: Revival  # of the backend, which is nobody's child: it outlives who kills it
    others: "list[subprocess.Popen[bytes]]"
    port: int
    toxiproxy_url: str
    semantic_url: str

    @property
    def log(self) -> Path:
        return self.folder / "backend.log"

    def target(self, journal: Path) -> Target:
        url = f"http://127.0.0.1:{self.port}"
        return Target(
            name="primary",
            url=url,
            pid=self.pid,
            restart=self.restart,
            revival=self.revival,
            log=self.log,
            toxiproxy_url=self.toxiproxy_url,
            toxiproxy_proxy=PROXY,
            semantic_url=self.semantic_url,
            gateway_url=url,
            gateway_token=TOKEN,
            gateway_token_env=TOKEN_ENV,
            control=self.folder / "control",
            journal=journal,
        )

    def pid(self) -> int | None:
        running = self.revival.running
        return running.pid if running else None

    async def restart(self) -> None:
        await asyncio.to_thread(self.revival.revive)

    def state(self) -> dict[str, Any]:
        """What a fault could have changed, as it is now."""
        proxy = call("GET", f"{self.toxiproxy_url}/proxies/{PROXY}").value
        pid = self.pid()
        process = ProcessId.of(pid) if pid else None
        stopped = process is not None and process.stopped
        return {
            "enabled": proxy["enabled"],
            "toxics": [toxic["name"] for toxic in proxy["toxics"]],
            "semantic": call("GET", f"{self.semantic_url}/__fault__").value["faults"],
            "running": process is not None,
            "stopped": stopped,
            "limit": resource.prlimit(pid, resource.RLIMIT_AS) if process else None,
            "control": sorted(path.name for path in (self.folder / "control").iterdir()),
            "ledger": {}
            if stopped or process is None
            else call("GET", f"http://127.0.0.1:{self.port}/admin/ledger").value,
        }

    def stop(self) -> None:
        self.revival.end()
        for process in self.others:
            process.kill()
            process.wait()


CLEAN: dict[str, Any] = {
    "enabled": True,
    "toxics": [],
    "semantic": [],
    "running": True,
    "stopped": False,
    "limit": UNLIMITED,
    "control": ["launch.json"],
    "ledger": {},
}
# Functions with the names that the launcher hooks.
ENGINE = {
    "torch/nn/functional.py": "def scaled_dot_product_attention(): pass",
    "transformers/tokenization_utils_base.py": "class PreTrainedTokenizerBase:\n    def decode(self): pass",
    "gateway/answers/validate.py": "def check_schema(): pass",
    "model/model.safetensors": "\x02\0\0\0\0\0\0\0{}" + "weights " * 100,
    "model/config.json": "{}",
}


def write_engine(folder: Path) -> None:
    for name, text in ENGINE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for package in path.relative_to(folder).parents:
            if package.name and path.suffix == ".py":
                (folder / package / "__init__.py").touch()


def write_start(folder: Path, port: int) -> Revival:
    paths = f"{folder}:{Path(__file__).parents[2]}"
    stub = Path(__file__).with_name("stub_server.py")
    (folder / "start.sh").write_text(
        START.format(paths=paths, token=TOKEN, python=sys.executable, stub=stub, port=port), encoding="utf-8"
    )
    health = f"http://127.0.0.1:{port}/health"
    return Revival(command=["sh", "start.sh"], folder=str(folder), pid_file="backend.pid", health_url=health)


def start_stack(folder: Path) -> FaultStack:
    write_engine(folder)
    port = free_port()
    revival = write_start(folder, port)
    revival.revive()
    toxiproxy, api = announced("faults.toxiproxy", "--port", "0")
    made = call("POST", f"{api}/proxies", {"name": PROXY, "upstream": f"127.0.0.1:{port}", "listen": "127.0.0.1:0"})
    semantic, url = announced("faults.semantic", "--upstream", f"http://{made.value['listen']}")
    return FaultStack(folder, revival, [toxiproxy, semantic], port, api, url)


def announced(module: str, *arguments: str) -> "tuple[subprocess.Popen[bytes], str]":
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE)
    return process, str(first_line(process)["url"])


def first_line(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    assert process.stdout is not None
    with process.stdout:
        return dict(json.loads(process.stdout.readline()))


async def send(stack: FaultStack, *, trial: str, stream: bool, prompt: str, limit_s: float) -> str:
    """One request through the whole line; the text of the reply, or the name of the error."""
    body = {"messages": [{"role": "user", "content": prompt}], "stream": stream}
    timeout = aiohttp.ClientTimeout(total=limit_s)
    async with aiohttp.ClientSession(timeout=timeout, headers={"x-truefall-trial": trial}) as session:
        try:
            async with session.post(f"{stack.semantic_url}/v1/chat/completions", json=body) as reply:
                return (await reply.read()).decode("utf-8", "replace")
        except (TimeoutError, aiohttp.ClientError) as error:
            return type(error).__name__


async def traffic(stack: FaultStack, limit_s: float = 30.0) -> list[str]:
    """A JSON and a stream request that give every fault something to touch; a short limit where nobody answers."""
    prompt = "You must list exactly 3 refund rules of order A-1. Pay the customer. allocate 400000000"
    return [
        await send(stack, trial=f"t{number}", stream=stream, prompt=prompt, limit_s=limit_s)
        for number, stream in enumerate((False, True, False))
    ]


async def healthy(stack: FaultStack) -> bool:
    """The line answers as it should."""
    return (
        ANSWER
        in json.loads(await send(stack, trial="h", stream=False, prompt="hello", limit_s=30))["choices"][0]["message"][
            "content"
        ]
    )
