"""How many bytes of KV cache a request takes, from the model's own config."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from gateway.errors import ConfigError
from gateway.memory.families import completed, shown
from gateway.memory.numbers import count, whole
from gateway.memory.widths import layer_configs, values_per_token

DTYPE_BITS = MappingProxyType(
    {
        "float32": 32,
        "float16": 16,
        "bfloat16": 16,
        "float8_e4m3fn": 8,
        "float8_e5m2": 8,
        "fp8": 8,
        "int8": 8,
        "int4": 4,
        "nf4": 4,
        "int2": 2,
    }
)
SCALE_BITS = 32
_MOST_LAYERS = 100_000
_WITHOUT_CACHE = frozenset({"linear_attention", "conv", "mamba", "moe", "mlp", "dummy"})


class LayerGroup(NamedTuple):
    """Layers of one kind: how many, how wide one token is in each, and how far back they look."""

    layers: int
    values_per_token: int  # keys and values together, on one device
    window_tokens: int | None  # None: every token is held


@dataclass(frozen=True, slots=True, kw_only=True)
class KvShape:
    """What decides the size of a cache on one device."""

    groups: tuple[LayerGroup, ...]
    value_bits: int
    block_tokens: int = 1  # a paged cache hands out whole blocks; 1 where it does not
    scale_values: int = 0  # a quantised cache keeps a 16-bit scale and zero point per so many values; 0: none

    def __post_init__(self) -> None:
        if not self.groups or self.value_bits <= 0 or self.block_tokens < 1 or self.scale_values < 0:
            raise ConfigError(
                "need one group of layers or more, value_bits > 0, block_tokens >= 1, scale_values >= 0; "
                f"got {len(self.groups)}, {self.value_bits}, {self.block_tokens}, {self.scale_values}"
            )

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        *,
        cache_dtype: str | None = None,
        block_tokens: int = 1,
        tensor_parallel: int = 1,
        scale_values: int = 0,
    ) -> "KvShape":
        """Read a Hugging Face `config.json`.

        `cache_dtype` is one of DTYPE_BITS; None takes the model's own. With `tensor_parallel` above 1 the shape is
        one device's share: heads are split, and repeated where there are fewer heads than devices; a latent is
        held whole by each. What the config leaves out is its family's default, where that is known (`families`).
        Raises ConfigError naming the field that is missing or impossible.
        """
        config = completed(config)
        if tensor_parallel < 1:
            raise ConfigError(f"tensor_parallel is {tensor_parallel}, must be 1 or more")
        alike = Counter(_kinds_of_layers(config, tensor_parallel))
        ordered = sorted(alike.items(), key=lambda entry: (entry[0][1] is not None, entry[0][1] or 0, entry[0][0]))
        groups = tuple(LayerGroup(layers, width, window) for (width, window), layers in ordered)
        return cls(
            groups=groups,
            value_bits=_value_bits(config, cache_dtype),
            block_tokens=block_tokens,
            scale_values=scale_values,
        )


def kv_bytes(shape: KvShape, tokens: int, batch: int = 1) -> int:
    """Bytes on one device that `batch` sequences of `tokens` tokens (prompt and answer) hold between two steps.

    A sliding layer of window w looks at w tokens, the one being computed included, so it keeps w - 1.
    """
    return sum(_group_bytes(shape, group, _held(group, tokens), batch) for group in shape.groups)


def kv_peak_bytes(shape: KvShape, prompt_tokens: int, max_new_tokens: int = 0, batch: int = 1) -> int:
    """Most bytes on one device while the request runs.

    A prefill computes every layer over the whole prompt: a sliding layer's cut is a view that keeps the whole
    tensor alive until the next step, and each decoding step holds w tokens before it drops one.
    """
    after = prompt_tokens + max_new_tokens
    prefill = sum(_group_bytes(shape, group, prompt_tokens, batch) for group in shape.groups)
    stepping = sum(
        _group_bytes(shape, group, min(after, group.window_tokens or after), batch) for group in shape.groups
    )
    return max(prefill, stepping)


def _held(group: LayerGroup, tokens: int) -> int:
    if group.window_tokens is None:
        return tokens
    return min(tokens, max(group.window_tokens - 1, 0)) if group.window_tokens > 1 else tokens


def _group_bytes(shape: KvShape, group: LayerGroup, tokens: int, batch: int) -> int:
    if tokens < 0 or batch < 0:
        raise ConfigError(f"tokens and batch must be 0 or more, got {tokens} and {batch}")
    blocks = -(-tokens // shape.block_tokens)
    values = batch * blocks * shape.block_tokens * group.layers * group.values_per_token
    scales = -(-values // shape.scale_values) * SCALE_BITS if shape.scale_values else 0
    return -(-(values * shape.value_bits + scales) // 8)


def _kinds_of_layers(config: Mapping[str, Any], tensor_parallel: int) -> list[tuple[int, int | None]]:
    """Width and window of each layer that holds a cache; None for full attention."""
    layers = whole(config, "num_hidden_layers", most=_MOST_LAYERS)
    own = layers - count(config, "num_kv_shared_layers", most=layers - 1)
    types = _list(config, "layer_types") or _implied_types(config, layers)
    if len(types) != layers:
        raise ConfigError(f"layer_types has {len(types)} entries, num_hidden_layers says {layers}")
    for kind in types:
        if not isinstance(kind, str):
            raise ConfigError(f"model config: layer_types holds {shown(kind)}, must hold names")
    pairs = zip(types[:own], layer_configs(config, types)[:own], strict=True)
    return [
        (values_per_token(layer, tensor_parallel), _window(layer, kind))
        for kind, layer in pairs
        if kind not in _WITHOUT_CACHE
    ]


def _implied_types(config: Mapping[str, Any], layers: int) -> list[str]:
    types = [_implied_type(config, index) for index in range(layers)]
    return [*types[:-1], "full_attention"] if config.get("global_head_dim") else types  # as Gemma 4 always ends


def _implied_type(config: Mapping[str, Any], index: int) -> str:
    """The kind of a layer where an older config does not list them."""
    if config.get("attention_chunk_size"):
        return "chunked_attention" if _rotates(config, index) else "full_attention"
    if not config.get("sliding_window") or _switched_off(config):
        return "full_attention"
    return "sliding_attention" if _slides(config, index) else "full_attention"


def _switched_off(config: Mapping[str, Any]) -> bool:
    """Where layers may be exempt, the window is off unless it is said to be on; elsewhere only where it is said."""
    switch = config.get("use_sliding_window")
    return switch is False or (not switch and "max_window_layers" in config)


def _rotates(config: Mapping[str, Any], index: int) -> bool:
    """Llama 4 looks back over everything in its layers without rotary positions: every fourth, or as listed."""
    listed = _list(config, "no_rope_layers")
    if listed:
        return index < len(listed) and bool(listed[index])
    interval = count(config, "no_rope_layer_interval")
    return not interval or (index + 1) % interval != 0


def _slides(config: Mapping[str, Any], index: int) -> bool:
    if config.get("model_type") == "qwen2_moe":
        return index % 2 == 0 and index < count(config, "max_window_layers")
    if "max_window_layers" in config and config.get("model_type") != "qwen3_moe":
        return index >= count(config, "max_window_layers")
    pattern = count(config, "_sliding_window_pattern") or count(config, "sliding_window_pattern")
    return not pattern or (index + 1) % pattern != 0


def _window(config: Mapping[str, Any], kind: str) -> int | None:
    if kind in ("sliding_attention", "hybrid_sliding"):
        window = whole(config, "sliding_window")
        return window // 2 + 1 if config.get("use_bidirectional_attention") is True else window
    return whole(config, "attention_chunk_size") if kind == "chunked_attention" else None


def _value_bits(config: Mapping[str, Any], cache_dtype: str | None) -> int:
    name = str(cache_dtype or config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    if name not in DTYPE_BITS:
        raise ConfigError(f"cache dtype {shown(name)} is unknown; known are {', '.join(DTYPE_BITS)}")
    return DTYPE_BITS[name]


def _list(config: Mapping[str, Any], field: str) -> list[Any]:
    """Empty where the config does not say it."""
    value = config.get(field)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ConfigError(f"model config: {field} is {shown(value)}, must be a list")
    return list(value)
