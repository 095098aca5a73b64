"""The gateway's own share of a request, paired in one run with going direct and with a bare pass-through proxy.

TRUEFALL_BENCH_S sets the seconds per cell (default 1.0), TRUEFALL_BENCH_ROUNDS the interleaved rounds (default 3).
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import uvloop
from load import Load, load, rss_mib

SECONDS = float(os.environ.get("TRUEFALL_BENCH_S", "1.0"))
ROUNDS = int(os.environ.get("TRUEFALL_BENCH_ROUNDS", "3"))
CONNECTIONS = (1, 16, 64)
TOKEN = "bench"
MOST_CPU = 4.0  # of the pass-through's CPU per request: unlike req/s, it hardly depends on who else uses the machine
pytestmark = pytest.mark.slow
MESSAGES = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
BODIES = {
    "json": json.dumps({"model": "truefall", "messages": MESSAGES, "max_tokens": 64}).encode(),
    "sse": json.dumps({"model": "truefall", "messages": MESSAGES, "max_tokens": 64, "stream": True}).encode(),
}
CONFIG = """
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


@contextmanager
def process(*argv, **options):
    started = subprocess.Popen([sys.executable, *map(str, argv)], **options)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def port_in(file):
    while not (file.exists() and file.read_text()):
        time.sleep(0.02)
    return int(file.read_text())


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """(port, pid) of each."""
    folder = tmp_path_factory.mktemp("bench")
    servers = Path(__file__).with_name("bench_servers.py")
    with ExitStack() as stack:
        stub = stack.enter_context(process(servers, "stub", folder / "stub"))
        stub_port = port_in(folder / "stub")
        url = f"http://127.0.0.1:{stub_port}"
        proxy = stack.enter_context(process(servers, "proxy", folder / "proxy", url))
        (folder / "gateway.toml").write_text(CONFIG.format(token=TOKEN, port=stub_port))
        log = stack.enter_context((folder / "log").open("wb"))
        argv = ("-m", "harness.cli", "gateway", "--config", folder / "gateway.toml")
        gateway = stack.enter_context(process(*argv, stdout=subprocess.PIPE, stderr=log))
        stack.enter_context(gateway.stdout)
        port = json.loads(gateway.stdout.readline())["port"]
        yield {
            "direct": (stub_port, stub.pid),
            "pass-through": (port_in(folder / "proxy"), proxy.pid),
            "gateway": (port, gateway.pid),
        }


def measured(target, body, connections):
    port, pid = target
    return uvloop.run(load(port, pid, body, connections=connections, seconds=SECONDS))


def middle(loads: list[Load], figure):
    return median(figure(one) for one in loads)


@pytest.mark.parametrize("mode", BODIES)
def test_the_gateways_own_share(targets, mode):
    for name in targets:
        uvloop.run(load(*targets[name], BODIES[mode], connections=16, seconds=0.3))  # warm
    print(f"\n{mode}: req/s, P50 and P99 in ms, CPU ms per request; {ROUNDS} interleaved rounds of {SECONDS:g} s")
    for connections in CONNECTIONS:
        rounds = {name: [] for name in targets}
        for _ in range(ROUNDS):
            for name, target in targets.items():
                rounds[name].append(measured(target, BODIES[mode], connections))
        for name, loads in rounds.items():
            print(
                f"  {connections:3d} {name:13s} {middle(loads, lambda one: one.per_s):8.0f} req/s"
                f"  P50 {middle(loads, lambda one: one.quantile_ms(0.5)):7.2f}"
                f"  P99 {middle(loads, lambda one: one.quantile_ms(0.99)):7.2f}"
                f"  CPU {middle(loads, lambda one: one.cpu_ms):6.3f}"
            )
        pairs = list(zip(rounds["gateway"], rounds["pass-through"], strict=True))
        share = median(ours.per_s / bare.per_s for ours, bare in pairs)
        added = [median(ours.quantile_ms(at) - bare.quantile_ms(at) for ours, bare in pairs) for at in (0.5, 0.99)]
        cpu = median(ours.cpu_ms / bare.cpu_ms for ours, bare in pairs)
        print(
            f"      gateway to pass-through: {share:.2f} of its req/s, {cpu:.2f} of its CPU per request,"
            f" P50 {added[0]:+.2f} ms, P99 {added[1]:+.2f} ms"
        )
        assert cpu < MOST_CPU
    memory = ", ".join(f"{name} {rss_mib(pid):.0f}" for name, (_, pid) in targets.items())
    print(f"  memory in MiB: {memory}")


def test_an_open_breaker_leads_to_a_static_answer_at_once(targets):
    port, pid = targets["gateway"]
    move(port, "open")
    try:
        alone = measured((port, pid), BODIES["json"], 1)
        many = measured((port, pid), BODIES["json"], 16)
    finally:
        move(port, "closed")
    for name, one in (("1", alone), ("16", many)):
        print(
            f"\nbreaker open, static answer at {name} connections: P50 {one.quantile_ms(0.5):.2f} ms,"
            f" P99 {one.quantile_ms(0.99):.2f} ms, {one.per_s:.0f} req/s"
        )
    assert alone.quantile_ms(0.5) < 50


def move(port, state):
    body = json.dumps({"backend": "primary", "state": state}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/admin/breaker", body, {"Authorization": f"Bearer {TOKEN}"}, method="POST"
    )
    urllib.request.urlopen(request).close()
