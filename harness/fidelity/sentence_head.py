"""What sentence-transformers makes of the last layer: pooling, then what its `modules.json` names after it.

A module or setting that is not applied here is refused by its name: the cosine would be another than the library's.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError, ModelError

Floats = NDArray[np.float32]
MODULES = "modules.json"
TRANSFORMER = "sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "mean": "mean", "cls": "cls"}
_ACTIVATIONS = ("Identity", "Tanh")
_WITHOUT_EFFECT = frozenset({"Transformer", "Dropout"})  # the encoder itself; what only training does


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dense:
    """A linear layer and what follows it."""

    weight: Floats  # float32[out, in]
    bias: Floats | None  # float32[out]
    tanh: bool

    def __call__(self, vector: Floats) -> Floats:
        found = self.weight @ vector
        if self.bias is not None:
            found = found + self.bias
        return np.tanh(found) if self.tanh else found


def normalised(vector: Floats) -> Floats:
    """At unit length; zeros stay."""
    length = np.linalg.norm(vector, axis=-1)
    return vector / length if length > 0 else vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SentenceHead:
    """From the hidden states of the last layer to the sentence embedding, of unit length."""

    pooling: str = "mean"  # or "cls"
    layers: "tuple[Dense | None, ...]" = ()  # after pooling, in order; None: brought to unit length

    def __call__(self, last: Floats) -> Floats:
        """`last`: float32[n, dims] of a whole text, special tokens included."""
        vector = last[0] if self.pooling == "cls" else last.mean(axis=0)
        for layer in self.layers:
            vector = normalised(vector) if layer is None else layer(vector)
        return np.ascontiguousarray(normalised(vector), dtype=np.float32)

    def width(self, hidden: int) -> int:
        """How long a sentence embedding is, where hidden states have `hidden` values. Raises ModelError."""
        width = hidden
        for layer in self.layers:
            if layer is not None:
                if layer.weight.ndim != 2 or layer.weight.shape[1] != width:
                    raise ModelError(
                        f"a Dense module takes {layer.weight.shape[-1]} values and gets {width}; get the model again"
                    )
                width = len(layer.weight)
        return width


def head_of(path: Path) -> SentenceHead:
    """The head that the files of a model folder describe; the mean where there are none.

    Raises ConfigError for what is not supported, ModelError for files that cannot be read.
    """
    _refuse_prompt(path / PROMPTS)
    modules = _modules(path)
    poolings = [_pooling(folder / "config.json") for kind, folder in modules if kind == "Pooling"]
    layers = [_layer(kind, folder) for kind, folder in modules if kind not in _WITHOUT_EFFECT | {"Pooling"}]
    return SentenceHead(pooling=poolings[0] if poolings else "mean", layers=tuple(layers))


def _modules(path: Path) -> list[tuple[str, Path]]:
    """The kind and folder of every module, in order; of a folder without a list what lies in 1_Pooling."""
    file = path / MODULES
    if not file.is_file():
        pooling = path / "1_Pooling"
        return [("Pooling", pooling)] if (pooling / "config.json").is_file() else []
    try:
        return [(str(one["type"]).rpartition(".")[2], path / str(one["path"])) for one in json.loads(_text(file))]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{file}: is no list of modules ({error!r}); get the model again") from None


def _layer(kind: str, folder: Path) -> Dense | None:
    if kind == "Normalize":
        return None
    if kind != "Dense":
        raise ConfigError(
            f"{folder}: the module {kind!r} is not supported; Pooling, Dense and Normalize are. Without its line in "
            f"{folder.parent / MODULES}, in a copy of the model, the cosine is that of the modules before it"
        )
    return _dense(folder)


def _dense(folder: Path) -> Dense:
    file = folder / "config.json"
    settings = _settings(file)
    activation = str(settings.get("activation_function", "Tanh")).rpartition(".")[2]
    if activation not in _ACTIVATIONS:
        raise ConfigError(f"{file}: activation_function {activation!r} is not supported; Identity and Tanh are")
    if settings.get("use_residual"):
        raise ConfigError(f"{file}: use_residual is not supported; name another encoder")
    for name in ("module_input_name", "module_output_name"):
        if settings.get(name) not in (None, "sentence_embedding"):
            raise ConfigError(f"{file}: {name} {settings[name]!r} is not supported; 'sentence_embedding' is")
    weights = _weights(folder)
    if "linear.weight" not in weights:
        raise ModelError(f"{folder}: holds no linear.weight; get the model again")
    return Dense(weight=weights["linear.weight"], bias=weights.get("linear.bias"), tanh=activation == "Tanh")


def _weights(folder: Path) -> dict[str, Floats]:
    """The tensors of a module by name. Raises ModelError."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    file = next((folder / n for n in ("model.safetensors", "pytorch_model.bin") if (folder / n).is_file()), None)
    if file is None:
        raise ModelError(f"{folder}: holds no weights (model.safetensors or pytorch_model.bin); get the model again")
    try:
        found = load_file(file) if file.suffix == ".safetensors" else torch.load(file, "cpu", weights_only=True)
        return {name: tensor.float().numpy() for name, tensor in found.items()}
    except (SafetensorError, OSError, RuntimeError, ValueError, AttributeError, EOFError) as error:
        raise ModelError(f"{file}: cannot be read: {str(error).splitlines()[0]}; get the model again") from None


def _pooling(file: Path) -> str:
    settings = _settings(file)
    modes = [key for key, on in settings.items() if key.startswith("pooling_mode_") and on is True]
    named = settings.get("pooling_mode")
    found = [_POOLINGS.get(mode, mode) for mode in ([named] if isinstance(named, str) else modes)]
    if len(found) != 1 or found[0] not in {"mean", "cls"}:
        raise ConfigError(f"{file}: pooling {found} is not supported; mean and cls are")
    return found[0]


def _refuse_prompt(file: Path) -> None:
    """Raises ConfigError where the library puts a prompt before every text: BERTScore is one of texts without it."""
    if not file.is_file():
        return
    settings = _settings(file)
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts")
    prompt = prompts.get(name) if isinstance(prompts, dict) else None
    if prompt:
        raise ConfigError(
            f"{file}: default_prompt_name is {name!r} ({prompt!r}); a default prompt is not supported. Set it to null, "
            "in a copy of the model, and the cosine is that of the bare texts"
        )


def refuse_lower_case(path: Path, tokenizer: Any) -> None:
    """Raises ConfigError where the library would write every text in lower case, and the tokenizer does not."""
    file = path / TRANSFORMER
    if file.is_file() and _settings(file).get("do_lower_case") and tokenizer.tokenize("A") != tokenizer.tokenize("a"):
        raise ConfigError(
            f"{file}: do_lower_case is true and the tokenizer tells capitals apart, which is not supported. Set it to "
            "false, in a copy of the model, and the cosine is that of the texts as they are written"
        )


def _settings(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises ModelError."""
    try:
        found = json.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: is no JSON ({str(error).splitlines()[0]}); get the model again") from None
    if not isinstance(found, dict):
        raise ModelError(f"{file}: is no object in JSON; get the model again")
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror}; get the model again") from None
