"""Where the gateway keeps what is to outlive it: each such file is known to be writable before the gateway listens."""

import os
from collections.abc import Iterator
from pathlib import Path

from gateway.config import Config
from gateway.errors import ConfigError


def state_files(config: Config) -> Iterator[tuple[str, Path]]:
    """Key and file of all that the config names and the gateway writes."""
    named: list[tuple[str, Path | None]] = [
        ("deferred.path", config.deferred.path),
        ("answers.cache_file", config.answers.cache_file),
        ("answers.review_db", config.answers.review_db),
        ("telemetry.drift_baseline", config.telemetry.drift_baseline),
    ]
    for backend in config.backends:
        if backend.watchdog is not None:
            key = f"backends.{backend.name}.watchdog"
            named += [(f"{key}.log_file", backend.watchdog.log_file), (f"{key}.pid_file", backend.watchdog.pid_file)]
    yield from ((key, file) for key, file in named if file is not None)


def require_writable(config: Config) -> None:
    """Raises ConfigError, naming key and file, where one is or would have to be something else than a file.

    Folders that are not there yet are made by whoever writes first, so that looking changes nothing.
    """
    for key, file in state_files(config):
        try:
            why = _hindrance(file)
        except OSError as error:
            why = error.strerror or str(error)
        if why is not None:
            raise ConfigError(
                f"{key} = {str(file)!r} cannot be written: {why}; name a file in a folder of the gateway's"
            )


def _hindrance(file: Path) -> str | None:
    """What stands against writing `file`; None where nothing does. Raises OSError where that cannot be seen."""
    if file.exists():
        if not file.is_file():
            return "it is there, and is no file"
        return None if os.access(file, os.W_OK) else "it is read-only here"
    folder = file.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"nothing may be made in {folder}"
