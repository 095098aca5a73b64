"""How many bytes of KV cache a request takes, from the model's own config."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class KvShape:
    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        *,
        cache_dtype: str | None = None,
        block_tokens: int = 1,
        tensor_parallel: int = 1,
    ) -> "KvShape":
        raise NotImplementedError


def kv_bytes(shape: KvShape, tokens: int, batch: int = 1) -> int:
    """Bytes on one device once `tokens` (prompt + generated) are held."""
    raise NotImplementedError


def kv_peak_bytes(shape: KvShape, prompt_tokens: int, max_new_tokens: int, batch: int = 1) -> int:
    """Most bytes on one device while the request runs (a prefill holds whole sliding layers for a moment)."""
    raise NotImplementedError
