"""One thing in place of another inside the same sentence. The closer the sentences, the more a changed word has to be explained."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Edit, Pair
from harness.fidelity.reading.text import Word

NAME = "substitution"
_SAME = 0.45, 0.75  # closeness from which a changed word starts to tell, and from which it tells everything


def check(both: Pair) -> list[Finding]:
    low, high = _SAME
    weight = min(1.0, max(0.0, (both.closeness - low) / (high - low)))
    if not weight:
        return []
    missing, added = {id(w) for w in both.missing}, {id(w) for w in both.added}
    found = []
    for edit in both.edits:
        gone = [w for w in edit.removed if id(w) in missing and not w.fact]
        new = [w for w in edit.added if id(w) in added and not w.fact]
        if gone and new and len(gone) + len(new) <= 8:
            reason = f"“{_joined(new)}” stands where the reference says “{_joined(gone)}”"
            found.append(Finding(check=NAME, severity=weight * _size(edit), reason=reason))
    return found


def _joined(words: list[Word]) -> str:
    return ("" if not words[0].text.isascii() else " ").join(w.text for w in words)


def _size(edit: Edit) -> float:
    return 1.0 if len(edit.removed) <= 4 and len(edit.added) <= 4 else 0.6
