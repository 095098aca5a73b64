"""Whether the files of a model folder are whole, as far as their headers tell; nothing is loaded."""

import json
from pathlib import Path
from typing import Any

from gateway.damaged import why
from harness.errors import ModelError

HEADER_BYTES = 8  # of a safetensors file: the length of its JSON header
MOST_HEADER_BYTES = 100_000_000
INDEX = "model.safetensors.index.json"


def check_model_folder(folder: Path) -> None:
    """Raises ModelError naming the first file that is missing or damaged."""
    read_object(folder / "config.json")
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt")):
        raise ModelError(f"{folder / 'tokenizer.json'} is missing: {folder} is no whole model folder")
    for name in named_by_index(folder):
        if not (folder / name).is_file():
            raise ModelError(f"{folder / name} is missing, but {INDEX} names it: get the model again")
    found = sorted(folder.glob("*.safetensors"))
    if not found and not list(folder.glob("*.bin")):
        raise ModelError(f"{folder} holds no weights: need *.safetensors or *.bin")
    for file in found:
        check_safetensors(file)


def named_by_index(folder: Path) -> list[str]:
    if not (folder / INDEX).is_file():
        return []
    parts = read_object(folder / INDEX).get("weight_map")
    return sorted({str(name) for name in parts.values()}) if isinstance(parts, dict) else []


def read_object(file: Path) -> dict[str, Any]:
    """Raises ModelError when a file of the model is not a JSON object."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file} is missing: get the model again") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{file} is damaged: {why(error)}") from None
    if not isinstance(found, dict):
        raise ModelError(f"{file} is damaged: need a JSON object, got {type(found).__name__}")
    return found


def check_safetensors(file: Path) -> None:
    """Raises ModelError unless the file is as long as its header says."""
    size = file.stat().st_size
    with file.open("rb") as weights:
        length = int.from_bytes(weights.read(HEADER_BYTES), "little")
        if not 2 <= length <= min(size, MOST_HEADER_BYTES):
            raise ModelError(f"{file} is damaged: it does not begin as a safetensors file: get the model again")
        try:
            header = json.loads(weights.read(length))
            ends = [int(about["data_offsets"][1]) for name, about in header.items() if name != "__metadata__"]
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            raise ModelError(f"{file} is damaged: its header is not readable: get the model again") from None
    whole = HEADER_BYTES + length + max(ends, default=0)
    if size != whole:
        raise ModelError(f"{file} is damaged: it has {size} bytes and should have {whole}: get the model again")
