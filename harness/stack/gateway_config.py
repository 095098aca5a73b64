"""The gateway's config for a stack: what exists, as TOML. How to degrade is the policy's, and the user's."""

import json
from collections.abc import Sequence
from pathlib import Path

from harness.stack.backend import BackendLine

HEADER = "# Written by the harness for one run; every backend is reached through its fault proxies.\n"


def gateway_toml(lines: Sequence[BackendLine], *, pid_files: dict[str, Path]) -> str:
    """The whole file."""
    passed_on = ["x-truefall-trial", "x-tenant-id"]  # what keys the draws of a fault and its blast radius
    server = table("server", {"host": "127.0.0.1", "port": 0, "unknown_models": "route", "forward_headers": passed_on})
    return HEADER + server + "".join(backend_toml(line, pid_files[line.name]) for line in lines)


def backend_toml(line: BackendLine, pid_file: Path) -> str:
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
    return table("[backends]", backend) + table("backends.memory", line.memory_settings(pid_file))


def table(name: str, values: dict[str, object]) -> str:
    """A TOML table; a name in brackets becomes an array's element. JSON scalars are TOML scalars."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines, "", ""])
