"""The undo journal: what is about to be changed is on disk before it is changed, and gone when it is undone.

One file per fault, one JSON line in it. Whoever starts next sweeps the folder: what a dead process left is undone.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self
from uuid import uuid4

import msgspec

from faults.errors import FaultError, UndoFailed
from faults.fault import Target
from faults.process import ProcessId, own_process
from faults.undo import Killed, Undo


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One fault that is on."""

    id: str
    owner: ProcessId  # the process that will undo it
    target: str  # the backend's name
    undo: Undo


class Swept(NamedTuple):
    """What a sweep did with one leftover."""

    entry: Entry
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The records in one folder."""

    folder: Path

    @classmethod
    def of(cls, target: Target) -> Self:
        return cls(folder=target.journal or Path(tempfile.gettempdir()) / f"truefall-faults-{os.getuid()}")

    @contextmanager
    def undoing(self, target: str, undo: Undo) -> Iterator[None]:
        """Record, run the block, settle, strike out; raises UndoFailed when that fails, and keeps the record."""
        entry = self.write(target, undo)
        try:
            yield
        finally:
            self.settle(entry)

    def write(self, target: str, undo: Undo) -> Entry:
        """On disk when this returns."""
        return self._on_disk(Entry(id=uuid4().hex, owner=own_process(), target=target, undo=undo))

    def rewrite(self, entry: Entry, undo: Undo) -> Entry:
        """More has become known of a fault that is on."""
        return self._on_disk(msgspec.structs.replace(entry, undo=undo))

    def _on_disk(self, entry: Entry) -> Entry:
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"{entry.id}.{entry.owner.pid}-{entry.owner.started}.draft"
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(entry) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self._path(entry))
        self._sync_folder()
        return entry

    def settle(self, entry: Entry) -> str:
        """Undo, then strike out. Twice is harmless."""
        others = self.others(entry.undo, but=entry)
        outcome = entry.undo.settle(others)
        self.strike(entry)
        return outcome

    def strike(self, entry: Entry) -> None:
        """It is undone."""
        self._path(entry).unlink(missing_ok=True)

    def entries(self) -> list[Entry]:
        """The records in the order of their names; raises UndoFailed when one cannot be read."""
        return [entry for path in sorted(self.folder.glob("*.jsonl")) if (entry := _read(path)) is not None]

    def others(self, undo: Undo, *, but: Entry | None = None) -> list[Undo]:
        """What is on now, on the same resource."""
        entries = [entry for entry in self.entries() if but is None or entry.id != but.id]
        return [entry.undo for entry in entries if entry.undo.resource == undo.resource]

    def _path(self, entry: Entry) -> Path:
        return self.folder / f"{entry.id}.jsonl"

    def _sync_folder(self) -> None:
        with _opened(self.folder) as handle:
            os.fsync(handle)

    @contextmanager
    def swept_by_us_alone(self) -> Iterator[None]:
        """Two who sweep at once would start one backend twice; the lock goes with whoever has it."""
        with _opened(self.folder) as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def drop_drafts(self) -> None:
        """The fault of a draft was never applied; one of a living process may be on its way."""
        for draft in self.folder.glob("*.draft"):
            pid, _, started = draft.name.split(".")[1].partition("-")
            if not (pid.isdigit() and started.isdigit() and ProcessId(pid=int(pid), started=int(started)).alive):
                draft.unlink(missing_ok=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


def _read(path: Path) -> Entry | None:
    """None: it was struck out meanwhile."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Entry)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise UndoFailed(f"{path}: not an undo record: {error}; undo by hand and remove the file") from None


def sweep(folder: Path) -> list[Swept]:
    """Undo what dead processes left on; a fault whose owner still lives is left alone.

    Raises UndoFailed when one or more could not be undone, after the others have been.
    """
    journal = Journal(folder=folder)
    if not folder.is_dir():
        return []
    with journal.swept_by_us_alone():
        journal.drop_drafts()
        return _swept(journal)


def _swept(journal: Journal) -> list[Swept]:
    swept: list[Swept] = []
    failures: list[str] = []
    # A process comes back last, when nothing is on any more that it would start with.
    for entry in sorted(journal.entries(), key=lambda entry: isinstance(entry.undo, Killed)):
        if entry.owner.alive:
            continue
        try:
            swept.append(Swept(entry, journal.settle(entry)))
        except FaultError as error:
            failures.append(f"{entry.target}: {error}")
    if failures:
        raise UndoFailed("; ".join(failures))
    return swept
