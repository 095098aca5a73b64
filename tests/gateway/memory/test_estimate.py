"""The estimate is the arithmetic of the spec, and byte for byte the cache that a real model holds."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigError
from gateway.memory import KvShape, kv_bytes, kv_peak_bytes

MODELS = Path(os.environ.get("TRUEFALL_CACHE") or Path.home() / ".cache" / "truefall") / "models"
PLAIN: dict[str, Any] = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "head_dim": 128,
    "dtype": "float16",
}
TINY: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
DEEPSEEK: dict[str, Any] = {
    **TINY,
    "num_hidden_layers": 2,
    "num_key_value_heads": 4,
    "q_lora_rank": None,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
}
BUILT = {
    "LlamaConfig": TINY,
    "Qwen2Config": TINY,
    "MistralConfig": {**TINY, "sliding_window": 9, "head_dim": 8},
    "Gemma3TextConfig": {**TINY, "sliding_window": 9, "head_dim": 16, "num_key_value_heads": 1},
    "DeepseekV3Config": DEEPSEEK,
    "Gemma4TextConfig": {
        **TINY,
        **{"sliding_window": 9, "head_dim": 8, "global_head_dim": 16, "num_key_value_heads": 2},
        **{"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 64, "pad_token_id": 0},
    },
    "JetMoeConfig": {**TINY, "kv_channels": 24, "num_local_experts": 2, "num_experts_per_tok": 1},
}


@pytest.mark.parametrize(
    ("tokens", "gigabytes"), [(2048, 1.07), (4096, 2.15), (8192, 4.30), (16384, 8.59), (32768, 17.18)]
)
def test_the_table_of_the_full_attention_shape_holds(tokens: int, gigabytes: float) -> None:
    assert kv_bytes(KvShape.from_config(PLAIN), tokens) / 1e9 == pytest.approx(gigabytes, abs=0.006)


def test_grouped_query_attention_takes_a_quarter_with_eight_of_thirty_two_heads() -> None:
    grouped = KvShape.from_config({**PLAIN, "num_key_value_heads": 8})
    assert 4 * kv_bytes(grouped, 4096) == kv_bytes(KvShape.from_config(PLAIN), 4096)


def test_batches_dtypes_devices_and_blocks_scale_the_bytes() -> None:
    one = kv_bytes(KvShape.from_config(PLAIN), 1000)
    assert kv_bytes(KvShape.from_config(PLAIN), 1000, batch=4) == 4 * one
    assert kv_bytes(KvShape.from_config(PLAIN, cache_dtype="fp8"), 1000) == one // 2
    assert kv_bytes(KvShape.from_config(PLAIN, cache_dtype="int4"), 1000) == one // 4
    assert kv_bytes(KvShape.from_config(PLAIN, tensor_parallel=4), 1000) == one // 4
    assert kv_bytes(KvShape.from_config(PLAIN, block_tokens=16), 1000) == one // 1000 * 1008


def test_fewer_heads_than_devices_are_repeated() -> None:
    config = {**PLAIN, "num_key_value_heads": 2}
    eighth, half = KvShape.from_config(config, tensor_parallel=8), KvShape.from_config(config, tensor_parallel=2)
    assert kv_bytes(eighth, 100) == kv_bytes(half, 100)


def test_a_quantised_cache_also_keeps_its_scales() -> None:
    bare = kv_bytes(KvShape.from_config(PLAIN, cache_dtype="int4"), 64)
    scaled = kv_bytes(KvShape.from_config(PLAIN, cache_dtype="int4", scale_values=64), 64)
    assert scaled == bare + 2 * 32 * 32 * 128 * 64 // 64 * 4


def test_a_sliding_layer_keeps_one_token_less_than_its_window_and_a_prefill_holds_them_all() -> None:
    shape = KvShape.from_config({**PLAIN, "sliding_window": 512})
    per_token = kv_bytes(shape, 1)
    assert kv_bytes(shape, 511) == kv_bytes(shape, 512) == kv_bytes(shape, 100_000) == 511 * per_token
    assert kv_peak_bytes(shape, 2000, 10) == 2000 * per_token
    assert kv_peak_bytes(shape, 10, 2000) == 512 * per_token


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({**PLAIN, "num_hidden_layers": 0}, "num_hidden_layers"),
        ({key: value for key, value in PLAIN.items() if key != "num_attention_heads"}, "num_attention_heads"),
        ({**PLAIN, "dtype": "float7"}, "float7"),
        ({**PLAIN, "layer_types": ["full_attention"]}, "layer_types"),
        ({**PLAIN, "wide_head_dim": 512}, "wide_head_dim is 512.*shape"),
        ({**PLAIN, "num_key_value_heads_per_layer": [8, 4]}, r"num_key_value_heads_per_layer is \[8, 4\].*shape"),
        ({**PLAIN, "block_configs": [{"attention": {"n_heads_in_group": 8}}]}, "block_configs.*shape"),
        ({**PLAIN, "num_key_value_heads": [8] * 32}, "num_key_value_heads is"),
        ({**PLAIN, "per_layer_config": [{"head_dim": 512}]}, "per_layer_config is .*shape"),
        ({**PLAIN, "per_layer_config": {"32": {"head_dim": 512}}}, "per_layer_config names '32'.*below 32"),
        ({**PLAIN, "per_layer_config": {"-1": {"head_dim": 512}}}, "per_layer_config names '-1'"),
        ({**PLAIN, "per_layer_config": {"9" * 5000: {}}}, "per_layer_config names"),
        ({**PLAIN, "per_layer_config": {"1": 512}}, r"per_layer_config\[1\] is 512"),
        ({**PLAIN, "per_layer_config": {"1": {"wide_head_dim": 512}}}, "wide_head_dim is 512.*shape"),
        ({**PLAIN, "per_layer_config": {"1": {"head_dim": "512"}}}, "head_dim is '512'"),
        ({**PLAIN, "layer_types": ["sliding_attention"] * 32}, "sliding_window"),
    ],
)
def test_an_impossible_config_is_refused_by_field(config: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        KvShape.from_config(config)


def widths(**told: Any) -> set[tuple[int, int, int | None]]:
    """(layers, values per token, window) of four layers, two of which slide."""
    kinds = ["sliding_attention", "full_attention"] * 2
    told = {"num_hidden_layers": 4, "layer_types": kinds, "sliding_window": 7, "num_key_value_heads": 4, **told}
    return set(KvShape.from_config({**PLAIN, "head_dim": 8, **told}).groups)


@pytest.mark.parametrize(
    ("told", "sliding", "full"),
    [
        ({}, 64, 64),
        ({"per_layer_config": {"01": {"head_dim": 32}, "3": {"head_dim": 32}}}, 64, 256),
        (
            {"per_layer_config": {"0": {"num_key_value_heads": 1}, "2": {"num_key_value_heads": 1, "experts": 3}}},
            16,
            64,
        ),
        ({"global_head_dim": 32}, 64, 256),
        ({"global_head_dim": 32, "num_global_key_value_heads": 2, "attention_k_eq_v": True}, 64, 128),
        ({"global_head_dim": 32, "num_global_key_value_heads": 2, "attention_k_eq_v": False}, 64, 256),
        ({"global_head_dim": 32, "num_global_key_value_heads": 2}, 64, 256),
        ({"global_head_dim": 32, "per_layer_config": {"0": {}}}, 64, 64),
        ({"swa_head_dim": 16, "swa_num_key_value_heads": 8}, 256, 64),
        ({"v_head_dim": 4}, 48, 48),
        ({"v_head_dim": 16, "swa_v_head_dim": 4}, 48, 96),
        ({"model_type": "mimo_v2_flash"}, 128, 64),
        ({"head_dim": None, "kv_channels": 16}, 128, 128),
    ],
)
def test_layers_of_other_sizes_are_counted_as_wide_as_they_are(told: dict[str, Any], sliding: int, full: int) -> None:
    assert widths(**told) == {(2, sliding, 7), (2, full, None)}


def test_one_layer_of_its_own_size_is_a_group_of_its_own() -> None:
    assert widths(per_layer_config={"3": {"head_dim": 32}}) == {(2, 64, 7), (1, 64, None), (1, 256, None)}


def test_a_latent_with_an_index_for_its_keys_keeps_both() -> None:
    latent = {**PLAIN, "kv_lora_rank": 16, "qk_rope_head_dim": 8}
    assert KvShape.from_config(latent).groups[0].values_per_token == 24
    assert KvShape.from_config({**latent, "index_head_dim": 32}).groups[0].values_per_token == 56


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BUILT))
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("tokens", [1, 8, 9, 10, 40])
def test_the_estimate_equals_the_cache_of_a_model_built_from_its_config(name: str, batch: int, tokens: int) -> None:
    transformers = pytest.importorskip("transformers")
    config = getattr(transformers, name)(**BUILT[name], dtype="float32")
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    held, stored = _cache_bytes(model, tokens, batch)
    shape = KvShape.from_config(json.loads(config.to_json_string(use_diff=False)), cache_dtype="float32")
    assert kv_bytes(shape, tokens, batch) == held
    assert kv_peak_bytes(shape, tokens, 0, batch) == stored


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize("folder", sorted(MODELS.glob("*/config.json")), ids=lambda file: file.parent.name)
def test_the_estimate_equals_the_cache_of_each_packaged_model(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = json.loads(folder.read_text(encoding="utf-8"))
    if not any("CausalLM" in name for name in config.get("architectures") or ()):
        pytest.skip("not a language model")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder.parent, dtype="float32").eval()
    shape = KvShape.from_config(config, cache_dtype="float32")
    window = config.get("sliding_window") or 64
    for tokens, batch in [(1, 1), (17, 3), (window - 1, 1), (window, 1), (window + 1, 2)]:
        held, stored = _cache_bytes(model, tokens, batch)
        assert kv_bytes(shape, tokens, batch) == held
        assert kv_peak_bytes(shape, tokens, 0, batch) == stored


def _cache_bytes(model: Any, tokens: int, batch: int) -> tuple[int, int]:
    """(what the cache's tensors show, what their storage takes) after a prefill."""
    import torch

    with torch.inference_mode():
        cache = model.model(torch.ones((batch, tokens), dtype=torch.long), use_cache=True).cache
    tensors = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
    return sum(t.numel() * t.element_size() for t in tensors), sum(t.untyped_storage().nbytes() for t in tensors)
