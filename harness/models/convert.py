"""GGUF weights of a package → a folder of safetensors, tokenizer and chat template for `transformers serve`."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import ModelError
from harness.models.manifest import sha256_of
from harness.models.packaged import PackagedModel, package_versions, weight_files

Say = Callable[[str], None]
GGUF_NAME = "source.gguf"


def convert(model: PackagedModel, folder: Path, say: Say) -> Mapping[str, str]:
    """Fill the empty `folder`; returns the version of each package.

    Raises ModelError when the packaged weights are missing or not those expected.
    """
    gguf = folder / GGUF_NAME
    say(f"{model.name}: reading {', '.join(model.packages)}")
    join(weight_files(model), gguf)
    if sha256_of(gguf) != model.sha256:
        raise ModelError(
            f"model {model.name}: its packaged weights are damaged (their sha256 is wrong): {model.install_hint()}"
        )
    say(f"{model.name}: tokenizer")
    tokenizer = load_tokenizer(model, folder)
    say(f"{model.name}: weights to {model.stored_dtype} (up to two minutes)")
    network = load_network(model, folder)
    gguf.unlink()
    say(f"{model.name}: writing")
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    return package_versions(model)


def join(parts: list[Path], whole: Path) -> None:
    with whole.open("wb") as out:
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)


def load_tokenizer(model: PackagedModel, folder: Path) -> Any:
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=GGUF_NAME)
    if model.template is not None:
        tokenizer.chat_template = model.template.read_text("utf-8")
    return tokenizer


def load_network(model: PackagedModel, folder: Path) -> Any:
    """The model with plain weights: the object that holds the quantised ones refuses to be saved."""
    import torch
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(folder, gguf_file=GGUF_NAME, dtype=torch.float32)
    if hasattr(loaded.config, "quantization_config"):
        del loaded.config.quantization_config
    plain = AutoModelForCausalLM.from_config(loaded.config)
    plain.load_state_dict(loaded.state_dict())
    plain.generation_config = loaded.generation_config
    if model.stop_token_ids:
        own = plain.generation_config.eos_token_id
        ends = own if isinstance(own, list) else [] if own is None else [own]
        plain.generation_config.eos_token_id = [*ends, *(i for i in model.stop_token_ids if i not in ends)]
    return plain.to(getattr(torch, model.stored_dtype))
