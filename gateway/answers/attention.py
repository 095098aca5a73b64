"""How concentrated a local model's attention is: what the semantic gate may use in place of the words' entropy.

Pure functions over attention weights. The gateway's own reading model is `gateway.attention`.
"""

from collections.abc import Sequence
from math import isfinite, log

from gateway.errors import ConfigError

DEFAULT_LAYER = 12  # counted from 1; models with fewer layers are probed at their last
DEFAULT_THRESHOLD = 0.85
TOP_TOKENS = 5


def layer_to_probe(layers: int, *, wanted: int = DEFAULT_LAYER) -> int:
    """Index from 0 of the layer to look at."""
    if layers < 1 or wanted < 1:
        raise ConfigError(f"layers and wanted are 1 or more; got {layers}, {wanted}")
    return min(layers, wanted) - 1


def concentration(weights: Sequence[float], *, top: int = TOP_TOKENS) -> float:
    """Share of one token's attention that its `top` strongest targets hold, in [0, 1]. Raises ConfigError."""
    shares = _shares(weights)
    return min(1.0, sum(sorted(shares, reverse=True)[:top]))


def attention_entropy(weights: Sequence[float]) -> float:
    """Shannon entropy of one token's attention, in nats; 0 where one target has it all. Raises ConfigError."""
    return max(0.0, -sum(share * log(share) for share in _shares(weights) if share > 0))


def is_concentrated(weights: Sequence[float], *, threshold: float = DEFAULT_THRESHOLD, top: int = TOP_TOKENS) -> bool:
    """Whether the `top` strongest targets hold at least `threshold` of the attention."""
    return concentration(weights, top=top) >= threshold


def _shares(weights: Sequence[float]) -> list[float]:
    if not weights or any(not isfinite(weight) or weight < 0 for weight in weights) or sum(weights) <= 0:
        raise ConfigError("attention weights are 0 or more, finite, and not all 0")
    total = sum(weights)
    return [weight / total for weight in weights]
