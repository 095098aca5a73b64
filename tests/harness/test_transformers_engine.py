"""The serving engine's two additions: failures of streams in its log, and the light replica with 8-bit weights."""

from pathlib import Path

import pytest

from gateway.memory import KvShape, kv_bytes
from harness.errors import ConfigError
from harness.models.spec import ModelSpec
from harness.models.tiny import build_tiny_model
from harness.stack.backend import activation_dtype, engine_argv
from harness.stack.transformers_engine import in_int8, load_in_int8

LIGHT = ModelSpec(name="m", dtype="int8")


def test_a_light_replica_is_8_bit_on_the_cpu_and_bfloat16_on_a_gpu():
    on_cpu = engine_argv(LIGHT, Path("models/m"), 1, "cpu")
    on_gpu = engine_argv(LIGHT, Path("models/m"), 1, "cuda")
    assert "--int8" in on_cpu[: on_cpu.index("serve")]
    assert on_cpu[on_cpu.index("--dtype") + 1] == activation_dtype(LIGHT, "cpu") == "float32"
    assert "--int8" not in on_gpu
    assert on_gpu[on_gpu.index("--dtype") + 1] == activation_dtype(LIGHT, "cuda") == "bfloat16"


def test_vllm_is_told_its_quantisation_in_its_arguments():
    with pytest.raises(ConfigError, match=r"dtype is 'int8'.*--quantization"):
        ModelSpec(name="m", engine="vllm", dtype="int8")


@pytest.mark.slow
def test_a_light_replica_answers_almost_alike_with_the_same_cache(tmp_path):
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM

    sizes = {"hidden_size": 64, "head_dim": 16, "intermediate_size": 128}
    folder = build_tiny_model(tmp_path / "tiny", architecture="llama", **sizes)
    full = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    light = in_int8(AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32))
    assert light.model.layers[0].mlp.up_proj.weight().element_size() == 1
    assert isinstance(light.model.layers[0].mlp.down_proj, torch.nn.Linear), "a layer that narrows was quantised"
    tokens = torch.arange(3, 40)[None]
    with torch.inference_mode():
        exact, near = full(tokens, use_cache=True), light(tokens, use_cache=True)
    differences = (exact.logits - near.logits).abs()
    assert 0 < differences.max() < 0.1 * exact.logits.abs().max()
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in near.past_key_values.layers)
    assert held == kv_bytes(KvShape.from_config(full.config.to_dict(), cache_dtype="float32"), tokens.shape[1])


@pytest.mark.slow
def test_the_server_of_a_light_replica_loads_it_quantised(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from transformers.cli.serving.model_manager import ModelManager

    monkeypatch.setattr(ModelManager, "_load_model", ModelManager._load_model)  # put back afterwards
    load_in_int8()
    folder = build_tiny_model(tmp_path / "tiny", architecture="llama")
    model = ModelManager(device="cpu", dtype="float32")._load_model(f"{folder}@main")
    assert isinstance(model.model.layers[0].mlp.up_proj, torch.ao.nn.quantized.dynamic.Linear)
