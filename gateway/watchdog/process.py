"""One child process in a group of its own: started, looked at, and ended for certain."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.clock import Clock
from gateway.watchdog.identity import orphan_of, started_of, write_pid

_TAIL_BYTES = 8192
_LOOK_S = 0.02


class ChildProcess:
    """At most one at a time."""

    def __init__(self, *, log_file: Path | None, pid_file: Path | None, stop_s: float, clock: Clock) -> None:
        self._log_file = log_file
        self._pid_file = pid_file
        self._stop_s = stop_s
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._log_from = 0
        self._group_over = True  # nothing of its group is left

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        return None if self._process is None or self.exited else self._process.pid

    @property
    def exited(self) -> bool:
        """There is none, or it is over."""
        return self._process is None or self._process.returncode is not None

    @property
    def exit_code(self) -> int | None:
        """Negative: the signal that ended it."""
        return self._process.returncode if self._process else None

    async def start(self, argv: Sequence[str], *, environment: Mapping[str, str], folder: Path | None) -> None:
        """Raises OSError when it cannot be started."""
        await self.end_orphan(argv)
        with contextlib.ExitStack() as files:
            out: int = asyncio.subprocess.DEVNULL
            if self._log_file is not None:
                self._log_file.parent.mkdir(parents=True, exist_ok=True)
                log = files.enter_context(self._log_file.open("ab"))
                self._log_from = log.tell()
                out = log.fileno()
            self._process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out if self._log_file is not None else asyncio.subprocess.DEVNULL,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
            )
        self._group_over = False
        if self._pid_file is not None:
            self._pid_file.parent.mkdir(parents=True, exist_ok=True)
            write_pid(self._pid_file, self._process.pid)

    async def stop(self) -> None:
        """SIGTERM, then SIGKILL to its whole group; returns when it is over. A stopped process is ended too."""
        process = self._process
        if process is None or self._group_over:  # the id of a group that is over may be a stranger's by now
            return
        if process.returncode is None:
            _signal(process.pid, signal.SIGTERM)
            await self._gone(process, self._stop_s)
        _signal(process.pid, signal.SIGKILL)  # also what it left behind in its group
        await process.wait()
        self._group_over = True

    def last_words(self) -> str:
        """The end of what this start of it printed; '' without a log file."""
        if self._log_file is None:
            return ""
        try:
            with self._log_file.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self._log_from, size - _TAIL_BYTES))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    async def end_orphan(self, argv: Sequence[str]) -> None:
        """End the process that the pid file names, if a gateway that was killed started it."""
        if self._pid_file is None or not self.exited:
            return
        orphan = orphan_of(self._pid_file, argv)
        if orphan is None:
            return
        _signal(orphan.pid, signal.SIGTERM)
        ends_s = self._clock.now_s() + self._stop_s
        while started_of(orphan.pid) == orphan and self._clock.now_s() < ends_s:
            await self._clock.sleep(_LOOK_S)
        _signal(orphan.pid, signal.SIGKILL)  # also what it left behind in its group

    async def _gone(self, process: asyncio.subprocess.Process, within_s: float) -> None:
        ends_s = self._clock.now_s() + within_s
        while process.returncode is None and self._clock.now_s() < ends_s:
            await self._clock.sleep(_LOOK_S)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
