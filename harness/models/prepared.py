"""Prepared models: converted once into a cache, whole or not at all, verified each time they are used."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from harness.errors import ModelError
from harness.models.convert import convert
from harness.models.manifest import MANIFEST, read_manifest, verify, write_manifest
from harness.models.packaged import PACKAGED, PackagedModel
from harness.models.weights import check_model_folder

Say = Callable[[str], None]
Convert = Callable[[PackagedModel, Path, Say], Mapping[str, str]]  # fills the folder; returns package -> version


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedModel:
    """A folder that a serving engine can load."""

    name: str
    path: Path
    licence: str | None  # None: a model of the user's own


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One packaged model, and whether its folder is there (not verified)."""

    model: PackagedModel
    path: Path
    prepared: bool


def default_cache() -> Path:
    """`$TRUEFALL_CACHE/models`, else `~/.cache/truefall/models`."""
    return Path(os.environ.get("TRUEFALL_CACHE") or Path.home() / ".cache" / "truefall") / "models"


def list_models(cache_dir: Path | None = None) -> list[ListedModel]:
    cache = cache_dir or default_cache()
    return [
        ListedModel(model=m, path=cache / n, prepared=(cache / n / MANIFEST).is_file()) for n, m in PACKAGED.items()
    ]


def prepare(
    names: Sequence[str], cache_dir: Path | None = None, progress: Say | None = None, converter: Convert = convert
) -> list[PreparedModel]:
    """The folder of each model: packaged ones are converted if need be, others are found. Raises ModelError."""
    say = progress or (lambda _: None)
    cache = cache_dir or default_cache()
    return [packaged(PACKAGED[name], cache, say, converter) if name in PACKAGED else own(name) for name in names]


def packaged(model: PackagedModel, cache: Path, say: Say, converter: Convert) -> PreparedModel:
    """Verify the prepared folder; make it when it is missing, make it again when it is damaged."""
    path = cache / model.name
    if not is_whole(path):  # a cache that is ready may be read-only
        with writable(cache), locked(cache):
            drop_unfinished(model, cache)
            if not is_whole(path, say=lambda line: say(f"{model.name}: {line}")):
                build(model, path, say, converter)
    return PreparedModel(name=model.name, path=path, licence=model.licence)


def is_whole(path: Path, say: Say | None = None) -> bool:
    """Whether every file of a prepared folder is there with its sha256; says what is wrong with one that is there."""
    try:
        verify(path)
    except ModelError as error:
        if say is not None and path.exists():
            say(str(error))
        return False
    return True


def drop_unfinished(model: PackagedModel, cache: Path) -> None:
    """What a killed process left behind; nobody else is at it while the lock is held."""
    for left in cache.glob(f".{model.name}.*"):
        shutil.rmtree(left, ignore_errors=True)


def twin(model: PackagedModel, cache: Path) -> Path | None:
    """A prepared folder that holds the same weights under another name."""
    alike = (o for o in PACKAGED.values() if o.name != model.name and o.converted_alike(model))
    return next((cache / other.name for other in alike if is_whole(cache / other.name)), None)


def copied(source: Path, folder: Path) -> Mapping[str, str]:
    """The files of a prepared folder; returns its version of each package."""
    for file in source.iterdir():
        if file.name != MANIFEST:
            shutil.copy2(file, folder)
    versions: Mapping[str, str] = read_manifest(source)["packages"]
    return versions


def build(model: PackagedModel, path: Path, say: Say, converter: Convert) -> None:
    """Convert beside `path`, or copy a twin, then rename: an interruption leaves nothing half made."""
    temporary = Path(mkdtemp(prefix=f".{model.name}.", dir=path.parent))
    try:
        source = twin(model, path.parent)
        versions = copied(source, temporary) if source else converter(model, temporary, say)
        write_manifest(
            temporary,
            {
                "name": model.name,
                "upstream": model.upstream,
                "licence": model.licence,
                "packages": dict(versions),
                "source_sha256": model.sha256,
                "dtype": model.dtype,
            },
        )
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
        say(f"{model.name}: ready")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def writable(cache: Path) -> Iterator[None]:
    """Raises ModelError naming the cache when it cannot be written."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{error.filename or cache}: {error.strerror}; models are prepared there (up to 1.5 GB), "
            "or where TRUEFALL_CACHE says"
        ) from None


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """One process at a time prepares; the lock goes with the process. A system without such a lock takes none."""
    cache.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (cache / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def own(name: str) -> PreparedModel:
    """A model folder, or the snapshot of a hub id that is already in the hub's cache. Raises ModelError."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        check_model_folder(folder)
        return PreparedModel(name=name, path=folder.resolve(), licence=None)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        path = Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError, HfHubHTTPError, OSError):
        known = ", ".join(PACKAGED)
        raise ModelError(
            f"model {name!r} is not packaged ({known}), no folder, and not in the hub cache: run `hf download {name}`"
        ) from None
    return PreparedModel(name=name, path=path, licence=None)
