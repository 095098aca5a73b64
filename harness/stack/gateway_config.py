"""How a stack starts its gateway: the command line, and the config as TOML. How to degrade is the policy's."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.stack.backend import BackendLine

HEADER = "# Written by the harness for one run; every backend is reached through its fault proxies.\n"


def gateway_argv(config: Path, policy: Path) -> list[str]:
    """A gateway on any free port, which it announces as one JSON line."""
    files = ["--config", str(config), "--policy", str(policy)]
    return [sys.executable, "-m", "harness.cli", "gateway", *files, "--port", "0"]


def gateway_toml(lines: Iterable[BackendLine], *, memory: Mapping[str, Mapping[str, object]]) -> str:
    """The whole file; a backend that `memory` does not name has no ledger and no probe."""
    passed_on = ["x-truefall-trial", "x-tenant-id"]  # what keys the draws of a fault and its blast radius
    server = table("server", {"host": "127.0.0.1", "port": 0, "unknown_models": "route", "forward_headers": passed_on})
    return HEADER + server + "".join(backend_toml(line, memory.get(line.name)) for line in lines)


def backend_toml(line: BackendLine, memory: Mapping[str, object] | None) -> str:
    """One `[[backends]]` with its memory probe."""
    backend = {
        "name": line.name,
        "url": f"{line.fault_url}/v1",
        "model": line.model_dir.name,
        "engine": line.model.engine,
        "model_dir": str(line.model_dir),
        "context_tokens": line.model.context_tokens,
        "max_concurrent": line.model.max_concurrent,
    }
    return table("[backends]", backend) + ("" if memory is None else table("backends.memory", memory))


def table(name: str, values: Mapping[str, object]) -> str:
    """A TOML table; a name in brackets becomes an array's element. JSON scalars are TOML scalars."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines, "", ""])
