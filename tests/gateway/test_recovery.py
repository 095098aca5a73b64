"""A fault that comes and goes leaves no level behind, whatever the policy says about health, breaker and paths."""

import asyncio
from contextlib import AsyncExitStack
from itertools import cycle

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, completion, running

from gateway.backends.cascade import with_first
from gateway.clock import SystemClock

CLOCK = SystemClock()
GOOD = answers(completion("Paris is the capital of France."))
FAILS = answers({"error": "broken"}, 500)
OUT_OF_MEMORY = answers({"error": {"message": "CUDA out of memory"}}, 500)
OPEN_S = 0.02
HEALTH = (
    {"cool_down_s": 0.02, "dwell_s": 0.0, "escalate_s": 1.0},
    {"cool_down_s": 0.05, "dwell_s": 0.05, "escalate_s": 0.0, "probe_s": 0.02, "recover_share": 0.5},
)
BREAKERS = (
    {"consecutive_failures": 1},
    {"consecutive_failures": 2, "half_open_successes": 3, "half_open_probes": 1},
    {"consecutive_failures": 3, "timeout_share": 0.0, "min_calls": 1, "half_open_probes": 4},
)
PATHS = (
    {},
    {"small_first": ["primary"]},
    {"order": ["secondary", "primary", "template"], "small_first": ["secondary"]},
    {"order": ["primary", "secondary", "structured"], "at_critical": "refuse"},
    {"order": ["secondary", "template"]},  # nobody comes to the primary but who asks for it by name
)


async def until_healthy(served, **fields):
    """With traffic that goes on: nothing but the fault itself may keep the level."""
    async with asyncio.timeout(20):
        while served.runtime.health.level != "healthy":
            await served.chat(**fields)
            await CLOCK.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize("probes", [True, False], ids=["probed", "by requests"])
@pytest.mark.parametrize("fault", [FAILS, OUT_OF_MEMORY], ids=["fails", "memory"])
@pytest.mark.parametrize("paths", PATHS, ids=["usual", "large first", "small only", "refuses", "by name only"])
async def test_the_level_returns_once_the_fault_has_gone(probes, fault, paths):
    async with running(GOOD) as first, running(GOOD) as second:
        for health, breaker in zip(cycle(HEALTH), BREAKERS, strict=False):
            policy = policy_of(
                health={"window_s": 0.2, "p99_ms": 1e6, **health},
                breaker={"open_s": OPEN_S, "background_probes": probes, **breaker},
                paths=paths,
            )
            backends = backend(first, "primary"), backend(second, "secondary")
            async with gateway(*backends, policy=policy, tick_s=0.01) as served:
                for broken in ((first,), (second,), (first, second)):
                    for upstream in broken:
                        upstream.script = fault
                    async with asyncio.timeout(20):
                        while served.runtime.health.level == "healthy":
                            for name in ("primary", "secondary"):
                                await served.chat(model=name)
                            await CLOCK.sleep(0.005)
                    for upstream in broken:
                        upstream.script = GOOD
                    await until_healthy(served)


@pytest.mark.slow
async def test_a_request_probes_what_nobody_else_probes_and_only_once_while_it_fails():
    policy = policy_of(
        health={"cool_down_s": 0.0, "dwell_s": 0.0}, breaker={"background_probes": False, "consecutive_failures": 1}
    )
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(running(FAILS))
        second = await stack.enter_async_context(running(GOOD))
        backends = backend(first, "primary"), backend(second, "secondary")
        async with gateway(*backends, policy=policy) as served:
            assert (await served.chat()).record["path"] == "secondary"
            async with asyncio.timeout(20):
                while served.runtime.health.level == "healthy":
                    await CLOCK.sleep(0.005)
            served.runtime.backends["primary"].breaker.hurry()
            probed = await served.chat()
            assert [one["path"] for one in probed.record["attempts"]] == ["primary", "secondary"]
            assert probed.record["path"] == "secondary"
            spared = await served.chat()
            assert [one["path"] for one in spared.record["attempts"]] == ["secondary"]
            first.script = GOOD
            served.runtime.backends["primary"].breaker.hurry()
            assert (await served.chat()).json["model"] == "primary-model"
            assert served.runtime.backends["primary"].breaker.state == "closed"


@pytest.mark.slow
async def test_the_level_returns_without_traffic_too_where_only_requests_may_probe():
    policy = policy_of(
        health={"cool_down_s": 0.02, "dwell_s": 0.0},
        breaker={"background_probes": False, "consecutive_failures": 1, "open_s": OPEN_S},
    )
    async with running(FAILS) as first, gateway(backend(first, "primary"), policy=policy, tick_s=0.005) as served:
        await served.chat()
        log = served.runtime.log
        async with asyncio.timeout(20):
            while log.flush() or "degraded to healthy" not in log._out.getvalue():
                await CLOCK.sleep(0.005)


def test_only_backends_change_their_places():
    paths = ("rules", "a", "b", "c", "template")
    assert with_first(paths, ("a", "b", "c"), ["c", "b"]) == ("rules", "c", "b", "a", "template")
    assert with_first(paths, ("a", "b", "c"), []) == paths
