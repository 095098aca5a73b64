"""What the gateway's bench runs against each other: a stub, a bare pass-through, a light and a full gateway.

`LAYERS` names all that a healthy request can meet: exact token counts by tokenizer and chat template, KV bytes by the
model's shape, ledger and guard with a probe of the backend's process, a second backend, rules, kept answers, a policy
file and a manifest with a condition. `LIGHT` is one backend and every default.
"""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench_servers import ANSWER

TOKEN = "bench"
SERVERS = Path(__file__).with_name("bench_servers.py")
RULES = Path(__file__).parents[2] / "examples" / "rules.toml"
QUESTIONS = 5_000  # different ones: what is remembered of one helps the next no more than it does in use
SYSTEM = "You answer questions about a shop from the passage. Be short."
PASSAGE = (
    "Opened software cannot be refunded. Unopened goods can be returned within 14 days, and the receipt is needed. "
    "The shop pays the postage of faulty goods only."
)

LIGHT = """
[server]
port = 0
admin_token = "{token}"
[[backends]]
name = "primary"
url = "http://127.0.0.1:{port}/v1"
model = "m"
max_concurrent = 256
max_queue = 1024
"""
_BACKEND = """
[[backends]]
name = "{name}"
url = "http://127.0.0.1:{port}/v1"
model = "m"
model_dir = "{model_dir}"
context_tokens = 2048
max_concurrent = 256
max_queue = 1024
[backends.memory]
probe = "process"
pid = {pid}
limit_bytes = 8_000_000_000
kv_capacity_bytes = 4_000_000_000
"""
LAYERS = """
[server]
port = 0
admin_token = "{token}"
[answers]
rules = "{rules}"
[manifests]
path = "manifest.yaml"
"""
PATIENT = """
[limits.default]
connect_s = 60.0
first_token_s = 60.0
idle_s = 60.0
total_s = 60.0
[deadline]
request_s = 120.0
[health]
p99_ms = 600_000.0
cool_down_s = 0.2
dwell_s = 0.1
probe_s = 0.1
"""  # a busy machine must not degrade what is measured, and what was moved on purpose is healthy again soon
POLICY = """
name = "bench"
[paths]
order = ["primary", "secondary", "rules", "cache", "extract", "template", "structured"]
"""
MANIFEST = """
apiVersion: truefall.dev/v1alpha1
kind: DegradationPolicy
metadata: {name: never-here}
spec:
  targetService: "*"
  trafficPercentage: 50
  fallback: template
  conditions: [{metric: p99_latency_ms, threshold: 600000, window: 60s}]
"""


class Target(NamedTuple):
    """A server under load."""

    port: int
    pid: int


def question(number: int, *, ask: str = "be refunded", **fields: Any) -> bytes:
    """The body of one request; all of them take the same number of tokens, as a digit is one each."""
    text = f"{PASSAGE}\n\nCan opened software with the order number {1000 + number} {ask}?"
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    return json.dumps({"model": "truefall", "messages": messages, "max_tokens": 64, **fields}).encode()


@contextmanager
def process(*argv: Any, **options: Any) -> "Iterator[subprocess.Popen[bytes]]":
    started = subprocess.Popen([sys.executable, *map(str, argv)], **options)
    try:
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdout is not None:
            started.stdout.close()


@contextmanager
def stub(folder: Path, model_dir: Path) -> Iterator[Target]:
    """Answers with true token counts by the tokenizer in `model_dir`."""
    from gateway.prompt.tokens import TokenCounter

    counter = TokenCounter.load(model_dir)
    prompts = {counter.count_messages(json.loads(question(number))["messages"]) for number in range(QUESTIONS)}
    assert len(prompts) == 1
    with process(SERVERS, "stub", folder / "stub", prompts.pop(), counter.count_text(ANSWER)) as started:
        yield Target(_port_in(folder / "stub"), started.pid)


@contextmanager
def pass_through(folder: Path, behind: Target) -> Iterator[Target]:
    with process(SERVERS, "proxy", folder / "proxy", f"http://127.0.0.1:{behind.port}") as started:
        yield Target(_port_in(folder / "proxy"), started.pid)


@contextmanager
def light(folder: Path, behind: Target) -> Iterator[Target]:
    """One backend, and every default but those that a busy machine could reach."""
    config, policy = folder / "light.toml", folder / "light-policy.toml"
    config.write_text(LIGHT.format(token=TOKEN, port=behind.port))
    policy.write_text(PATIENT)
    with _gateway(folder / "light.log", "--config", config, "--policy", policy) as target:
        yield target


@contextmanager
def all_layers(folder: Path, behind: Target, model_dir: Path) -> Iterator[Target]:
    config, policy = folder / "layers.toml", folder / "policy.toml"
    backends = [
        _BACKEND.format(name=name, port=behind.port, model_dir=model_dir, pid=behind.pid)
        for name in ("primary", "secondary")
    ]
    config.write_text(LAYERS.format(token=TOKEN, rules=RULES) + "".join(backends))
    policy.write_text(POLICY + PATIENT)
    (folder / "manifest.yaml").write_text(MANIFEST)
    with _gateway(folder / "layers.log", "--config", config, "--policy", policy) as target:
        yield target


@contextmanager
def _gateway(log: Path, *options: Any) -> Iterator[Target]:
    with ExitStack() as stack:
        out = stack.enter_context(log.open("wb"))
        argv = ("-m", "harness.cli", "gateway", *options)
        started = stack.enter_context(process(*argv, stdout=subprocess.PIPE, stderr=out))
        assert started.stdout is not None
        first = started.stdout.readline()
        assert first, log.read_text()
        yield Target(json.loads(first)["port"], started.pid)


def asked(target: Target, body: bytes) -> Any:
    """The degradation record of one answer."""
    return _called(target, "/v1/chat/completions", body)["degradation"]


def state(target: Target) -> Any:
    return _called(target, "/admin/state")


def move(target: Target, to: str) -> None:
    """Open or close the breaker of every backend."""
    for backend in state(target)["backends"]:
        _called(target, "/admin/breaker", json.dumps({"backend": backend, "state": to}).encode())


def healthy_again(target: Target) -> None:
    """Close the breakers, and wait until the gateway answers by the model that is meant."""
    move(target, "closed")
    deadline_s = time.monotonic() + 30
    while asked(target, question(1)) != {"level": "healthy"}:
        assert time.monotonic() < deadline_s, state(target)["level"]
        time.sleep(0.1)


def _manifest(target: Target) -> bool:
    return [one["name"] for one in state(target)["manifests"]["all"]] == ["never-here"]


def _ledger(target: Target) -> bool:
    return all(one["ledger"]["capacity_bytes"] > 0 for one in state(target)["backends"].values())


def _memory(target: Target) -> bool:
    return all((one.get("memory") or {}).get("free_bytes", 0) > 0 for one in state(target)["backends"].values())


def _tokens(target: Target) -> bool:
    """More words in the prompt than the stub counts: a gateway that counts itself sees that some were lost."""
    record = asked(target, question(2, ask="be refunded after all these words that are not in its count"))
    paths = [one["path"] for one in record.get("attempts", ())]
    return record.get("reasons") == ["tokens_mismatch"] and paths == ["primary", "secondary"]


def _kept(target: Target) -> bool:
    asked(target, question(1))
    move(target, "open")
    return asked(target, question(1)).get("path") == "cache"


def _rules(target: Target) -> bool:
    move(target, "open")
    return asked(target, question(1, ask="get me a refund")).get("path") == "rules"


PROOFS = {
    "manifest": _manifest,
    "ledger and shape": _ledger,
    "probe": _memory,
    "token counts": _tokens,
    "kept answers": _kept,
    "rules": _rules,
}


def lacking(target: Target) -> list[str]:
    """The layers of which this gateway gives no proof; it is healthy again afterwards."""
    missing = []
    for name, proof in PROOFS.items():
        try:
            shown = proof(target)
        except (KeyError, TypeError, urllib.error.HTTPError):
            shown = False
        if not shown:
            missing.append(name)
        healthy_again(target)
    return missing


def not_healthy(target: Target) -> float:
    """Answers so far that were anything but healthy."""
    return _count(target, lambda line: line.startswith("truefall_requests_total{") and '"healthy"' not in line)


def passed_over(target: Target) -> float:
    """Answers so far that the gateway had no time to keep: above 0 it has spent what was saved up at its start."""
    return _count(target, lambda line: line.startswith("truefall_cache_passed_over_total"))


def _count(target: Target, wanted: Callable[[str], bool]) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{target.port}/metrics") as response:
        lines = response.read().decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if wanted(line))


def _called(target: Target, path: str, body: bytes | None = None) -> Any:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{target.port}{path}", body, headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def _port_in(file: Path) -> int:
    while not (file.exists() and file.read_text()):
        time.sleep(0.02)
    return int(file.read_text())
