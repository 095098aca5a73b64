"""A Llama of three layers with random weights, and a tokenizer of words, as a folder on disk."""

from pathlib import Path

WORDS = (
    *("The", "shop", "opens", "at", "nine", "Returns", "returns", "take", "five", "days", "How", "many", "do"),
    *("Cats", "Trains", "eat", "fish", "run", "hourly", ".", "?"),
)


def tiny_llama(folder: Path, *, layers: int = 3) -> Path:
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Sequence, Split, Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM

    vocabulary = {"<unk>": 0, **{word: index for index, word in enumerate(WORDS, start=1)}}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Sequence([Whitespace(), Split(".", "isolated")])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
