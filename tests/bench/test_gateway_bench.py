"""The gateway's own share of a request, paired in one run with going direct and with a bare pass-through proxy.

Twice: with all four layers on, and light (one backend, every default). Nothing is asserted on a clock, only ratios
within one run. TRUEFALL_BENCH_S sets the seconds per cell (default 1.0), TRUEFALL_BENCH_ROUNDS the interleaved rounds
(default 3).
"""

import json
import os
import sys
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import uvloop
from bench_gateways import (
    PROOFS,
    QUESTIONS,
    all_layers,
    asked,
    healthy_again,
    lacking,
    light,
    move,
    not_healthy,
    pass_through,
    passed_over,
    question,
    stub,
)
from load import Load, load, rss_mib

from harness.models import prepare

pytestmark = [pytest.mark.slow, pytest.mark.models]

SECONDS = float(os.environ.get("TRUEFALL_BENCH_S", "1.0"))
ROUNDS = int(os.environ.get("TRUEFALL_BENCH_ROUNDS", "3"))
CONNECTIONS = (1, 16, 64)
MOST_SETTLING = 20
WARM_S = (
    0.2  # before each measured load, as what came while others were measured (time for keeping answers) is not usual
)
GATEWAYS = ("gateway, light", "gateway")
SHORT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "May I bring my dog?"}]}).encode()
FIELDS = {"json": {}, "sse": {"stream": True}}
MOST_CPU = {"gateway, light": 2.0, "gateway": 4.0}  # of the pass-through's CPU per request: unlike req/s, it hardly
# depends on who else uses the machine
MOST_OF_HEALTHY = 2.0  # CPU of an answer with the breakers open, in that of a healthy one; 0.5 to 1.4 were seen


@pytest.fixture(scope="module")
def model_dir():
    """A real tokenizer, chat template and config."""
    return prepare(["smollm2-135m-instruct"])[0].path


@pytest.fixture(scope="module")
def targets(tmp_path_factory, model_dir):
    folder = tmp_path_factory.mktemp("bench")
    with ExitStack() as stack:
        behind = stack.enter_context(stub(folder, model_dir))
        full = stack.enter_context(all_layers(folder, behind, model_dir))
        assert lacking(full) == []  # it is this very gateway that is measured
        yield {
            "direct": behind,
            "pass-through": stack.enter_context(pass_through(folder, behind)),
            "gateway, light": stack.enter_context(light(folder, behind)),
            "gateway": full,
        }


@pytest.fixture
def layered(tmp_path, model_dir):
    """A gateway of its own, all layers on, whose breakers may be moved."""
    with stub(tmp_path, model_dir) as behind, all_layers(tmp_path, behind, model_dir) as target:
        yield target


def measured(target, bodies, connections, seconds=SECONDS):
    """`bodies` is left so that the next load goes on where this one ended."""
    one = uvloop.run(load(target.port, target.pid, bodies, connections=connections, seconds=seconds))
    if isinstance(bodies, deque):
        bodies.rotate(-len(one.latencies_s))
    return one


def settle(target, bodies):
    """Until what was saved up for keeping answers is spent, as it soon is under load; on a slow machine it never is."""
    for _ in range(MOST_SETTLING):
        if passed_over(target) > 0:
            break
        measured(target, bodies, 16, seconds=0.5)


def middle(loads: list[Load], figure):
    return median(figure(one) for one in loads)


def added_ms(ours, other, share):
    """Median over the rounds, each compared with its own neighbour."""
    return median(a.quantile_ms(share) - b.quantile_ms(share) for a, b in zip(ours, other, strict=True))


def row(name, connections, rounds):
    loads = rounds[name]
    line = (
        f"{connections:3d} {name:15s} {middle(loads, lambda one: one.per_s):7.0f} req/s"
        f"  P50 {middle(loads, lambda one: one.quantile_ms(0.5)):7.2f} ms"
        f"  P99 {middle(loads, lambda one: one.quantile_ms(0.99)):7.2f} ms"
        f"  CPU {middle(loads, lambda one: one.cpu_ms):6.3f} ms"
    )
    for other in ("direct", "pass-through"):
        if name not in (other, "direct"):
            p50, p99 = (added_ms(loads, rounds[other], share) for share in (0.5, 0.99))
            line += f"  | to {other}: {p50:+.2f}, {p99:+.2f} ms"
    return line


def ratios(ours, bare):
    """(requests per second, CPU per request), each as a share of the pass-through's."""
    pairs = list(zip(ours, bare, strict=True))
    return median(a.per_s / b.per_s for a, b in pairs), median(a.cpu_ms / b.cpu_ms for a, b in pairs)


@pytest.mark.parametrize("mode", FIELDS)
def test_the_gateways_own_share(targets, tell, mode):
    bodies = {name: deque(question(number, **FIELDS[mode]) for number in range(QUESTIONS)) for name in targets}
    before = {name: not_healthy(targets[name]) for name in GATEWAYS}
    for name, target in targets.items():
        measured(target, bodies[name], 16, seconds=0.3)  # warm
    settle(targets["gateway"], bodies["gateway"])
    tell(f"{mode}: median of {ROUNDS} interleaved rounds of {SECONDS:g} s; added at P50 and P99")
    over = []
    for connections in CONNECTIONS:
        rounds = {name: [] for name in targets}
        for _ in range(ROUNDS):
            for name, target in targets.items():
                measured(target, bodies[name], 16, seconds=WARM_S)
                rounds[name].append(measured(target, bodies[name], connections))
        for name in targets:
            tell(row(name, connections, rounds))
        for name in GATEWAYS:
            per_s, cpu = ratios(rounds[name], rounds["pass-through"])
            tell(f"    {name} to pass-through: {per_s:.2f} of its req/s, {cpu:.2f} of its CPU per request")
            if cpu >= MOST_CPU[name]:
                over.append(f"{name} at {connections}: {cpu:.2f} of the pass-through's CPU, below {MOST_CPU[name]}")
    tell("memory in MiB: " + ", ".join(f"{name} {rss_mib(target.pid):.0f}" for name, target in targets.items()))
    assert over == []
    assert {name: not_healthy(targets[name]) for name in GATEWAYS} == before  # what was measured


def test_a_gateway_without_the_layers_gives_no_proof_of_any(tmp_path, model_dir):
    """The fixture `targets` asks the one that is measured for the same proofs."""
    with stub(tmp_path, model_dir) as behind, light(tmp_path, behind) as target:
        assert lacking(target) == list(PROOFS)


def test_an_open_breaker_leads_to_an_answer_at_once(layered, tell):
    """Held against a healthy answer of the same gateway, in turns, and by CPU: time depends on who else is there."""
    kept = [question(number, ask="be gift-wrapped") for number in range(50)]
    for body in kept:
        asked(layered, body)
    kinds = {"kept answer": kept, "prepared answer": [question(1, ask="be gift-wrapped today")]}
    assert too_dear(layered, kept, kinds, tell) == []


def test_an_open_breaker_of_a_light_gateway_leads_to_a_static_answer_at_once(tmp_path, model_dir, tell):
    with stub(tmp_path, model_dir) as behind, light(tmp_path, behind) as target:
        assert too_dear(target, [SHORT], {"static answer, light": [SHORT]}, tell) == []


def too_dear(target, usual, kinds, tell):
    """Which answers with all breakers open cost too much of a healthy answer (to `usual`); `kinds`: bodies by name."""
    over = []
    for name, bodies in kinds.items():
        shares = []
        for _ in range(ROUNDS):
            healthy_again(target)
            healthy = measured(target, usual, 16)
            move(target, "open")
            path = asked(target, bodies[0])["path"]
            alone, many = measured(target, bodies, 1), measured(target, bodies, 16)
            shares.append(many.cpu_ms / healthy.cpu_ms)
        for connections, one in ((1, alone), (16, many)):
            tell(
                f"breaker open, {name} ({path}) at {connections} connections: P50 {one.quantile_ms(0.5):.2f} ms, "
                f"P99 {one.quantile_ms(0.99):.2f} ms, {one.per_s:.0f} req/s, CPU {one.cpu_ms:.3f} ms"
            )
        tell(f"    {median(shares):.2f} of a healthy answer's CPU")
        if median(shares) >= MOST_OF_HEALTHY:
            over.append(f"{name}: {median(shares):.2f} of a healthy answer's CPU, below {MOST_OF_HEALTHY}")
    return over
