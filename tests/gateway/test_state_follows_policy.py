"""After a hot reload nothing stays as the policy before had it."""

from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from served import backend, gateway, policy_of
from upstream_stub import running, says

from gateway.drift import Row

pytestmark = pytest.mark.slow
ORDER = ["primary", "cache", "template"]
QUESTIONS = [f"What is the capital of country number {number}?" for number in range(6)]


@asynccontextmanager
async def serving(script, policy, file):
    async with AsyncExitStack() as stack:
        up = await stack.enter_async_context(running(script))
        one = gateway(backend(up, "primary"), policy=policy, policy_path=file, watch_policy=False)
        yield await stack.enter_async_context(one)


async def reload(served, file, text):
    file.write_text(text)
    assert (await served.admin("POST", "policy/reload")).status == 200


async def test_a_smaller_cache_is_smaller_at_once_and_none_is_kept_without_the_path(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('name = "known"\n')
    policy = policy_of(paths={"order": ORDER}, cache={"keep_share": 1.0})
    async with serving(says("It is Paris."), policy, file) as served:
        cache = served.runtime.pipeline.unaided.kept.cache
        for question in QUESTIONS:
            await served.chat(question)
        assert len(cache) == len(QUESTIONS)
        await reload(served, file, f"[paths]\norder = {ORDER}\n[cache]\nmax_entries = 2\n")
        assert len(cache) == 2
        await reload(served, file, '[paths]\norder = ["primary", "template"]\n')
        assert (len(cache), cache.held_bytes) == (0, 0)


async def test_drift_switched_off_leaves_no_alert_in_state_and_metrics(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text('name = "known"\n')
    policy = policy_of(drift={"features": ["latency_ms"], "window_samples": 50, "stride_samples": 10})
    async with serving(says("Yes."), policy, file) as served:
        for took_ms in [float(number % 10) for number in range(50)] + [1000.0] * 200:
            served.runtime.drift.observe({"latency_ms": took_ms}, Row(took_ms / 1000, ()))
        assert served.runtime.drift.alerts() == ("latency_ms",)
        assert await alerts_of(served) == [1.0]
        await reload(served, file, 'name = "off"\n')
        assert (await served.admin("GET", "state")).json["drift"] == {"features": {}, "causes": []}
        assert await alerts_of(served) == []


async def alerts_of(served):
    """What the metrics say of each feature's alert."""
    text = (await served.request("GET", "/metrics", Accept="application/openmetrics-text; version=1.0.0")).body.decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return [sample.value for sample in families["truefall_drift_alert"].samples]
