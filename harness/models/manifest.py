"""`truefall-model.json`: what a prepared folder holds, and the check that it still does."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.damaged import why
from harness.errors import ModelError

MANIFEST = "truefall-model.json"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, about: Mapping[str, Any]) -> None:
    """Write `about` and the sha256 of every file of `folder`."""
    files = {p.name: sha256_of(p) for p in sorted(folder.iterdir()) if p.is_file() and p.name != MANIFEST}
    text = json.dumps({**about, "files": files}, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Raises ModelError when it is missing or unreadable."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is missing: prepare the model again") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is damaged ({why(error)}): prepare the model again") from None
    if not isinstance(found, dict) or not isinstance(found.get("files"), dict):
        raise ModelError(f"{path} is damaged (no list of files): prepare the model again")
    return found


def verify(folder: Path) -> dict[str, Any]:
    """The manifest, when every file is there with its sha256. Raises ModelError naming the first file that is not."""
    found = read_manifest(folder)
    for name, wanted in found["files"].items():
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{path} is missing: prepare the model again")
        if sha256_of(path) != wanted:
            raise ModelError(f"{path} is damaged (its sha256 is not the one in {MANIFEST}): prepare the model again")
    return found
