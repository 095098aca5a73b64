"""How concentrated a local `transformers` model's attention is while it reads a text: one forward pass, one layer."""

from pathlib import Path
from typing import Any, NamedTuple

from gateway.answers.attention import DEFAULT_LAYER, attention_entropy, concentration, layer_to_probe


class AttentionReading(NamedTuple):
    """Of the last token, its heads averaged. `layer` counts from 1; `entropy` in nats; `concentration` in [0, 1]."""

    layer: int
    entropy: float
    concentration: float


def read_attention(model: Any, input_ids: Any, *, layer: int = DEFAULT_LAYER) -> AttentionReading:
    """`input_ids`: int64[1, tokens]. The model has to be loaded with `attn_implementation="eager"`."""
    import torch

    with torch.inference_mode():
        attentions = model(input_ids, output_attentions=True, use_cache=False).attentions
    at = layer_to_probe(len(attentions), wanted=layer)
    weights = attentions[at][0, :, -1, :].float().mean(dim=0).tolist()
    return AttentionReading(at + 1, attention_entropy(weights), concentration(weights))


def probe(model_dir: Path, text: str, *, layer: int = DEFAULT_LAYER) -> AttentionReading:
    """Load the model in `model_dir` and read `text` with it. Raises OSError where there is no model."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModelForCausalLM.from_pretrained(model_dir, attn_implementation="eager").eval()
    return read_attention(model, tokenizer(text, return_tensors="pt").input_ids, layer=layer)
