"""How many values one layer keeps per token, by a model's config and what that says of single layers."""

import re
from collections.abc import Mapping
from typing import Any

from gateway.errors import ConfigError
from gateway.memory.families import shown
from gateway.memory.numbers import count, whole

_HEAD_DIMS = ("head_dim", "attention_head_dim", "kv_channels", "dim_head")  # the first that is there counts
_SIZES = re.compile(
    r"head_dim|dim_head|d_head|head_size|kv_heads|key_value_heads|kv_channels|block_configs|prompt_length"
)
_KNOWN = frozenset(
    {
        *_HEAD_DIMS,
        *("num_key_value_heads", "v_head_dim", "qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim", "index_head_dim"),
        *("global_head_dim", "num_global_key_value_heads"),
        *("swa_head_dim", "swa_v_head_dim", "swa_num_key_value_heads"),
        *("linear_head_dim", "linear_key_head_dim", "linear_value_head_dim", "mamba_d_head", "mamba_head_dim"),
    }
)
_OF_SLIDING = {
    "swa_head_dim": "head_dim",
    "swa_v_head_dim": "v_head_dim",
    "swa_num_key_value_heads": "num_key_value_heads",
}
_TWICE_THE_HEADS = frozenset({"mimo_v2_flash"})  # in their sliding layers, which no field says
_ADVICE = "set [backends.memory.shape] with the most kv_heads and the largest head_dim of any layer"
_PER_LAYER = "per_layer_config"


def layer_configs(config: Mapping[str, Any], kinds: list[str]) -> list[Mapping[str, Any]]:
    """The config of each layer: the model's, with what it says of layers of this kind, and of this one.

    Raises ConfigError naming a field that sizes heads in a way that is not understood.
    """
    _require_understood(config)
    own = _own(config, len(kinds))
    return [{**config, **_of_kind(config, kind), **own.get(index, {})} for index, kind in enumerate(kinds)]


def values_per_token(config: Mapping[str, Any], tensor_parallel: int) -> int:
    """Keys and values of one layer, on one device; heads are split, a latent is held whole by each."""
    if config.get("kv_lora_rank"):
        indexed = whole(config, "index_head_dim") if config.get("index_head_dim") else 0
        return whole(config, "kv_lora_rank") + whole(config, "qk_rope_head_dim") + indexed
    heads = whole(config, "num_attention_heads")
    kv_heads = whole(config, "num_key_value_heads") if config.get("num_key_value_heads") else heads
    if config.get("new_decoder_architecture"):
        kv_heads = heads  # Falcon's keys are spread over all heads before they are kept
    elif config.get("multi_query"):
        kv_heads = 1
    key_dim = _head_dim(config, heads)
    value_dim = whole(config, "v_head_dim") if config.get("v_head_dim") else key_dim
    return -(-kv_heads // tensor_parallel) * (key_dim + value_dim)


def _head_dim(config: Mapping[str, Any], heads: int) -> int:
    for field in _HEAD_DIMS:
        if config.get(field):
            return whole(config, field)
    hidden_size = whole(config, "hidden_size")
    if hidden_size < heads:
        raise ConfigError(f"model config: hidden_size is {hidden_size}, must be num_attention_heads ({heads}) or more")
    return hidden_size // heads


def _of_kind(config: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Sizes that the config names for all layers of a kind: for those that see everything, or for those that slide."""
    if kind == "full_attention" and config.get("global_head_dim") and not config.get(_PER_LAYER):
        return {"head_dim": config["global_head_dim"], **_global_heads(config)}
    if kind != "sliding_attention":
        return {}
    told = {field: config[told] for told, field in _OF_SLIDING.items() if config.get(told)}
    if config.get("model_type") in _TWICE_THE_HEADS and "num_key_value_heads" not in told:
        told["num_key_value_heads"] = 2 * whole(config, "num_key_value_heads")
    return told


def _global_heads(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """They count where keys are values; where nobody says whether they are, the more heads count."""
    heads, switch = config.get("num_global_key_value_heads"), config.get("attention_k_eq_v")
    if not heads or switch is False:
        return {}
    if switch is None:
        heads = max(whole(config, "num_global_key_value_heads"), count(config, "num_key_value_heads"))
    return {"num_key_value_heads": heads}


def _own(config: Mapping[str, Any], layers: int) -> dict[int, Mapping[str, Any]]:
    """Index of a layer -> what its config overrides."""
    told = config.get(_PER_LAYER) or {}
    if not isinstance(told, Mapping):
        raise ConfigError(f"model config: {_PER_LAYER} is {shown(told)}, must be an object; {_ADVICE}")
    found: dict[int, Mapping[str, Any]] = {}
    for key, overrides in told.items():
        text = str(key)
        if not (text.isdecimal() and len(text) < len(str(layers)) + 2 and int(text) < layers):
            raise ConfigError(
                f"model config: {_PER_LAYER} names {shown(key)}, must name layers below {layers}; {_ADVICE}"
            )
        if not isinstance(overrides, Mapping):
            raise ConfigError(f"model config: {_PER_LAYER}[{text}] is {shown(overrides)}, must be an object; {_ADVICE}")
        _require_understood(overrides)
        found[int(text)] = overrides
    return found


def _require_understood(config: Mapping[str, Any]) -> None:
    for field, value in config.items():
        if value and field not in _KNOWN and _SIZES.search(str(field)):
            raise ConfigError(
                f"model config: {field} is {shown(value)}, which sizes the cache in an unknown way; {_ADVICE}"
            )
