"""When an experiment has to end at once. Pure."""

from dataclasses import dataclass

from faults.experiment import StopConditions
from harness.trial import Outcome, Trial

CRASHES = (Outcome.FAILED, Outcome.UNANSWERED)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What has happened so far, as far as stop conditions ask."""

    began_s: float
    failed: int = 0
    slowest_s: float = 0.0

    def add(self, trial: Trial) -> None:
        self.failed += trial.outcome in CRASHES
        self.slowest_s = max(self.slowest_s, (trial.latency_ms or 0.0) / 1000)


def broken(conditions: StopConditions, tally: Tally, *, now_s: float) -> str | None:
    """The first condition that is broken, as a sentence; None: go on."""
    if conditions.failed_answers is not None and tally.failed > conditions.failed_answers:
        return f"{tally.failed} failed answers, allowed {conditions.failed_answers}"
    if conditions.latency_s is not None and tally.slowest_s > conditions.latency_s:
        return f"an answer took {tally.slowest_s:.1f} s, allowed {conditions.latency_s:g} s"
    if now_s - tally.began_s > conditions.duration_s:
        return f"it took longer than {conditions.duration_s:g} s"
    return None
