"""What the answer adds: clauses that neither reference nor prompt support, where it repeats the rest."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.omission import lost_clauses
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.text import Word

NAME = "addition"
COPIED = 0.95  # share of literal words from which a text repeats the other


def check(both: Pair) -> list[Finding]:
    found = []
    new = lost_clauses(both.candidate, both.echo, both.spare_there)
    support = support_words(both)
    new = [c for c in new if sum(any(alike(both.candidate.words[i], s) for s in support) for i in c) < len(c) * 0.6]
    if new:
        share = sum(len(clause) for clause in new) / max(1, len(both.candidate.content))
        texts = " … ".join(" ".join(both.candidate.words[i].text for i in clause[:5]) for clause in new[:2])
        found.append(
            Finding(check=NAME, severity=min(1.0, 0.3 + share) * both.recall, reason=f"nothing supports “{texts}”")
        )
    put_in = [w for w in both.added if not w.fact and not any(alike(w, s) for s in support_words(both))]
    if len(put_in) >= 2 and both.literal_here >= COPIED:
        texts = " ".join(w.text for w in put_in[:6])
        found.append(Finding(check=NAME, severity=0.9, reason=f"to a copy of the reference is added “{texts}”"))
    return found


def support_words(both: Pair) -> list[Word]:
    """Content words of prompt and context."""
    return [w for w in both.support.words if w.content]
