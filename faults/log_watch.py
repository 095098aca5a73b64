"""Counting what a backend's log says from now on."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from faults.fault import Firing, Sleeper

FIRST_LINE_S = 2.0  # a busy machine may take so long from an answer to the line that says why it failed
QUIET_S = 0.3  # without a further line for so long, the last one was the last
MOST_S = 5.0  # of waiting, whatever comes
LOOK_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWatch:
    """A log file, where it ended when the watch began, and what is looked for."""

    log: Path | None
    start: int  # bytes
    pattern: str

    @classmethod
    def begin(cls, log: Path | None, pattern: str) -> Self:
        size = log.stat().st_size if log is not None and log.exists() else 0
        return cls(log=log, start=size, pattern=pattern)

    def lines(self) -> list[str]:
        """Lines since then that match; a log that is shorter now was begun anew and counts from its beginning."""
        if self.log is None or not self.log.exists():
            return []
        with self.log.open("rb") as file:
            if self.log.stat().st_size >= self.start:
                file.seek(self.start)
            text = file.read().decode("utf-8", "replace")
        return [line.strip() for line in text.splitlines() if re.search(self.pattern, line)]

    async def settle(self, clock: Sleeper) -> None:
        """Wait for lines that are on their way: an engine answers first, and logs then why it failed.

        What is read without this may lack its last line, and whoever watches next would count it as its own.
        """
        if self.log is None:
            return
        begun_s = last_s = clock.now_s()
        found = len(self.lines())
        while clock.now_s() - last_s < (QUIET_S if found else FIRST_LINE_S) and clock.now_s() - begun_s < MOST_S:
            await clock.sleep(LOOK_S)
            if (count := len(self.lines())) != found:
                found, last_s = count, clock.now_s()

    def prove(self, firing: Firing, what: str) -> None:
        """Fill the firing with the matching lines."""
        if self.log is None:
            firing.evidence.append(f"{what}: not proved, the backend's log is not known")
            return
        lines = self.lines()
        firing.touched = len(lines)
        firing.evidence.append(f"{len(lines)} {what} in {self.log.name}")
        firing.evidence.extend(line[:200] for line in lines[:5])
