"""Faults that outlive a run: an earlier one's are undone and told, and one that this run leaves on is shouted."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from faults.already_on import already_on
from faults.errors import FaultError
from faults.fault import Target
from faults.journal import Journal, sweep
from faults.undo import GONE
from harness.errors import StackError
from harness.store import RunFolder

STILL_ON_CODE = 4  # exit code of a run that could not undo a fault
UNDO_FAILED = "UndoFailed"  # how such a block's error begins


def sweep_leftovers(folder: RunFolder) -> list[str]:
    """Undo what dead runs left on, in this folder and in those beside it; what was found goes to `run.json`.

    A record whose target is gone (a stack that died with its run) is struck out and counts for nothing. Raises
    StackError when something cannot be undone.
    """
    found = [line for journal in journals(folder) for line in swept(journal)]
    note_leftovers(folder, found)
    return found


def journals(folder: RunFolder) -> list[Path]:
    """This run's own, then its neighbours'."""
    beside = (path for path in folder.path.resolve().parent.glob("*/journal") if (path.parent / "run.json").is_file())
    return list(dict.fromkeys([folder.journal.resolve(), *sorted(beside)]))


def swept(journal: Path) -> list[str]:
    try:
        return [
            f"{entry.target}: {entry.undo.resource}: {outcome}" for entry, outcome in sweep(journal) if outcome != GONE
        ]
    except FaultError as error:
        raise StackError(f"{journal}: a fault of an earlier run is still on: {error}") from None


def find_foreign(folder: RunFolder, targets: Iterable[Target]) -> list[str]:
    """Faults that are on before the first injection and that no journal knows; what was found goes to `run.json`."""
    found = [line for target in targets for line in already_on(target)]
    note_leftovers(folder, found)
    return found


def note_leftovers(folder: RunFolder, found: Sequence[str]) -> None:
    """A run that began with a fault of somebody else's is never conclusive, however often it is resumed."""
    if found:
        meta = folder.meta()
        folder.write_json("run.json", {**meta, "leftovers": [*leftovers_of(meta), *found]})


def leftovers_of(meta: dict[str, object]) -> list[str]:
    """What was still on when the run began."""
    found = meta.get("leftovers") or []
    return [str(line) for line in found] if isinstance(found, list) else []


def undo_failed(error: str | None) -> bool:
    """Whether a block ended with its fault still on; then there is no recovery to wait for."""
    return (error or "").startswith(UNDO_FAILED)


def still_on(folder: RunFolder) -> list[str]:
    """What this run could not undo: records that are left in its journal, and blocks whose undo failed."""
    try:
        left = [f"{entry.target}: {entry.undo.resource}" for entry in Journal(folder=folder.journal).entries()]
    except FaultError as error:
        left = [str(error)]
    failed = [f"{block.id}: {block.error}" for block in folder.blocks() if undo_failed(block.error)]
    return left or failed


def shout(left: Sequence[str], folder: RunFolder, say: Callable[[str], object]) -> None:
    """The loudest line of a run."""
    bar = "!" * 100
    say(f"{bar}\nA FAULT IS STILL ON: {'; '.join(left)}\nundo it: truefall faults sweep {folder.path}\n{bar}")
