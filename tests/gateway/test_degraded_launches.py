"""The watchdog's other launches with the real engine: FlashAttention fails, SDPA on 8-bit weights answers."""

import hashlib
import sys
from pathlib import Path

import pytest
from served import backend, gateway, policy_of
from test_keeper import free_port, until

from gateway.config import load_config
from gateway.watchdog.config import Launch, WatchdogConfig
from harness.models.tiny import build_tiny_model, saying_letters
from harness.stack.backend import engine_env

EXAMPLE = Path(__file__).parents[2] / "examples" / "degraded-launches.toml"


def serve(port: int, *options: str, int8: bool = False) -> tuple[str, ...]:
    engine = (sys.executable, "-m", "harness.stack.transformers_engine", *(["--int8"] if int8 else []))
    place = ("--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32")
    return (*engine, "serve", "{weights_name}", *place, *options)


@pytest.fixture
def weights(tmp_path):
    pytest.importorskip("torch")
    sizes = {"max_position_embeddings": 4096, "tie_word_embeddings": False}
    folder = saying_letters(build_tiny_model(tmp_path / "tiny", architecture="llama", **sizes))
    file = folder / "model.safetensors"
    (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n")
    return folder


@pytest.mark.models
@pytest.mark.slow
async def test_where_flash_attention_fails_the_real_engine_is_started_with_sdpa_and_8_bit_weights(weights, tmp_path):
    port = free_port()
    low = Launch(name="4-bit", after="memory", command=serve(port, "--quantization", "bnb-4bit"))
    sdpa = Launch(name="sdpa", after="kernel", command=serve(port, "--attn-implementation", "sdpa", int8=True))
    watchdog = WatchdogConfig(
        command=serve(port, "--attn-implementation", "flash_attention_2"),
        environment=engine_env(),
        weights=(weights,),
        degraded=(low, sdpa),
        log_file=tmp_path / "engine.log",
        start_timeout_s=600.0,
        back_off_s=0.1,
    )
    patient = {"default": {"connect_s": 60.0, "first_token_s": 120.0, "idle_s": 120.0, "total_s": 120.0}}
    policy = policy_of(limits=patient, deadline={"request_s": 240.0}, grounding={"apply": "never"})
    primary = backend(port, "primary", model=weights.name, engine="transformers", watchdog=watchdog)
    async with gateway(primary, policy=policy) as served:
        keeper = served.runtime.backends["primary"].keeper
        assert (await served.chat()).record["attempts"][0]["reason"] == "restarting"
        await until(lambda: keeper.up, limit_s=1200)
        assert (keeper.launch.name, keeper.watch.starts) == ("sdpa", 2)
        assert "FlashAttention2 has been toggled on" in watchdog.log_file.read_text()
        served.runtime.log.flush()
        assert "cause kernel" in served.runtime.log._out.getvalue()
        running = Path(f"/proc/{keeper.state()['pid']}/cmdline").read_bytes().split(b"\0")
        assert {b"--int8", b"sdpa", b"tiny"} <= set(running)
        answer = await served.chat(max_tokens=4)
        assert (answer.record["level"], answer.record["path"]) == ("degraded", "primary"), answer.record
        assert answer.record["reasons"] == ["degraded_launch"]
        assert answer.record["model_served"] == "tiny"
        assert "reduced configuration" in answer.record["notice"]
        assert answer.text.isalpha()
        metrics = (await served.request("GET", "/metrics")).body.decode()
        assert 'truefall_watchdog_degraded_launch{backend="primary"} 1.0' in metrics


def test_the_example_has_a_launch_for_each_thing_that_can_run_out(tmp_path):
    (tmp_path / "gateway.toml").write_text(EXAMPLE.read_text("utf-8"))
    (watched,) = load_config(tmp_path / "gateway.toml").backends
    by_cause = {launch.after: launch for launch in watched.watchdog.degraded}
    assert by_cause["kernel"].command[-2:] == ("--attn-implementation", "sdpa")
    assert by_cause["memory"].command[-2:] == ("--quantization", "bnb-4bit")
    usual = watched.watchdog.command
    assert all(launch.command[: len(usual)] == usual for launch in watched.watchdog.degraded)
