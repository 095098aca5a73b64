"""A model that recites one text: a real architecture, served by a real engine, whose answer is known beforehand.

Its weights are random but for two things: what the layers add is made small, and the output head gives each token its
successor in the text. So a measurement can tell to the word what a fault did to an answer, and damage to the weights
shows.
"""

from pathlib import Path
from typing import Any

from harness.models.tiny import SPECIALS, TEMPLATE

TEXT = (
    "Your refund of 59 euros was approved today. Customers can buy another product online before Friday. "
    "We will ship the order from Zürich within five days. Please keep this receipt and call support when you need "
    "help. Returns are free for thirty more weeks. Nobody must pay any fee twice."
)  # no word twice: each is one token, and its successor is all that the model knows
CONTEXT_TOKENS = 16_384
HIDDEN = 64
INTERMEDIATE = 4096  # so that a long prompt takes much memory at once: 16 KB a token
QUIET = 0.01  # how much of what the layers compute is left


def build_reciter(folder: Path, *, seed: int = 0) -> Path:
    """Write model and tokenizer into `folder`."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    tokenizer = reciter_tokenizer()
    config = AutoConfig.for_model(
        "llama",
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=INTERMEDIATE,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=HIDDEN // 4,
        max_position_embeddings=CONTEXT_TOKENS,
        tie_word_embeddings=False,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = AutoModelForCausalLM.from_config(config)
        torch.nn.init.normal_(network.model.embed_tokens.weight)
    with torch.no_grad():
        _know_successors(network, text_tokens(tokenizer))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _know_successors(network: Any, tokens: list[int]) -> None:
    for layer in network.model.layers:
        layer.self_attn.o_proj.weight.mul_(QUIET)
        layer.mlp.down_proj.weight.mul_(QUIET)
    embeddings, head = network.model.embed_tokens.weight, network.lm_head.weight
    head.zero_()
    for token, successor in zip(tokens, [*tokens[1:], 1], strict=True):
        head[successor] = embeddings[token]


def text_tokens(tokenizer: Any) -> list[int]:
    """The token that ends a prompt, then those of the text."""
    (colon,) = tokenizer.encode(":", add_special_tokens=False)
    return [colon, *tokenizer.encode(TEXT, add_special_tokens=False)]


def reciter_tokenizer() -> Any:
    """Each word of the text, with the blank before it, is one token; all else is one token a byte."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import ByteLevel as ByteDecoder
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
    from transformers import PreTrainedTokenizerFast

    letters = [*SPECIALS, *sorted(ByteLevel.alphabet())]
    cut = Sequence([Split(Regex(r"\s?\S+|\s+"), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)])
    words = [word for word, _ in cut.pre_tokenize_str(TEXT)]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys([*letters, *words]))}
    tokenizer = Tokenizer(BPE(vocabulary, [], unk_token="<unk>", ignore_merges=True))
    tokenizer.pre_tokenizer = cut
    tokenizer.decoder = ByteDecoder()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        chat_template=TEMPLATE,
    )
