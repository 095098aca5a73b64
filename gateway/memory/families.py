"""What a model's config leaves out because it is its family's default, as far as the KV cache depends on it.

A published `config.json` holds only what differs from the defaults of the family's config class. A test compares each
row with that class.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gateway.errors import ConfigError

_SHOWN_CHARS = 60
_MOST_SHOWN = 10**30


def _row(layers: int, heads: int, hidden_size: int, kv_heads: int | None = None, **more: Any) -> Mapping[str, Any]:
    """`kv_heads` None: as many as heads."""
    return MappingProxyType(
        {
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "hidden_size": hidden_size,
            "num_key_value_heads": kv_heads,
            **more,
        }
    )


_SWITCHED_OFF: dict[str, Any] = {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 28}
_GEMMA_4: dict[str, Any] = {
    "head_dim": 256,
    "global_head_dim": 512,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
}
_LATENT: dict[str, Any] = {"kv_lora_rank": 512, "qk_rope_head_dim": 64}
FAMILIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "cohere": _row(40, 64, 8192),
        "cohere2": _row(40, 64, 8192, sliding_window=4096, sliding_window_pattern=4),
        "deepseek_v2": _row(32, 32, 4096, **_LATENT),
        "deepseek_v3": _row(61, 128, 7168, 128, **_LATENT),
        "falcon": _row(32, 71, 4544, multi_query=True, new_decoder_architecture=False),
        "gemma": _row(28, 16, 3072, 16, head_dim=256),
        "gemma2": _row(26, 8, 2304, 4, head_dim=256, sliding_window=4096, sliding_window_pattern=2),
        "gemma3_text": _row(26, 8, 2304, 4, head_dim=256, sliding_window=4096, sliding_window_pattern=6),
        "gemma4_text": _row(30, 8, 2304, 4, **_GEMMA_4, attention_k_eq_v=False),
        "gemma4_unified_text": _row(30, 8, 2304, 4, **_GEMMA_4),
        "gpt2": _row(12, 12, 768),
        "gpt_bigcode": _row(12, 12, 768, multi_query=True),
        "gpt_neox": _row(44, 64, 6144),
        "gpt_oss": _row(36, 64, 2880, 8, head_dim=64, sliding_window=128, sliding_window_pattern=2),
        "gptj": _row(28, 16, 4096),
        "granite": _row(32, 32, 4096),
        "llama": _row(32, 32, 4096),
        "llama4_text": _row(48, 40, 5120, 8, head_dim=128, attention_chunk_size=8192, no_rope_layer_interval=4),
        "ministral": _row(32, 32, 4096, 8, sliding_window=4096),
        "mistral": _row(32, 32, 4096, 8, sliding_window=4096),
        "mixtral": _row(32, 32, 4096, 8),
        "olmo": _row(32, 32, 4096),
        "olmo2": _row(32, 32, 4096),
        "olmo3": _row(32, 32, 4096, sliding_window=4096, sliding_window_pattern=4),
        "opt": _row(12, 12, 768),
        "phi": _row(24, 32, 2048),
        "phi3": _row(32, 32, 3072),
        "qwen2": _row(32, 32, 4096, 32, **_SWITCHED_OFF),
        "qwen2_moe": _row(24, 16, 2048, 16, **_SWITCHED_OFF),
        "qwen3": _row(32, 32, 4096, 32, head_dim=128, **_SWITCHED_OFF),
        "qwen3_moe": _row(24, 32, 2048, 4, use_sliding_window=False, sliding_window=4096),
        "stablelm": _row(32, 32, 2560, 32),
        "starcoder2": _row(30, 24, 3072, 2),
    }
)
_ALIASES = MappingProxyType(
    {
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "n_embd": "hidden_size",
        "num_kv_heads": "num_key_value_heads",
    }
)


def completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """The language model's part of a config: in today's names, with what its family's default and the whole tell.

    Raises ConfigError where the part is no object, or a family no name.
    """
    outer = config
    config = outer.get("text_config") or outer
    if not isinstance(config, Mapping):
        raise ConfigError(f"model config: text_config is {shown(config)}, must be an object")
    for part in (config, outer):
        if not isinstance(part.get("model_type"), str | None):
            raise ConfigError(f"model config: model_type is {shown(part['model_type'])}, must be a name")
    family = config.get("model_type") or _part_of(outer.get("model_type"))
    family = family if family in FAMILIES else _part_of(family)
    named = {_ALIASES.get(key, key): value for key, value in config.items()}
    dtypes = {key: outer[key] for key in ("dtype", "torch_dtype") if outer.get(key)}
    if named.get("dtype") or named.get("torch_dtype"):
        dtypes = {}
    return {**FAMILIES.get(family, {}), **named, **dtypes, "model_type": family}


def shown(value: Any) -> str:
    """A value as a message quotes it, shortened."""
    if isinstance(value, int) and abs(value) > _MOST_SHOWN:
        return "a number of very many digits"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _part_of(family: Any) -> str:
    """The family of the language model inside a multimodal one."""
    text = f"{family}_text"
    return text if text in FAMILIES else str(family)
