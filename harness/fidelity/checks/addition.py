"""What the answer adds: clauses that neither reference nor prompt support, where it repeats the rest."""

from harness.fidelity.case import Finding
from harness.fidelity.checks.omission import lost_clauses
from harness.fidelity.reading.pair import Pair, says
from harness.fidelity.reading.text import Word

NAME = "addition"
COPIED = 0.95  # share of literal words from which a text repeats the other


def check(both: Pair) -> list[Finding]:
    found = []
    new = lost_clauses(both.candidate, both.echo, both.spare_there)
    new = [c for c in new if sum(_supported(both, both.candidate.words[i]) for i in c) < len(c) * 0.6]
    if new:
        share = sum(len(clause) for clause in new) / max(1, len(both.candidate.content))
        texts = " … ".join(" ".join(both.candidate.words[i].text for i in clause[:5]) for clause in new[:2])
        found.append(
            Finding(check=NAME, severity=min(1.0, 0.3 + share) * both.recall, reason=f"nothing supports “{texts}”")
        )
    own = [w for w in both.added if not w.fact]
    if len(own) < 2 or both.literal_here < COPIED:
        return found
    put_in = [w for w in own if not _supported(both, w)]
    if len(put_in) >= 2:
        texts = " ".join(w.text for w in put_in[:6])
        found.append(Finding(check=NAME, severity=0.9, reason=f"to a copy of the reference is added “{texts}”"))
    return found


def _supported(both: Pair, word: Word) -> bool:
    """Whether prompt or context says the word."""
    return says(both.support, word)
