"""What the terminal shows during a run: one line that is rewritten, or plain lines where there is no terminal."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Self, TextIO

from gateway.clock import Clock
from harness.trial import Trial

PLAIN_EVERY_S = 10.0


@dataclass(slots=True, kw_only=True)
class ProgressBar:
    """Called with each trial as it ends."""

    clock: Clock
    began_s: float
    out: TextIO
    shown_at_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def start(cls, *, clock: Clock, out: TextIO | None = None) -> Self:
        return cls(clock=clock, began_s=clock.now_s(), out=out or sys.__stderr__ or sys.stderr)

    def __call__(self, experiment: str, trial: Trial) -> None:
        self.counts[experiment] += 1
        self.counts["all"] += 1
        now_s = self.clock.now_s()
        terminal = self.out.isatty()
        if not terminal and now_s - self.shown_at_s < PLAIN_EVERY_S:
            return
        self.shown_at_s = now_s
        line = (
            f"{now_s - self.began_s:6.0f} s  {self.counts['all']:4d} answers  {experiment}: {self.counts[experiment]}"
            f"  last: {trial.path or trial.level or trial.outcome} {trial.latency_ms or 0:.0f} ms"
        )
        print(f"\r\x1b[2K{line}" if terminal else line, end="" if terminal else "\n", file=self.out, flush=True)
