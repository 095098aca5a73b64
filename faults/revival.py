"""How a backend comes back that was killed: plain values, so that another process can do it after a crash."""

import signal
import threading
from pathlib import Path
from subprocess import DEVNULL, Popen

import msgspec

from faults.errors import UndoFailed
from faults.http_call import call
from faults.process import ProcessId

LIMIT_S = 300.0  # a large model takes its time to load
DEATH_LIMIT_S = 10.0
LOOK_S = 0.05


class Revival(msgspec.Struct, frozen=True, kw_only=True):
    """Of a backend that outlives the harness."""

    command: list[str]  # starts it; []: a supervisor does
    folder: str  # where the command is run
    pid_file: str
    health_url: str  # answers 200 when it is up

    @property
    def running(self) -> ProcessId | None:
        """Its process now."""
        try:
            return ProcessId.of(int(Path(self.folder, self.pid_file).read_text("utf-8").strip()))
        except (OSError, ValueError):
            return None

    @property
    def healthy(self) -> bool:
        try:
            return self.running is not None and call("GET", self.health_url).status == 200
        except OSError:
            return False

    def start(self) -> "Popen[bytes] | None":
        """Run the command; None: a supervisor does. Raises UndoFailed when there is no such program.

        Not asyncio's: that one ends a process together with the event loop, and the backend has to stay.
        """
        if not self.command:
            return None
        try:
            return Popen(
                self.command, cwd=self.folder, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise UndoFailed(f"restart = {self.command}: {error.strerror}") from None

    def revive(self, limit_s: float = LIMIT_S) -> None:
        """Start it unless it runs, and wait until it is healthy. Raises UndoFailed when it is not in time."""
        process = self.start() if self.running is None else None
        for _ in range(int(limit_s / LOOK_S)):
            if self.healthy:
                if process is not None and process.poll() is None:
                    process.returncode = 0  # it stays when we end, and nobody here waits for it
                return
            if process is not None and process.poll():
                raise UndoFailed(f"restart = {self.command} ended with exit code {process.returncode}")
            threading.Event().wait(LOOK_S)
        raise UndoFailed(f"{self.health_url}: not healthy {limit_s:g} s after the restart ({self.command})")

    def end(self) -> None:
        """End what runs, and wait until it is gone. Raises UndoFailed when it is not."""
        process = self.running
        if process is None:
            return
        for victim in process.tree():
            victim.send(signal.SIGKILL)
        for _ in range(int(DEATH_LIMIT_S / LOOK_S)):
            if not process.alive:
                return
            threading.Event().wait(LOOK_S)
        raise UndoFailed(f"process {process.pid} did not end within {DEATH_LIMIT_S:g} s of SIGKILL")
