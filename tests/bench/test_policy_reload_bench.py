"""How soon a changed policy, threshold or manifest is in force, from the rename of the file, with a gateway at work."""

import asyncio
import os
import statistics
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "gateway"))

from served import backend, gateway
from test_manifests_in_the_gateway import swap_configmap, text
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.config import Manifests

pytestmark = pytest.mark.slow
CLOCK = SystemClock()
ROUNDS = 30
THRESHOLDS_S, CACHE_POLICY_S = 0.2, 0.8  # the most that each may take


async def time_until(condition):
    began_s = CLOCK.now_s()
    while not condition():
        assert CLOCK.now_s() - began_s < 5
        await CLOCK.sleep(0.001)
    return CLOCK.now_s() - began_s


def policy_text(failures, age_s):
    return f"[breaker]\nconsecutive_failures = {failures}\n[cache]\nmax_age_s = {age_s}\n"


def replace(file, content):
    beside = file.with_suffix(".new")
    beside.write_text(content)
    os.replace(beside, file)


def judged(name, times_s, bound_s):
    """The figures in words, which hold while even the worst is within its bound."""
    ranked = sorted(times_s)
    worst_s, median_s = ranked[-1], statistics.median(ranked)
    figures = f"median {median_s * 1000:.0f} ms, worst of {len(ranked)} {worst_s * 1000:.0f} ms"
    return f"{name}: {figures} (at most {bound_s:g} s)", worst_s < bound_s


async def busy(served):
    while True:
        await served.chat()


async def test_thresholds_cache_policy_and_manifests_are_in_force_in_time(tmp_path, tell):
    toml, folder = tmp_path / "policy.toml", tmp_path / "mounted"
    toml.write_text(policy_text(3, 60))
    swap_configmap(folder, {"m.yaml": text("one", trafficPercentage=1, targetService="other")}, "r0")
    async with (
        running(says("Paris is the capital.")) as up,
        gateway(backend(up, "primary"), policy_path=toml, manifests=Manifests(path=folder)) as served,
    ):
        load = [asyncio.create_task(busy(served)) for _ in range(4)]
        policies, manifests = served.runtime.policies, served.runtime.manifests
        thresholds_s, cache_s, manifests_s = [], [], []
        for number in range(1, ROUNDS + 1):
            replace(toml, policy_text(3 + number, 60))
            thresholds_s.append(
                await time_until(lambda n=number: policies.current.breaker.consecutive_failures == 3 + n)
            )
            replace(toml, policy_text(3 + number, 60 + number))
            cache_s.append(await time_until(lambda n=number: policies.current.cache.max_age_s == 60 + n))
            swap_configmap(
                folder, {"m.yaml": text("one", trafficPercentage=1 + number, targetService="other")}, f"r{number}"
            )
            manifests_s.append(await time_until(lambda n=number: manifests.current.version == 1 + n))
        for task in load:
            task.cancel()
        await asyncio.gather(*load, return_exceptions=True)
    rows = [
        judged("breaker thresholds", thresholds_s, THRESHOLDS_S),
        judged("cache policy", cache_s, CACHE_POLICY_S),
        judged("manifests by ConfigMap swap", manifests_s, CACHE_POLICY_S),
    ]
    for line, _ in rows:
        tell(line)
    assert all(in_time for _, in_time in rows)
