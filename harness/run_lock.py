"""One writer per run folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import ResultError
from harness.store import RunFolder

LOCK_FILE = "writer.lock"


@contextmanager
def only_writer(folder: RunFolder) -> Iterator[None]:
    """Hold the folder for this process; the kernel lets go of it when the process ends, however it does.

    Raises ResultError where another one holds it, or the folder cannot be written.
    """
    path = folder.path / LOCK_FILE
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ResultError(f"{path}: cannot write: {error.strerror}") from None
    try:
        take(file, folder)
        yield
    finally:
        os.close(file)


def take(file: int, folder: RunFolder) -> None:
    """Lock an open file and write into it who has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(file, 20).decode("ascii", "replace").strip() or "another one"
        raise ResultError(
            f"{folder.path}: process {holder} is writing this run folder; wait until it has ended, or use another"
        ) from None
    except OSError as error:
        raise ResultError(f"{folder.path / LOCK_FILE}: cannot be locked: {error.strerror}") from None
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
