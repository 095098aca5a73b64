"""Which copy of the weights is whole, by the checksums that each copy brings along."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gateway.damaged import DAMAGED

MANIFEST = "truefall-model.json"
SUMS = "SHA256SUMS"  # "<sha256>  <file>" per line, as sha256sum writes it


class Verified(NamedTuple):
    """`folder`: the first whole copy, None when there is none; `damaged`: what is wrong with those before it."""

    folder: Path | None
    damaged: tuple[str, ...]


def first_whole(copies: Sequence[Path]) -> Verified:
    """Look at the copies in their order; reads every byte of the files up to the first whole copy."""
    damaged: list[str] = []
    for folder in copies:
        problem = problem_of(folder)
        if problem is None:
            return Verified(folder, tuple(damaged))
        damaged.append(problem)
    return Verified(None, tuple(damaged))


def problem_of(folder: Path) -> str | None:
    """What is wrong with a folder of weights, in one line; None when every checksum holds."""
    try:
        sums = _sums(folder)
        for name, wanted in sums.items():
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != wanted:
                return f"{folder / name} is damaged: its sha256 is {found[:12]}…, must be {wanted[:12]}…"
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror}"
    return None if sums else f"{folder} has no checksums: {MANIFEST} or {SUMS} must name its files"


def _sums(folder: Path) -> Mapping[str, str]:
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            return msgspec.json.decode(manifest.read_bytes(), type=_Manifest).files
        except DAMAGED:
            return {}
    sums = folder / SUMS
    if not sums.is_file():
        return {}
    lines = [line.split(maxsplit=1) for line in sums.read_text("utf-8", "replace").splitlines() if line.strip()]
    return {parts[1].lstrip("*"): parts[0].lower() for parts in lines if len(parts) == 2}


class _Manifest(msgspec.Struct):
    files: dict[str, str]
