"""A model of random weights: the shape of a real architecture, small enough for a test."""

import string
from pathlib import Path
from typing import Any

SPECIALS = ("<pad>", "<eos>", "<unk>")
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"


def build_tiny_model(folder: Path, *, architecture: str = "qwen2", seed: int = 0, **sizes: int) -> Path:
    """Write a causal LM of `architecture` (a transformers model type: llama, qwen2, gemma3_text, …) into `folder`.

    `sizes` overrides fields of its config (hidden_size, num_hidden_layers, …). The same seed gives the same weights.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    defaults: dict[str, Any] = {
        "vocab_size": len(SPECIALS) + 256,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 512,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": 1,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = AutoModelForCausalLM.from_config(AutoConfig.for_model(architecture, **{**defaults, **sizes}))
    network.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


def saying_letters(folder: Path) -> Path:
    """Have the next token of a tiny model always be a letter: whole text, as many tokens as characters.

    Its config needs `tie_word_embeddings` False.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    network = AutoModelForCausalLM.from_pretrained(folder)
    letters = AutoTokenizer.from_pretrained(folder).convert_tokens_to_ids(list(string.ascii_letters))
    with torch.no_grad():
        head = network.lm_head.weight
        only_letters = torch.zeros_like(head)
        only_letters[letters] = head[letters]
        head.copy_(only_letters)
    network.save_pretrained(folder)
    return folder


def tiny_tokenizer() -> Any:
    """One token a byte, the form that every architecture's own tokenizer class can read."""
    from tokenizers import Tokenizer
    from tokenizers.decoders import ByteLevel as ByteDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import PreTrainedTokenizerFast

    letters = (*SPECIALS, *sorted(ByteLevel.alphabet()))
    letter_tokens = Tokenizer(BPE({letter: i for i, letter in enumerate(letters)}, [], unk_token="<unk>"))
    letter_tokens.pre_tokenizer = ByteLevel(add_prefix_space=False)
    letter_tokens.decoder = ByteDecoder()
    return PreTrainedTokenizerFast(
        tokenizer_object=letter_tokens,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        chat_template=TEMPLATE,
    )
