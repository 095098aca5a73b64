"""What the answer adds: clauses that neither reference nor prompt support, where it repeats the rest."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.omission import lost_clauses
from harness.fidelity.reading.pair import Pair, alike

NAME = "addition"


def check(both: Pair) -> list[Finding]:
    found = []
    new = lost_clauses(both.candidate, both.echo)
    support = [w for w in both.support.words if w.content]
    new = [c for c in new if sum(any(alike(both.candidate.words[i], s) for s in support) for i in c) < len(c) * 0.6]
    if new:
        share = sum(len(clause) for clause in new) / max(1, len(both.candidate.content))
        texts = " … ".join(" ".join(both.candidate.words[i].text for i in clause[:5]) for clause in new[:2])
        found.append(
            Finding(check=NAME, severity=min(1.0, 0.3 + share) * both.recall, reason=f"nothing supports “{texts}”")
        )
    return found
