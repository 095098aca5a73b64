"""Dates, weekdays, relative days and clock times."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.numbers import compare
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.pair import Pair

NAME = "moments"
KINDS = frozenset({Kind.TIME, Kind.DATE, Kind.WEEKDAY, Kind.DAY})


def check(both: Pair) -> list[Finding]:
    return compare(both, KINDS, NAME)
