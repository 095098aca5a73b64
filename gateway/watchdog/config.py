"""What the watchdog is told about one local backend."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gateway.section import Count, Name, Positive, Section

Command = Annotated[tuple[str, ...], Meta(min_length=1)]
Cause = Literal["kernel", "memory", "any"]


class Launch(Section, frozen=True, kw_only=True):
    """Another way to start, for when the usual one fails: another attention kernel, a lower precision."""

    name: Name
    after: Cause = "any"  # used after an attention kernel's failure, after memory ran out, or after any failed start
    command: Command
    environment: dict[str, str] = msgspec.field(default_factory=dict)


class WatchdogConfig(Section, frozen=True, kw_only=True):
    """How to start the backend's process and how to tell that it is well.

    In a command `{weights}` stands for the folder that was verified, `{weights_name}` for its last part.
    """

    command: Command
    environment: dict[str, str] = msgspec.field(default_factory=dict)  # added to the gateway's own
    working_dir: Path | None = None  # None: the folder that holds the weights, else the gateway's own
    weights: tuple[Path, ...] = ()  # the folder, then redundant copies; each holds its own checksums
    degraded: tuple[Launch, ...] = ()  # tried in this order
    log_file: Path | None = None  # what the process prints; None: nowhere, and then no cause is read from it
    pid_file: Path | None = (
        None  # lets the next start end a process that outlived its gateway; when it started is beside
    )
    health_path: Annotated[str, Meta(pattern=r"^/")] = "/health"
    start_timeout_s: Positive = 120.0
    probe_s: Positive = 2.0
    probe_timeout_s: Positive = 5.0
    hung_after: Count = 3  # probes in a row without an answer
    kernel_failures: Count = 2  # answers in a row that failed in an attention kernel
    memory_failures: Count = 3  # answers in a row that say that memory ran out; counts where a launch is for that
    back_off_s: Positive = 1.0  # before the first restart; doubled each time
    max_back_off_s: Positive = 60.0
    stable_s: Positive = 60.0  # up for so long: the back-off begins again
    retry_usual_s: Positive = 600.0  # a degraded launch is kept for so long; the next restart then tries the usual one
    stop_s: Positive = 5.0  # between SIGTERM and SIGKILL

    def __post_init__(self) -> None:
        if self.back_off_s > self.max_back_off_s:
            raise ValueError(f"back_off_s is {self.back_off_s:g}, at most max_back_off_s, {self.max_back_off_s:g}")
        uses = any("{weights" in part for command in (self.command, *self.commands()) for part in command)
        if uses and not self.weights:
            raise ValueError("a command names {weights}, but weights is empty")

    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Those of the degraded launches."""
        return tuple(launch.command for launch in self.degraded)

    def under(self, folder: Path) -> "WatchdogConfig":
        """With relative paths taken from `folder`."""

        def rooted(path: Path | None) -> Path | None:
            return None if path is None else folder / path

        return msgspec.structs.replace(
            self,
            working_dir=rooted(self.working_dir),
            weights=tuple(folder / path for path in self.weights),
            log_file=rooted(self.log_file),
            pid_file=rooted(self.pid_file),
        )
