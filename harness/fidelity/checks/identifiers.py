"""Order numbers, codes, addresses of mail and web, telephone numbers."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.numbers import compare
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.pair import Pair

NAME = "identifiers"
KINDS = frozenset({Kind.IDENTIFIER})


def check(both: Pair) -> list[Finding]:
    return compare(both, KINDS, NAME)
