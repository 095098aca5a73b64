"""A run folder: what a run wrote, row by row, so that an interrupted run keeps what it has."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeVar

from gateway.damaged import why
from harness.errors import ResultError
from harness.trial import NO_FAULT, Begun, Block, Trial, attempts_of
from harness.whole_file import write_whole

R = TypeVar("R")
KILLED = (
    "the run was killed or interrupted, so what else it was to do is not there; go on with --resume, or make a new run"
)
NEVER_ENDED = "begun and never ended; go on with --resume, which begins it again, or make a new run"


@dataclass(slots=True)
class OpenSession:
    """A session of experiments while it lasts."""

    interrupted: bool = False  # by somebody or something, where no exception comes to tell it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFolder:
    """`results/<utc>-<sha>-<seed>/` and the files in it."""

    path: Path

    @property
    def meta_file(self) -> Path:
        return self.path / "run.json"

    @property
    def trials_file(self) -> Path:
        return self.path / "trials.jsonl"

    @property
    def blocks_file(self) -> Path:
        return self.path / "blocks.jsonl"

    @property
    def begun_file(self) -> Path:
        return self.path / "begun.jsonl"

    @property
    def sessions_file(self) -> Path:
        return self.path / "sessions.jsonl"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def journal(self) -> Path:
        """Where faults write how to undo them, before they are applied."""
        return self.path / "journal"

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, Any]) -> Self:
        """Make the folder and its `run.json`. Raises ResultError when it exists or cannot be written."""
        folder = cls(path=path)
        try:
            path.mkdir(parents=True)
            folder.logs.mkdir()
            folder.journal.mkdir()
            folder.write_json("run.json", meta)
        except FileExistsError:
            raise ResultError(f"{path}: this run folder exists; use --resume {path} to go on with it") from None
        except OSError as error:
            shutil.rmtree(path, ignore_errors=True)  # it is not there, or made here a moment ago
            raise ResultError(
                f"{path}: cannot write the run folder: {error.strerror}; choose another with --results"
            ) from None
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises ResultError when the folder is not one that a run wrote."""
        folder = cls(path=path)
        if not folder.meta_file.is_file():
            raise ResultError(f"{path}: not a run folder: run.json is missing; give one of the folders under results/")
        return folder

    def discard_unused(self) -> None:
        """Remove a folder that was made for nothing: no server started, no row written."""
        used = [self.begun_file, self.trials_file, self.blocks_file, *self.logs.iterdir(), *self.journal.iterdir()]
        if not any(file.exists() for file in used):
            shutil.rmtree(self.path, ignore_errors=True)

    def meta(self) -> dict[str, Any]:
        """Raises ResultError when `run.json` is not a JSON object."""
        try:
            meta = json.loads(self.meta_file.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ResultError(f"{self.meta_file}: cannot be read: {why(error)}") from None
        if not isinstance(meta, dict):
            raise ResultError(f"{self.meta_file}: need an object, got {type(meta).__name__}")
        return meta

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write a file whole or not at all. Raises OSError when there is no room."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        write_whole(self.path / name, text)

    def append(self, trial: Trial) -> None:
        """Add a row and force it to the disk. Raises ResultError when there is no room."""
        append_row(self.trials_file, trial.to_row())

    def begin_block(self, begun: Begun) -> None:
        """Say that a fault is about to be injected: a block that is never closed is then known without any trial."""
        append_row(self.begun_file, begun._asdict())

    def close_block(self, block: Block) -> None:
        """Say how a block ended; only then, and unless it was cut short, do its trials count."""
        append_row(self.blocks_file, block.to_row())

    @contextmanager
    def session(self) -> Iterator[OpenSession]:
        """Note that experiments begin, and that they came to their end: a run that is stopped between two is known.

        No end is noted where an exception comes, or where `interrupted` is set on what this yields.
        """
        append_row(self.sessions_file, {"session": "began", "at": now_utc()})
        session = OpenSession()
        yield session
        if not session.interrupted:
            append_row(self.sessions_file, {"session": "ended", "at": now_utc()})

    def killed(self) -> list[Block]:
        """What stands for the blocks that the last session did not come to, where it never ended; else nothing."""
        notes = [row.get("session") for row in read_rows(self.sessions_file)]
        if notes[-1:] != ["began"]:
            return []
        return [replace(Begun("session", "session", NO_FAULT, None).cut_short(0, KILLED), error=KILLED)]

    def written(self, block_id: str) -> int:
        """How many trials of a block there are, whether it counts or not."""
        return sum(row.get("block") == block_id for row in read_rows(self.trials_file))

    def new_block_id(self, wanted: str) -> str:
        """`wanted`, or `wanted.1`, `wanted.2`, … when earlier attempts at the same block left rows behind."""
        taken = {str(row.get("block")) for file in (self.trials_file, self.begun_file) for row in read_rows(file)}
        taken |= {str(row.get("id")) for row in read_rows(self.blocks_file)}
        attempts = (f"{wanted}.{attempt}" if attempt else wanted for attempt in count())
        return next(block_id for block_id in attempts if block_id not in taken)

    def blocks(self) -> list[Block]:
        """Those that were closed; of several attempts at one (the first failed, then the run was resumed) the last."""
        found: dict[str, Block] = {}
        for block in read_as(Block.from_row, self.blocks_file):
            found[first_attempt(block.id)] = block
        return list(found.values())

    def open_blocks(self) -> list[Block]:
        """Those that were begun, never closed and not begun again: the run was killed, or another one is at it."""
        closed = {first_attempt(block.id): block.attempts for block in self.blocks()}
        rows = (row for file in (self.begun_file, self.trials_file) for row in read_rows(file))
        found: dict[str, Block] = {}
        for begun in dict.fromkeys(map(Begun.of, rows)):
            place = first_attempt(begun.block)
            earlier = found[place].attempts if place in found else closed.get(place, 0)
            if attempts_of(begun.block) > earlier:
                found[place] = begun.cut_short(self.written(begun.block), NEVER_ENDED)
        return list(found.values())

    def known_blocks(self) -> list[Block]:
        """All that is known of the run's blocks: those that were closed, that never were, and that were not come to."""
        return [*self.blocks(), *self.open_blocks(), *self.killed()]

    def trials(self) -> list[Trial]:
        """The trials of whole blocks. A block that was cut short proves nothing about its fault and is run again.

        Raises ResultError when an id stands twice among them: which of the two answers counts is not known.
        """
        whole = {block.id for block in self.blocks() if not block.cut_short}
        found: dict[str, Trial] = {}
        for trial in read_as(Trial.from_row, self.trials_file):
            if trial.block not in whole:
                continue
            if trial.id in found:
                places = " and ".join(dict.fromkeys([found[trial.id].block, trial.block]))
                raise ResultError(
                    f"{self.trials_file}: trial {trial.id!r} stands there twice (block {places}), as where two runs "
                    "wrote into one folder; nothing can be told from it, make a new run"
                )
            found[trial.id] = trial
        return list(found.values())


def now_utc() -> str:
    """The time of now, as ISO 8601 writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def first_attempt(block_id: str) -> str:
    """`latency-primary#0` of `latency-primary#0.2`."""
    name, mark, number = block_id.rpartition("#")
    return f"{name}{mark}{number.partition('.')[0]}"


def append_row(file: Path, row: Mapping[str, Any]) -> None:
    """Append one JSON line and force it to the disk. Raises ResultError when there is no room."""
    line = line_of(row)
    try:
        drop_cut_line(file)
        with file.open("ab") as out:
            out.write(line)
            out.flush()
            os.fsync(out.fileno())
    except OSError as error:
        raise ResultError(f"{file}: cannot write: {error.strerror}; free some space and go on with --resume") from None


def line_of(row: Mapping[str, Any]) -> bytes:
    """One line of UTF-8; half a surrogate pair stays as JSON escapes it."""
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def drop_cut_line(file: Path) -> None:
    """Cut away what a killed writer left behind the last newline."""
    if not file.is_file() or not file.stat().st_size:
        return
    with file.open("rb+") as rows:
        rows.seek(-1, os.SEEK_END)
        if rows.read(1) == b"\n":
            return
        rows.seek(0)
        rows.truncate(rows.read().rfind(b"\n") + 1)


def read_as(from_row: Callable[[dict[str, Any]], R], file: Path) -> Iterator[R]:
    """Rows of a file as values. Raises ResultError with the file and the row that is none."""
    for row in read_rows(file):
        try:
            yield from_row(row)
        except ResultError as error:
            raise ResultError(f"{file}: {error}; mend the row, or make a new run") from None


def read_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Rows of a JSON-lines file; only the very last line may be broken. Raises ResultError with the line."""
    if not file.is_file():
        return
    lines = file.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            row = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise ResultError(f"{file}, line {number}: not JSON: {why(error)}") from None
        if not isinstance(row, dict):
            raise ResultError(f"{file}, line {number}: need an object, got {type(row).__name__}")
        yield row
