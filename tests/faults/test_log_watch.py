"""Lines that prove a fault come after the answer that failed, and are waited for: not for ever, and never in vain."""

from pathlib import Path

import pytest

from faults.fault import Firing
from faults.log_watch import FIRST_LINE_S, MOST_S, QUIET_S, LogWatch

STEP_S = 0.01


class LateWriter:
    """A clock on which a process writes lines at their times."""

    def __init__(self, log: Path, due: dict[float, str]) -> None:
        self.log, self.due, self.time_s = log, dict(due), 0.0

    def now_s(self) -> float:
        return self.time_s

    async def sleep(self, delay_s: float) -> None:
        self.time_s += delay_s
        for at_s in [at_s for at_s in self.due if at_s <= self.time_s]:
            with self.log.open("a", encoding="utf-8") as log:
                log.write(self.due.pop(at_s) + "\n")


def watch(log: Path) -> LogWatch:
    log.write_text("MemoryError of an earlier request\n", encoding="utf-8")
    return LogWatch.begin(log, "MemoryError")


@pytest.mark.parametrize(
    ("due", "found"),
    [
        ({0.0: "MemoryError"}, 1),
        ({FIRST_LINE_S - 0.1: "MemoryError"}, 1),
        ({0.1: "MemoryError", 0.3: "MemoryError", 0.5: "MemoryError"}, 3),
        ({0.1: "GET /health", 1.0: "MemoryError", 1.2: "GET /health"}, 1),
    ],
)
async def test_a_line_that_comes_after_the_answer_counts(tmp_path: Path, due: dict[float, str], found: int) -> None:
    watching = watch(tmp_path / "log")
    clock = LateWriter(tmp_path / "log", due)
    await watching.settle(clock)
    firing = Firing()
    watching.prove(firing, "allocation failures")
    assert firing.touched == found
    assert LogWatch.begin(tmp_path / "log", "MemoryError").lines() == [], "the next watch counts it, too"


async def test_waiting_ends_soon_after_the_last_line_and_in_any_case(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for due, most_s in (
        ({}, FIRST_LINE_S),
        ({0.1: "MemoryError"}, 0.1 + QUIET_S),
        ({number / 10: "MemoryError" for number in range(1000)}, MOST_S),
    ):
        clock = LateWriter(log, due)
        await watch(log).settle(clock)
        assert most_s - STEP_S <= clock.now_s() <= most_s + 0.1


async def test_without_a_log_nothing_is_waited_for(tmp_path: Path) -> None:
    clock = LateWriter(tmp_path / "log", {})
    await LogWatch.begin(None, "MemoryError").settle(clock)
    assert clock.now_s() == 0
    await LogWatch.begin(tmp_path / "not-there-yet", "MemoryError").settle(clock)
    assert clock.now_s() == pytest.approx(FIRST_LINE_S, abs=0.1)
