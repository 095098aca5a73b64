"""Numbers, amounts, percentages, durations, measures: a value that changed, went missing or came from nowhere."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.fact import Fact, Kind, comparable, same
from harness.fidelity.reading.pair import Pair, same_facts

NAME = "numbers"
MANY = 40  # facts in a text from which repetitions are left out
KINDS = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.MEASURE, Kind.RATE})


def check(both: Pair) -> list[Finding]:
    return compare(both, KINDS, NAME)


def compare(both: Pair, kinds: frozenset[Kind], name: str) -> list[Finding]:
    """Findings for facts of `kinds`: changed 1, unsupported 0.8 (0.2 where prompt or context has it), missing 0.5."""
    ours, theirs = _told(both.reference.facts), _told(both.candidate.facts)
    paired = list(same_facts(ours, theirs))
    lost = [f for f in ours if not any(f is a for a, _ in paired)]
    new = [f for f in theirs if not any(f is b for _, b in paired) and not any(same(f, other) for other in ours)]
    lost = [f for f in lost if not any(same(f, other) for other in theirs)]
    if lost:  # a value said once too often has taken the place of another
        new += [
            f
            for f in theirs
            if f not in new and not any(f is b for _, b in paired) and any(comparable(f, gone) for gone in lost)
        ]
    found = []
    for fact in new:
        if fact.kind in kinds and not (_once(fact) and not any(f.unit == "times" for f in lost)):
            found.append(_new(fact, lost, both, name))
    changed = any(f.severity == 1.0 for f in found)
    for fact in lost:
        if fact.kind in kinds and not changed and not _once(fact):
            severity = 0.2 if fact.kind is Kind.RATE else 0.5
            found.append(Finding(check=name, severity=severity, reason=f"the {fact.kind} “{fact.text}” is missing"))
    return found


def _new(fact: Fact, lost: list[Fact], both: Pair, name: str) -> Finding:
    rival = next((other for other in lost if comparable(other, fact)), None)
    if rival is not None:
        reason = f"“{fact.text}” stands where the reference says “{rival.text}”"
        return Finding(check=name, severity=1.0, reason=reason)
    if any(same(fact, other) for other in both.support.facts):
        reason = f"“{fact.text}” comes from the prompt or its context, not from the reference"
        return Finding(check=name, severity=0.2, reason=reason)
    return Finding(check=name, severity=0.8, reason=f"nothing supports the {fact.kind} “{fact.text}”")


def _once(fact: Fact) -> bool:
    """ "once", "one copy", 一次: mostly left unsaid."""
    return fact.value == 1.0 and fact.unit in ("times", "")


def _told(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts; of a long text each value once."""
    return facts if len(facts) <= MANY else tuple({fact.key: fact for fact in reversed(facts)}.values())[::-1]
