"""Manifests force paths for their share of the traffic, are reloaded while the gateway runs, and say so."""

import os
from pathlib import Path

import pytest
from served import Gateway, backend, gateway, policy_of
from upstream_stub import answers, running, says

from gateway.clock import SystemClock
from gateway.config import Manifests
from gateway.errors import ConfigError
from gateway.health import HealthState
from gateway.policies.folder import load
from gateway.runtime import Runtime

GOOD = "Paris is the capital of France."
CLOCK = SystemClock()
ORDER = {"paths": {"order": ["primary", "secondary", "template", "structured"]}}


def text(name: str, *, conditions: str = "[]", **spec: object) -> str:
    fields = {"targetService": "truefall", "fallback": "template", **spec}
    lines = "".join(f"  {key}: {value}\n" for key, value in fields.items())
    head = f"apiVersion: truefall.dev/v1alpha1\nkind: DegradationPolicy\nmetadata: {{name: {name}}}\n"
    return f"{head}spec:\n{lines}  conditions: {conditions}\n"


def swap_configmap(folder: Path, content: dict[str, str], revision: str) -> None:
    """As the kubelet does: a new folder, and one rename of the link to it."""
    (folder / f"..{revision}").mkdir(parents=True)
    for name, body in content.items():
        (folder / f"..{revision}" / name).write_text(body)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")
    (folder / "..data_tmp").symlink_to(f"..{revision}")
    os.replace(folder / "..data_tmp", folder / "..data")


async def until(condition, *, runtime: Runtime, within_s: float = 3.0) -> float:
    """Wait for it; returns how long it took."""
    began_s = CLOCK.now_s()
    while not condition(runtime):
        assert CLOCK.now_s() - began_s < within_s, runtime.manifests
        await CLOCK.sleep(0.005)
    return CLOCK.now_s() - began_s


async def state_of(served: Gateway):
    return (await served.admin("GET", "state")).json["manifests"]


async def test_a_manifest_forces_its_fallback_and_the_record_names_it(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(text("all-small", fallback="secondary"))
    async with running(says(GOOD)) as big, running(says(GOOD)) as small:
        both = (backend(big, "primary"), backend(small, "secondary"))
        async with gateway(*both, policy=policy_of(**ORDER), manifests=Manifests(path=file)) as served:
            answer = await served.chat()
            assert answer.record["path"] == "secondary"
            assert (answer.record["reasons"], answer.record["policy"]) == (["policy"], "all-small")
            assert big.seen == []
            streamed = await served.chat(stream=True)
            assert streamed.streamed_record["policy"] == "all-small"
            elsewhere = await served.post(
                "/v1/chat/completions",
                b'{"messages": [{"role": "user", "content": "hello"}]}',
                **{"X-Truefall-Service": "bank"},
            )
            assert elsewhere.record == {"level": "healthy"}


async def test_a_global_break_refuses_and_goes_before_the_rest(tmp_path):
    (tmp_path / "a.yaml").write_text(text("small", fallback="secondary"))
    (tmp_path / "b.yaml").write_text(text("break", targetService="'*'", fallback="refused"))
    async with running(says(GOOD)) as up:
        both = (backend(up, "primary"), backend(up, "secondary"))
        async with gateway(*both, policy=policy_of(**ORDER), manifests=Manifests(path=tmp_path)) as served:
            answer = await served.chat()
            assert (answer.status, answer.record["path"]) == (429, "refused")
            assert (answer.record["reasons"], answer.record["policy"]) == (["policy"], "break")
            assert int(answer.headers["Retry-After"]) >= 1
            assert up.seen == []


async def test_a_share_sticks_to_the_user(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(text("half", trafficPercentage=50))
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), manifests=Manifests(path=file)) as served:
        first = [(await served.chat(user=f"user-{k}")).record["level"] for k in range(40)]
        again = [(await served.chat("Other words?", user=f"user-{k}")).record["level"] for k in range(40)]
        assert first == again
        assert 8 < first.count("healthy") < 32


@pytest.mark.slow
async def test_a_condition_over_live_traffic_begins_and_ends_by_itself(tmp_path):
    file = tmp_path / "policy.yaml"
    conditions = "[{metric: error_rate, threshold: 0.5, window: 1s, minSamples: 3}]"
    file.write_text(text("failing", conditions=conditions))
    policy = policy_of(breaker={"consecutive_failures": 1000}, health={"cool_down_s": 0.0, "dwell_s": 0.0})
    async with (
        running(answers({}, 500)) as up,
        gateway(backend(up, "primary"), policy=policy, manifests=Manifests(path=file)) as served,
    ):
        for _ in range(3):
            assert "policy" not in (await served.chat()).record
        await until(lambda one: one.manifests.active, runtime=served.runtime)
        seen = len(up.seen)
        assert (await served.chat()).record["policy"] == "failing"
        assert len(up.seen) == seen
        assert (await state_of(served))["all"][0]["active"]
        up.script = says(GOOD)
        await until(lambda one: not one.manifests.active, runtime=served.runtime)
        served.runtime.health = HealthState()
        assert (await served.chat()).record == {"level": "healthy"}


@pytest.mark.slow
async def test_a_configmap_swap_is_taken_within_the_promised_time_and_a_bad_one_is_refused(tmp_path):
    folder = tmp_path / "mounted"
    swap_configmap(folder, {"one.yaml": text("one")}, "r1")
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), manifests=Manifests(path=folder)) as served:
        assert (await served.chat()).record["policy"] == "one"
        swap_configmap(folder, {"one.yaml": text("two", trafficPercentage=0)}, "r2")
        took_s = await until(lambda one: one.manifests.current.version == 2, runtime=served.runtime)
        assert took_s < 0.8
        assert (await served.chat()).record == {"level": "healthy"}
        swap_configmap(folder, {"one.yaml": text("three", trafficPercentage=1500)}, "r3")
        await until(lambda one: one.manifests.refused, runtime=served.runtime)
        state = await state_of(served)
        assert "one.yaml:7: Expected `float` <= 100.0 - at spec.trafficPercentage = 1500" in state["refused"]
        assert [one["name"] for one in state["all"]] == ["two"]
        swap_configmap(folder, {"one.yaml": text("four")}, "r4")
        await until(lambda one: one.manifests.current.version == 3, runtime=served.runtime)
        assert (await state_of(served))["refused"] is None


@pytest.mark.slow
async def test_a_policy_that_leaves_a_manifest_without_its_fallback_is_refused(tmp_path):
    toml, file = tmp_path / "policy.toml", tmp_path / "m.yaml"
    toml.write_text('[paths]\norder = ["primary", "template"]\n')
    file.write_text(text("one"))
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy_path=toml, manifests=Manifests(path=file)) as served,
    ):
        toml.write_text('[paths]\norder = ["primary", "structured"]\n')
        refusal = await served.admin("POST", "policy/reload")
        assert refusal.status == 422
        assert "'one': spec.fallback = 'template' is not a path" in refusal.json["error"]["message"]
        assert served.runtime.policies.current.paths.order != ("primary", "structured")


@pytest.mark.parametrize("left", ["", " \n"])
async def test_an_emptied_file_leaves_the_manifests_in_force_and_one_that_says_so_ends_them(tmp_path, left):
    file = tmp_path / "m.yaml"
    file.write_text(text("one"))
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), manifests=Manifests(path=file)) as served:
        file.write_text(left)
        await until(lambda one: one.manifests.refused, runtime=served.runtime, within_s=20.0)
        state = await state_of(served)
        assert "m.yaml: is empty, as a file is whose writing failed; `# no manifests` is enough" in state["refused"]
        assert [one["name"] for one in state["all"]] == ["one"]
        file.write_text("# no manifests\n")
        await until(lambda one: one.manifests.current.version == 2, runtime=served.runtime, within_s=20.0)
        assert (await state_of(served))["all"] == []


async def test_manifests_that_change_while_the_gateway_starts_are_taken(tmp_path, monkeypatch):
    file = tmp_path / "m.yaml"
    file.write_text(text("old"))

    def read_and_then_changed(path):
        loaded = load(path)
        file.write_text(text("new"))
        return loaded

    monkeypatch.setattr("gateway.wiring.load_manifests", read_and_then_changed)
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), manifests=Manifests(path=file)) as served:
        await until(lambda one: one.manifests.current.version == 2, runtime=served.runtime, within_s=20.0)
        assert [one["name"] for one in (await state_of(served))["all"]] == ["new"]


async def test_a_gateway_does_not_start_with_manifests_that_contradict_each_other(tmp_path):
    (tmp_path / "a.yaml").write_text(text("one"))
    (tmp_path / "b.yaml").write_text(text("other", fallback="structured"))
    with pytest.raises(ConfigError, match=r"'one' and 'other' contradict each other"):
        async with gateway(backend(1, "primary"), manifests=Manifests(path=tmp_path)):
            pass
