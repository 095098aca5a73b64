"""Find a Toxiproxy server to use: one that is named, one that is installed, or the embedded one."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import faults
from faults.errors import NotApplicable
from faults.ports import free_port

START_S = 20.0  # a server must answer within this time of its start
STOP_S = 5.0  # between being told to stop and being killed
PROBE_S = 0.05  # between two looks at a server that is starting

Kind = Literal["url", "binary", "embedded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToxiproxyServer:
    """A server that answers. `stop` ends it if it was started here; twice is harmless."""

    url: str  # of the API, without a slash at its end
    kind: Kind
    seed: int | None  # None: a server of somebody else's, with its own seed
    process: "subprocess.Popen[str] | None" = None

    @property
    def pid(self) -> int | None:
        return None if self.process is None else self.process.pid

    def stop(self) -> None:
        if self.process is not None:
            _end(self.process)


def find_server(*, seed: int = 0, environ: Mapping[str, str] | None = None) -> ToxiproxyServer:
    """The server at TOXIPROXY_URL, else `toxiproxy-server` from PATH, else the embedded one; the last two as children.

    A child dies with the thread (installed server) or process (embedded) that called this. Raises NotApplicable when
    the named server does not answer or a child does not start.
    """
    env = os.environ if environ is None else environ
    named = env.get("TOXIPROXY_URL", "").rstrip("/")
    if named:
        if not answers(named):
            raise NotApplicable(f"TOXIPROXY_URL={named}: no Toxiproxy server answers there")
        return ToxiproxyServer(url=named, kind="url", seed=None)
    binary = shutil.which("toxiproxy-server", path=env.get("PATH"))
    return start_binary(binary, seed=seed) if binary else start_embedded(seed=seed)


def start_embedded(*, seed: int = 0) -> ToxiproxyServer:
    """The embedded server on a free port of the loopback."""
    process = _spawn(["-m", "faults.toxiproxy", "--port", "0", "--seed", str(seed), "--parent-pid", str(os.getpid())])
    try:
        line = process.stdout.readline() if process.stdout else ""
        return ToxiproxyServer(url=str(json.loads(line)["url"]), kind="embedded", seed=seed, process=process)
    except (ValueError, KeyError):
        _end(process)
        raise NotApplicable(f"the embedded Toxiproxy did not start (exit code {process.returncode})") from None
    except BaseException:
        _end(process)
        raise


def start_binary(binary: str, *, seed: int = 0) -> ToxiproxyServer:
    """An installed server on a free port of the loopback."""
    port = free_port()
    argv = [binary, "-host", "127.0.0.1", "-port", str(port), "-seed", str(seed)]
    process = _spawn(["-m", "faults.toxiproxy.leash", str(os.getpid()), *argv], quiet=True)
    url = f"http://127.0.0.1:{port}"
    try:
        _await_answer(process, url, binary)
    except BaseException:
        _end(process)
        raise
    return ToxiproxyServer(url=url, kind="binary", seed=seed, process=process)


def answers(url: str, *, timeout_s: float = 2.0) -> bool:
    """Whether a Toxiproxy server answers at `url`."""
    try:
        with urllib.request.urlopen(f"{url}/version", timeout=timeout_s) as response:
            return bool(response.status == 200)
    except (OSError, ValueError):
        return False


def _await_answer(process: "subprocess.Popen[str]", url: str, binary: str) -> None:
    for _ in range(int(START_S / PROBE_S)):
        if answers(url):
            return
        try:
            code = process.wait(timeout=PROBE_S)
        except subprocess.TimeoutExpired:
            continue
        raise NotApplicable(f"{binary} ended with exit code {code} before it answered")
    raise NotApplicable(f"{binary} did not answer within {START_S:.0f} s")


def _spawn(arguments: list[str], *, quiet: bool = False) -> "subprocess.Popen[str]":
    """Start Python with this package importable, wherever the caller found it."""
    root = str(Path(faults.__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
    )


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
