"""Who does what to whom, and which value belongs to which thing: words that changed places."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.reversal import Reversal, reversals, voice_changed
from harness.fidelity.reading.text import Word

NAME = "roles"
_RELATIONS = frozenset(
    "than to from before after by over against with for of per until 比 给 向 从 到 对 把 被 由 先 后 前".split()
)


def check(both: Pair) -> list[Finding]:
    if len(both.reference.content) > 60 or len(both.candidate.content) > 60:
        return []
    best: Finding | None = None
    passive = voice_changed(both)
    for reversal in reversals(both):
        severity = _severity(both, reversal, passive=passive)
        if severity and (best is None or severity > best.severity):
            left, pivot, right = (both.reference.words[i].text for i in reversal)
            best = Finding(
                check=NAME, severity=severity, reason=f"“{left}” and “{right}” change places around “{pivot}”"
            )
    if best is None and passive and not any(True for _ in reversals(both)) and both.closeness > 0.7:
        return [Finding(check=NAME, severity=0.6, reason="one text is in the passive and yet in the same order")]
    return [best] if best else []


def _severity(both: Pair, reversal: Reversal, *, passive: bool) -> float:
    left, pivot, right = (both.reference.words[i] for i in reversal)
    kin = _kin(left, right)
    if passive and not (left.fact and right.fact):
        return 0.0
    one_clause = left.clause == right.clause
    if kin:
        return 1.0 if pivot.content or pivot.lemma in _RELATIONS else 0.4
    if not one_clause or bool(left.fact) != bool(right.fact):
        return 0.0
    if pivot.lemma in _RELATIONS or (pivot.content and not pivot.fact):
        return 0.6
    return 0.0


def _kin(one: Word, other: Word) -> bool:
    """Both values of one kind, or both names."""
    if one.fact and other.fact:
        return one.fact.kind is other.fact.kind
    if one.fact or other.fact:
        return False
    return one.text[:1].isupper() and other.text[:1].isupper() and one.text.isascii()
