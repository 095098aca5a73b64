"""Which process a pid file means: an id alone may have become a stranger's."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_LINE_BYTES = 256  # of a script's first line, as many as Linux reads
_STATE, _START_TICKS = 0, 19  # among the fields of /proc/<pid>/stat that follow the name


class Started(NamedTuple):
    """One process for all time: no other has the id, the boot and the moment of its start."""

    pid: int
    boot: str
    ticks: int  # since the boot


def write_pid(pid_file: Path, pid: int) -> None:
    """Write the id, and beside it when the process started. Raises OSError."""
    started = started_of(pid)
    beside(pid_file).write_text("" if started is None else f"{pid} {started.boot} {started.ticks}\n", encoding="ascii")
    pid_file.write_text(str(pid), encoding="ascii")


def beside(pid_file: Path) -> Path:
    """The file that says when the process of `pid_file` started."""
    return pid_file.with_name(f"{pid_file.name}.started")


def orphan_of(pid_file: Path, argv: Sequence[str]) -> Started | None:
    """The living process that `pid_file` means; None where there is none, or the id is a stranger's by now.

    Where its start was written down, that decides; else its whole command line has to be `argv`.
    """
    try:
        pid = int(pid_file.read_text("ascii"))
    except (OSError, ValueError):
        return None
    now, then = started_of(pid), _written(pid_file, pid)
    if now is None:
        return None
    is_same = now == then if then is not None else is_command(command_of(pid), argv)
    return now if is_same else None


def _written(pid_file: Path, pid: int) -> Started | None:
    """What stands beside the pid file about this id; None where nothing does."""
    try:
        written, boot, ticks = beside(pid_file).read_text("ascii").split()
        found = Started(int(written), boot, int(ticks))
    except (OSError, ValueError):
        return None
    return found if found.pid == pid else None


def started_of(pid: int) -> Started | None:
    """None when there is no such process, or it is over and only waits to be asked for its exit code."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[_STATE] in (b"Z", b"X") else Started(pid, boot, int(fields[_START_TICKS]))


def command_of(pid: int) -> list[str]:
    """[] when there is no such process, or it is over."""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return raw.decode(errors="replace").removesuffix("\0").split("\0") if raw else []


def is_command(found: Sequence[str], argv: Sequence[str]) -> bool:
    """Whether a process with the words `found` was started as `argv`; a script has its interpreter before them."""
    file = shutil.which(argv[0])
    starts = [[argv[0]]] if file is None else [[argv[0]], [*interpreter_of(Path(file)), file]]
    return list(found) in [[*start, *argv[1:]] for start in starts]


def interpreter_of(file: Path) -> list[str]:
    """The words that the system puts before a script's own; [] for what is none."""
    try:
        with file.open("rb") as script:
            first = script.readline(_LINE_BYTES).decode(errors="replace")
    except OSError:
        return []
    if not first.startswith("#!"):
        return []
    interpreter, *more = first.removeprefix("#!").split(maxsplit=1) or [""]
    if Path(interpreter).name == "env":  # it is gone by the time, and what it was given is there
        return [word for word in more[0].split() if word != "-S"] if more else []
    return [interpreter, *(word.strip() for word in more)]
