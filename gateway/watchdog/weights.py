"""Which copy of the weights is whole, by the checksums that each copy brings along."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gateway.damaged import DAMAGED
from gateway.errors import GatewayError

MANIFEST = "truefall-model.json"
SUMS = "SHA256SUMS"  # "<sha256>  <file>" per line, as sha256sum writes it; blank lines and those from # on say nothing
_LINE = re.compile(r"(?P<sha256>[0-9a-fA-F]{64})[ \t]+\*?(?P<name>[^ \t*].*)")
_WEIGHTS = frozenset({".safetensors", ".bin", ".gguf", ".pt", ".pth"})
_SHOWN_CHARS = 90


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
    """What is wrong with a folder of weights, in one line; None when every checksum holds and none is missing."""
    try:
        sums = _sums(folder)
        for name, wanted in sums.items():
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != wanted:
                return f"{folder / name} is damaged: its sha256 is {found[:12]}…, must be {wanted[:12]}…"
        return _unnamed(folder, sums)
    except _Unreadable as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror}"


def _unnamed(folder: Path, sums: Mapping[str, str]) -> str | None:
    if not sums:
        return f"{folder} has no checksums: {MANIFEST} or {SUMS} must name its files"
    named = {folder / name for name in sums}
    for file in sorted(folder.iterdir()):
        if file.suffix in _WEIGHTS and file not in named:
            return f"{file} has no checksum: {MANIFEST} or {SUMS} must name it, or take the file away"
    return None


def _sums(folder: Path) -> Mapping[str, str]:
    """File name -> sha256; empty where there is no list. Raises _Unreadable."""
    manifest = folder / MANIFEST
    if manifest.is_file():
        try:
            return msgspec.json.decode(manifest.read_bytes(), type=_Manifest).files
        except DAMAGED:
            return {}
    sums = folder / SUMS
    if not sums.is_file():
        return {}
    lines = sums.read_text("utf-8", "replace").splitlines()
    return dict(_named(sums, number, line) for number, line in enumerate(lines, 1) if line.split("#")[0].strip())


def _named(sums: Path, number: int, line: str) -> tuple[str, str]:
    found = _LINE.fullmatch(line.strip())
    if found is None:
        raise _Unreadable(
            f"{sums} is damaged: line {number} is {line.strip()[:_SHOWN_CHARS]!r}, must be a sha256 and a file's name; "
            "fetch it again, or write it with sha256sum"
        )
    return found["name"], found["sha256"].lower()


class _Unreadable(GatewayError):  # noqa: N818 - it says what is so
    """A line that says nothing: the list itself is damaged."""


class _Manifest(msgspec.Struct):
    files: dict[str, str]
