"""A config as it is published leaves out what is its family's default; the estimate takes it from a table."""

import json
from typing import Any

import pytest

from gateway.errors import ConfigError
from gateway.memory import KvShape, LayerGroup
from gateway.memory.families import FAMILIES

GEMMA_3_4B: dict[str, Any] = {
    "architectures": ["Gemma3ForConditionalGeneration"],
    "model_type": "gemma3",
    "text_config": {
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    },
    "torch_dtype": "bfloat16",
    "vision_config": {"hidden_size": 1152, "num_attention_heads": 16, "num_hidden_layers": 27},
}
GEMMA_3_12B: dict[str, Any] = {
    **GEMMA_3_4B,
    "text_config": {
        **GEMMA_3_4B["text_config"],
        "hidden_size": 3840,
        "num_attention_heads": 16,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
    },
}
LLAMA_4_SCOUT: dict[str, Any] = {
    "model_type": "llama4",
    "text_config": {
        "attention_chunk_size": 8192,
        "head_dim": 128,
        "hidden_size": 5120,
        "model_type": "llama4_text",
        "no_rope_layers": [],
        "num_attention_heads": 40,
        "num_hidden_layers": 48,
        "num_key_value_heads": 8,
        "torch_dtype": "bfloat16",
    },
}
GPT2 = {"model_type": "gpt2", "n_ctx": 1024, "n_embd": 1024, "n_head": 16, "n_layer": 24, "n_positions": 1024}
FALCON_40B = {
    "model_type": "falcon",
    "hidden_size": 8192,
    "multi_query": True,
    "new_decoder_architecture": True,
    "num_attention_heads": 128,
    "num_hidden_layers": 60,
    "num_kv_heads": 8,
    "torch_dtype": "bfloat16",
}
GEMMA_4: dict[str, Any] = {
    "model_type": "gemma4",
    "text_config": {"model_type": "gemma4_text", "num_hidden_layers": 12, "dtype": "bfloat16"},
}
PUBLISHED = [
    (GEMMA_4, 16, ((2, 2 * 4 * 512, None), (10, 2 * 4 * 256, 512))),
    (GEMMA_3_4B, 16, ((5, 2 * 4 * 256, None), (29, 2 * 4 * 256, 1024))),
    (GEMMA_3_12B, 16, ((8, 2 * 8 * 256, None), (40, 2 * 8 * 256, 1024))),
    (LLAMA_4_SCOUT, 16, ((12, 2 * 8 * 128, None), (36, 2 * 8 * 128, 8192))),
    (GPT2, 32, ((24, 2 * 1024, None),)),
    (FALCON_40B, 16, ((60, 2 * 8192, None),)),
]
# Names that the classes know, so that nothing is the default; heads of 8 and 3 kv heads where they may be fewer.
SMALL: dict[str, Any] = {"num_hidden_layers": 9, "num_attention_heads": 6, "hidden_size": 48}
WINDOWED = {
    **{family: {"sliding_window": 7} for family in ("cohere2", "gemma2", "gemma3_text", "gpt_oss", "mistral")},
    **{family: {"sliding_window": 7} for family in ("ministral", "mixtral", "olmo3", "phi3", "starcoder2")},
    **{
        family: {"sliding_window": 7, "use_sliding_window": True, "max_window_layers": 5}
        for family in ("qwen2", "qwen2_moe", "qwen3")
    },
    "qwen3_moe": {"sliding_window": 7, "use_sliding_window": True},
    "llama4_text": {"attention_chunk_size": 7, "no_rope_layer_interval": 3},
}


@pytest.mark.parametrize(("config", "bits", "groups"), PUBLISHED)
def test_a_published_config_is_read_with_its_familys_defaults(
    config: dict[str, Any], bits: int, groups: tuple[tuple[int, int, int | None], ...]
) -> None:
    shape = KvShape.from_config(config)
    assert shape.value_bits == bits
    assert shape.groups == tuple(LayerGroup(*group) for group in groups)


def test_llama_4_layers_without_rotary_positions_are_listed_or_every_so_many() -> None:
    text = {**LLAMA_4_SCOUT["text_config"], "num_hidden_layers": 4}
    for told, full in (({"no_rope_layers": [1, 0, 0, 1]}, 2), ({"no_rope_layer_interval": 2}, 2), ({}, 1)):
        groups = KvShape.from_config({"model_type": "llama4", "text_config": {**text, **told}}).groups
        assert [group.layers for group in groups] == [full, 4 - full]


@pytest.mark.parametrize(
    ("told", "sliding"),
    [
        ({"model_type": "qwen2_vl"}, 0),
        ({"model_type": "qwen2_vl", "use_sliding_window": False}, 0),
        ({"model_type": "qwen2_vl", "use_sliding_window": None}, 0),
        ({"model_type": "qwen2_vl", "use_sliding_window": True}, 0),
        ({"model_type": "qwen2_5_vl", "use_sliding_window": True, "max_window_layers": 20}, 8),
        ({"model_type": "qwen2_5_vl", "text_config": {"model_type": "qwen2_5_vl_text"}}, 0),
        ({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 20}, 8),
        ({"model_type": "qwen2_moe", "use_sliding_window": True, "max_window_layers": 20}, 10),
        ({"model_type": "qwen3_moe", "use_sliding_window": True}, 28),
    ],
)
def test_layers_of_a_qwen_slide_only_where_that_is_switched_on_and_from_the_layer_named(
    told: dict[str, Any], sliding: int
) -> None:
    fields = {"num_hidden_layers": 28, "num_attention_heads": 12, "hidden_size": 1536}
    fields |= {"sliding_window": 32768, "max_window_layers": 28}
    config = {**told, "text_config": fields | told["text_config"]} if "text_config" in told else fields | told
    groups = KvShape.from_config(config).groups
    assert sum(group.layers for group in groups if group.window_tokens is not None) == sliding
    assert sum(group.layers for group in groups) == 28


def test_the_language_models_own_dtype_counts_before_that_of_the_whole() -> None:
    text = {**GEMMA_3_4B["text_config"], "dtype": "float32"}
    assert KvShape.from_config({**GEMMA_3_4B, "text_config": text}).value_bits == 32


def test_an_unknown_family_without_heads_is_still_refused() -> None:
    with pytest.raises(ConfigError, match="num_attention_heads is None"):
        KvShape.from_config({"model_type": "nobody", "num_hidden_layers": 2, "hidden_size": 8})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_what_the_familys_class_leaves_out_is_what_the_table_puts_in(family: str) -> None:
    transformers = pytest.importorskip("transformers")
    configs = transformers.CONFIG_MAPPING
    for told in ({}, SMALL, {**SMALL, **WINDOWED.get(family, {})}):
        config = configs[family](**told)
        written = json.loads(config.to_json_string(use_diff=True))
        whole = json.loads(config.to_json_string(use_diff=False))
        whole.pop("model_type")  # so that nothing comes from the table
        expected = KvShape.from_config(whole)
        assert KvShape.from_config(written) == expected
        written.pop("layer_types", None)  # as in files older than that field
        assert KvShape.from_config(written) == expected
        if told.keys() - SMALL.keys():
            assert any(group.window_tokens is not None for group in expected.groups)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["gemma3", "llama4", "mistral3"])
def test_a_multimodal_config_is_read_as_its_language_model(family: str) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.CONFIG_MAPPING[family](dtype="bfloat16")
    written = json.loads(config.to_json_string(use_diff=True))
    text = json.loads(config.text_config.to_json_string(use_diff=False))
    text.pop("model_type")
    assert KvShape.from_config(written) == KvShape.from_config({**text, "dtype": "bfloat16"})
