"""Manifests from a file or a folder, a mounted ConfigMap too, read as of one moment."""

from errno import ELOOP
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from gateway.errors import ConfigError
from gateway.policies.manifest import DegradationPolicy
from gateway.policies.yaml_file import parse

_ENDINGS = (".yaml", ".yml", ".json")
_MAX_BYTES = 1_048_576  # as much as a ConfigMap holds
_SNAPSHOT = "..data"  # the link that Kubernetes swaps when a ConfigMap changes

Stamp = tuple[tuple[str, int, int, int], ...]


class Loaded(NamedTuple):
    """What was read: the manifests, and a digest that differs whenever the text does."""

    manifests: tuple[DegradationPolicy, ...]
    digest: str
    empty: str | None = None  # a file without a word, not even a comment; None: there is none


def load(path: Path) -> Loaded:
    """Raises ConfigError naming file and line; OSError where nothing can be read."""
    digest, empty = sha256(), None
    manifests: list[DegradationPolicy] = []
    for name, file in _files(path):
        raw = file.read_bytes()
        if len(raw) > _MAX_BYTES:
            raise ConfigError(f"{name}: {len(raw)} bytes, at most {_MAX_BYTES}")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise ConfigError(f"{name}: not UTF-8 at byte {error.start}") from None
        digest.update(f"{name}\0{len(raw)}\0".encode() + raw)
        manifests += parse(text, source=name)
        if not text.strip():
            empty = name
    return Loaded(tuple(manifests), digest.hexdigest(), empty)


def stamp(path: Path) -> Stamp | None:
    """Changes whenever a file does, or the link to it; None while nothing can be read."""
    try:
        return tuple(
            (name, status.st_mtime_ns, status.st_ino, status.st_size)
            for name, file in _files(path)
            for status in (file.stat(),)
        )
    except OSError:
        return None


def _files(path: Path) -> list[tuple[str, Path]]:
    """The name to show and the file to read. A ConfigMap's link is followed once, so that all files are of one swap."""
    if not path.is_dir():
        path.stat()
        return [(str(path), path)]
    snapshot = path / _SNAPSHOT
    folder = _followed(snapshot) if snapshot.is_symlink() else path
    names = sorted(one.name for one in folder.iterdir() if one.suffix in _ENDINGS and not one.name.startswith("."))
    return [(str(path / name), folder / name) for name in names]


def _followed(link: Path) -> Path:
    """Raises OSError where it leads nowhere, or back to itself."""
    try:
        return link.resolve(strict=True)
    except RuntimeError:
        raise OSError(ELOOP, "a link that leads back to itself", str(link)) from None
