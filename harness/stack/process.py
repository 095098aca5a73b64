"""Child processes that never outlive the harness: their own session, a log file, and death with the parent."""

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from faults.parent import ask_for_death_signal
from gateway.clock import Clock
from harness.errors import StackError

STOP_GRACE_S = 5.0


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux; elsewhere nothing)."""
    ask_for_death_signal(signal.SIGKILL)


@dataclass(slots=True, kw_only=True)
class Child:
    """One server process."""

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    process: "subprocess.Popen[bytes] | None" = None
    log_begins_at: int = 0  # what stands before it in the log is an earlier process's (a restart, a resumed run)

    @property
    def pid(self) -> int | None:
        """None when it does not run."""
        if self.process is None or self.process.poll() is not None:
            return None
        return self.process.pid

    def start(self) -> None:
        """Raises StackError when the program is not there."""
        with self.log.open("ab") as log:
            self.log_begins_at = log.tell()
            try:
                self.process = subprocess.Popen(
                    self.argv,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    cwd=self.cwd,
                    env={**os.environ, **self.env},
                    start_new_session=True,
                    preexec_fn=die_with_parent,  # noqa: PLW1509  (only a system call; nothing else keeps the promise)
                )
            except OSError as error:
                raise StackError(f"{self.name}: cannot start {self.argv[0]!r}: {error.strerror}") from None

    async def wait_until(self, ready: Callable[[], Awaitable[bool]], *, timeout_s: float, clock: Clock) -> None:
        """Poll `ready` until it holds. Raises StackError with the end of the log when it does not in time."""
        deadline_s = clock.now_s() + timeout_s
        while not await ready():
            if self.pid is None:
                raise StackError(f"{self.name} ended while starting (see {self.log}): {self.last_words()}")
            if clock.now_s() > deadline_s:
                raise StackError(
                    f"{self.name} was not healthy within {timeout_s:g} s (see {self.log}): {self.last_words()}"
                )
            await clock.sleep(0.1)

    def said(self) -> str:
        """What this process has written to its log so far."""
        with self.log.open("rb") as log:
            log.seek(self.log_begins_at)
            return log.read().decode("utf-8", "replace")

    def last_words(self) -> str:
        """The last line of its log that says something."""
        lines = [line.strip() for line in self.said().splitlines() if line.strip()]
        return lines[-1][-300:] if lines else "its log is empty"

    def kill(self) -> None:
        """SIGKILL to the whole process group; also ends a stopped process."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """SIGTERM, and SIGKILL for whoever stays."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGCONT)
            os.killpg(self.process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(grace_s)
        self.kill()


class Ready:
    """Whether a server answers 200 at `url`."""

    def __init__(self, url: str, *, timeout_s: float = 2.0) -> None:
        self.url = url
        self.timeout_s = timeout_s

    async def __call__(self) -> bool:
        import aiohttp

        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.timeout_s)) as session,
                session.get(self.url) as response,
            ):
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
