"""One forward pass of a local `transformers` model, up to the layer that is looked at; torch is imported here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gateway.attention.config import AttentionConfig
from gateway.errors import ConfigError

Side = Literal["start", "end"]
TOP_TOKENS = 5


class Reading(NamedTuple):
    """Per token, heads averaged. The first token is left out as a target: attention that has nowhere to go rests there.

    `starts`: the character where it begins. `entropies` in nats. `tops`: what its TOP_TOKENS strongest targets hold.
    """

    starts: tuple[int, ...]
    entropies: tuple[float, ...]
    tops: tuple[float, ...]


class ReadingModel:
    """Reads at most `max_tokens` of a text; one thread at a time."""

    def __init__(self, model: Any, tokenizer: Any, *, max_tokens: int) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def read(self, text: str, *, keep: Side = "start") -> Reading:
        """A longer text loses its end, or its start with `keep="end"`."""
        encoded = self._tokenizer.encode(text)
        part = slice(0, self._max_tokens) if keep == "start" else slice(-self._max_tokens, None)
        ids, offsets = encoded.ids[part], encoded.offsets[part]
        if not ids:
            return Reading((), (), ())
        entropies, tops = measures(self._weights(ids))
        return Reading(tuple(start for start, _ in offsets), tuple(entropies), tuple(tops))

    def _weights(self, ids: Sequence[int]) -> Any:
        """float32[tokens, tokens]"""
        import torch

        with torch.inference_mode():
            read = self._model(torch.tensor([ids]), output_attentions=True, use_cache=False)
        return read.attentions[-1][0].float().mean(dim=0)


def measures(weights: Any) -> tuple[list[float], list[float]]:
    """`weights`: float32[tokens, tokens], each row what one token looks at; (entropies in nats, shares of the top)."""
    rest = weights.clone()
    rest[1:, 0] = 0.0
    rest = rest / rest.sum(dim=-1, keepdim=True).clamp_min(1e-12)
    entropies = -(rest * rest.clamp_min(1e-12).log()).sum(dim=-1)
    tops = rest.topk(min(TOP_TOKENS, rest.shape[-1]), dim=-1).values.sum(dim=-1)
    return entropies.clamp_min(0.0).tolist(), tops.clamp(0.0, 1.0).tolist()


def open_model(config: AttentionConfig) -> ReadingModel:
    """Takes seconds. Raises ConfigError, ImportError, OSError, or whatever transformers makes of a damaged folder."""
    if config.model_dir is None:
        raise ConfigError("attention: model_dir is not set")
    import torch
    from transformers import AutoConfig, AutoModel
    from transformers.utils import logging

    logging.set_verbosity_error()  # stderr is the gateway's log
    logging.disable_progress_bar()
    torch.set_num_threads(config.threads)
    shape = first_layers(AutoConfig.from_pretrained(config.model_dir), config.layer)
    model = AutoModel.from_pretrained(
        config.model_dir, config=shape, attn_implementation="eager", dtype=torch.float32, local_files_only=True
    )
    return ReadingModel(model.eval(), _tokenizer(config.model_dir), max_tokens=config.max_tokens)


def first_layers(shape: Any, layer: int) -> Any:
    """A model's config for its first `layer` layers only; all of them where there are fewer."""
    shape.num_hidden_layers = layer_to_probe(shape.num_hidden_layers, wanted=layer) + 1
    if getattr(shape, "layer_types", None):
        shape.layer_types = shape.layer_types[: shape.num_hidden_layers]
    return shape


def layer_to_probe(layers: int, *, wanted: int) -> int:
    """Index from 0 of the layer to look at: layer `wanted`, counted from 1, or the last. Raises ConfigError."""
    if layers < 1 or wanted < 1:
        raise ConfigError(f"layers and wanted are 1 or more; got {layers}, {wanted}")
    return min(layers, wanted) - 1


def _tokenizer(model_dir: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
