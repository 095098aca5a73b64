"""What holds a backend's KV cache, how large it is, and how it is measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from gateway.memory.estimate import DTYPE_BITS
from gateway.section import Bytes, Count, Positive, Section, Share, require_url


class CacheShape(Section, frozen=True, kw_only=True):
    """The figures of a model's config.json that decide how large its cache is, where that file is not at hand."""

    layers: Annotated[int, Meta(ge=1, le=4096)]
    kv_heads: Count | None = None
    head_dim: Count | None = None
    kv_lora_rank: Count | None = None  # latent attention, in place of kv_heads and head_dim
    qk_rope_head_dim: Count | None = None
    dtype: str = "float16"  # the model's own; memory.kv_dtype says where the cache's is another
    window_tokens: Count | None = None  # how far sliding layers look back
    sliding_layers: Count | None = None  # how many of the layers do; None: all where window_tokens is set

    def __post_init__(self) -> None:
        heads, latent = (self.kv_heads, self.head_dim), (self.kv_lora_rank, self.qk_rope_head_dim)
        given, left_out = (heads, latent) if latent == (None, None) else (latent, heads)
        if None in given or left_out != (None, None):
            raise ValueError("shape needs kv_heads and head_dim, or in their place kv_lora_rank and qk_rope_head_dim")
        _require_dtype("dtype", self.dtype)
        if self.sliding_layers is not None and self.window_tokens is None:
            raise ValueError(f"sliding_layers is {self.sliding_layers}, which needs window_tokens")
        if (self.sliding_layers or 0) > self.layers:
            raise ValueError(f"sliding_layers is {self.sliding_layers}, at most layers, {self.layers}")

    def model_config(self) -> Mapping[str, Any]:
        """The same as a `config.json` says it."""
        sliding = (self.sliding_layers or self.layers) if self.window_tokens is not None else 0
        kinds = ["sliding_attention"] * sliding + ["full_attention"] * (self.layers - sliding)
        return {
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.kv_heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "kv_lora_rank": self.kv_lora_rank,
            "qk_rope_head_dim": self.qk_rope_head_dim,
            "dtype": self.dtype,
            "sliding_window": self.window_tokens,
            "layer_types": kinds,
        }


class Memory(Section, frozen=True, kw_only=True):
    """What holds a backend's KV cache, and how it is measured."""

    probe: Literal["process", "cgroup", "vllm", "cuda"] | None = None
    pid: Count | None = None
    pid_file: Path | None = None  # read again when it was written, and when the process is gone
    limit_bytes: Bytes | None = None  # what the process may take (probe "process")
    cgroup: Path | None = None
    metrics_url: str | None = None  # probe "vllm"; None: the backend's own /metrics
    device: Annotated[int, Meta(ge=0)] = 0  # probe "cuda"
    margin_bytes: Annotated[int, Meta(ge=0)] | None = None  # free memory that must stay
    margin_share: Share = 0.1  # the same as a share of the total, when margin_bytes is absent
    max_age_s: Positive = 5.0  # an older reading counts as full
    kv_capacity_bytes: Bytes | None = None  # the ledger's capacity; None: no ledger
    shape: CacheShape | None = None  # what a token takes; None: from the config.json in the backend's model_dir
    kv_dtype: str | None = None  # of the cache, such as "float16"; None: from the model's config
    scale_values: Annotated[int, Meta(ge=0)] = 0  # values that share a scale in a quantised cache; 0: no scales
    block_tokens: Count = 1  # of a paged cache; 1 where it is not paged
    tensor_parallel: Count = 1

    def __post_init__(self) -> None:
        require_url("metrics_url", self.metrics_url, query=True)
        _require_dtype("kv_dtype", self.kv_dtype)
        if self.probe is not None and self.kv_capacity_bytes is None:
            raise ValueError(f"probe {self.probe!r} needs kv_capacity_bytes, the memory that may hold KV caches")
        if self.probe == "process" and self.pid is None and self.pid_file is None:
            raise ValueError("probe 'process' needs pid or pid_file")
        if self.probe == "cgroup" and self.cgroup is None:
            raise ValueError("probe 'cgroup' needs cgroup, the cgroup's folder")


def _require_dtype(field: str, name: str | None) -> None:
    """Raises ValueError for a type of values that no cache is known to hold."""
    if name is not None and name not in DTYPE_BITS:
        raise ValueError(f"{field} is {name!r}, must be one of {', '.join(DTYPE_BITS)}")
