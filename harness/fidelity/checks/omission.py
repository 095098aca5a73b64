"""What the answer leaves out: whole clauses of the reference, where it repeats the rest."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import Text

NAME = "omission"
COPIED = 0.95  # share of literal words from which a text is taken from the other
PART = 0.75  # share of the reference under which such a copy is a part of it
KEPT = 0.34  # share of a clause's words that has to be found


def check(both: Pair) -> list[Finding]:
    found = []
    gone = lost_clauses(both.reference, both.echo_back)
    if gone:
        share = sum(len(clause) for clause in gone) / max(1, len(both.reference.content))
        texts = " … ".join(" ".join(both.reference.words[i].text for i in clause[:5]) for clause in gone[:2])
        found.append(
            Finding(check=NAME, severity=min(1.0, 0.3 + share) * both.precision, reason=f"nothing is said of “{texts}”")
        )
    if len(both.missing) >= 2 and both.recall < PART and both.literal_there >= COPIED and both.candidate.content:
        texts = " ".join(w.text for w in both.missing[:6])
        found.append(
            Finding(check=NAME, severity=0.8, reason=f"the answer copies the reference and leaves out “{texts}”")
        )
    return found


def lost_clauses(text: Text, echo: tuple[bool, ...]) -> list[list[int]]:
    """Clauses of at least two content words of which the other text has less than `KEPT`."""
    clauses: dict[int, list[int]] = {}
    for i, word in enumerate(text.words):
        if word.content:
            clauses.setdefault(word.clause, []).append(i)
    return [
        clause for clause in clauses.values()
        if len(clause) >= 2 and sum(echo[i] for i in clause) / len(clause) < KEPT
    ]  # fmt: skip
