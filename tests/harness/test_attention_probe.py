"""Attention of a small random model, read at one layer."""

import pytest

from harness.attention_probe import read_attention


@pytest.mark.slow
def test_the_reading_is_a_share_and_an_entropy_of_the_layer_asked_for_or_the_last():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=3, num_attention_heads=4
    )
    config._attn_implementation = "eager"
    model = LlamaForCausalLM(config).eval()
    one = read_attention(model, torch.tensor([[7]]))
    assert (one.layer, one.entropy, one.concentration) == (3, 0.0, pytest.approx(1.0))
    many = read_attention(model, torch.arange(40)[None] % 64, layer=2)
    assert many.layer == 2
    assert 0 < many.concentration < 1
    assert many.entropy > 0
