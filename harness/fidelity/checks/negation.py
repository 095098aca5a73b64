"""Negation and polarity: what one text denies, the other has to deny too."""

from harness.fidelity.case import Finding
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.polarity import Denial, denials
from harness.fidelity.reading.text import Text, Word

NAME = "negation"
_YES = frozenset(["yes", "是", "是的", "可以", "能", "对"])
_NO = frozenset(["no", "不", "不是", "不可以", "不能", "否"])


def check(both: Pair) -> list[Finding]:
    ours, theirs = denials(both.reference), denials(both.candidate)
    found = [*_answer_word(both)]
    for denial in ours:
        severity = _unmatched(denial, ours, theirs, both.reference, both.candidate, both.partner_back)
        if severity:
            word = both.reference.words[denial.at].text
            found.append(
                Finding(
                    check=NAME,
                    severity=severity,
                    reason=f"“{word}” ({_around(both.reference, denial)}) is no longer denied",
                )
            )
    for denial in theirs:
        severity = _unmatched(denial, theirs, ours, both.candidate, both.reference, both.partner)
        if severity:
            word = both.candidate.words[denial.at].text
            found.append(
                Finding(
                    check=NAME,
                    severity=severity,
                    reason=f"“{word}” ({_around(both.candidate, denial)}) denies what the reference does not",
                )
            )
    return found


def _answer_word(both: Pair) -> list[Finding]:
    first, second = (next((w.text.casefold() for w in t.words), "") for t in (both.reference, both.candidate))
    marked = all(len(t.words) > 1 and t.words[1].mark for t in (both.reference, both.candidate))
    if marked and ((first in _YES and second in _NO) or (first in _NO and second in _YES)):
        return [
            Finding(check=NAME, severity=1.0, reason=f"the answer begins with “{second}”, the reference with “{first}”")
        ]
    return []


def _around(text: Text, denial: Denial) -> str:
    return " ".join(text.words[i].text for i in (denial.reach or denial.clause)[:4])


def _unmatched(
    denial: Denial,
    own: tuple[Denial, ...],
    others: tuple[Denial, ...],
    text: Text,
    other: Text,
    partner: tuple[int | None, ...],
) -> float:
    """How much speaks for it that the other text asserts what `denial` denies, in [0, 1]; 0 where it denies it too."""
    if denial.lexical and partner[denial.at] is not None:
        return 0.0
    if _also_denied(denial, others, text, other, partner) or _said_by_opposite(denial, text, other, others):
        return 0.0
    denied_there = {i for d in others for i in d.reach}
    if denial.lexical:
        asserted = any(
            _means(word, base, other)
            for i, word in enumerate(other.words)
            if i not in denied_there
            for base in denial.bases
        )
        return 1.0 if asserted else 0.35
    reached = [partner[i] for i in denial.reach]
    asserted = any(i is not None and i not in denied_there for i in reached)
    bases = any(
        _means(word, base, other)
        for i, word in enumerate(other.words)
        if i not in denied_there
        for base in denial.bases
    )
    if asserted or bases:
        return 1.0
    talked_about = any(partner[i] is not None for i in denial.clause)
    return 0.7 if talked_about else 0.4


def _also_denied(
    denial: Denial, others: tuple[Denial, ...], text: Text, other: Text, partner: tuple[int | None, ...]
) -> bool:
    reach = {partner[i] for i in denial.reach} - {None}
    clause = {partner[i] for i in denial.clause} - {None}
    for rival in others:
        if reach & {*rival.reach, rival.at} or (denial.bases & rival.bases):
            return True
        if rival.lexical and clause & set(rival.clause) and not reach - set(rival.clause):
            return True
        if denial.lexical and clause & set(rival.reach):
            return True
        if any(_means(other.words[i], base, other) for base in denial.bases for i in rival.reach):
            return True
        if any(_means(text.words[i], base, text) for base in rival.bases for i in denial.reach):
            return True
        if not reach and clause & set(rival.clause):
            return True
    return False


def _said_by_opposite(denial: Denial, text: Text, other: Text, others: tuple[Denial, ...]) -> bool:
    """ "not open" is said by "closed"."""
    words = lexicon(text.lang)
    denied_there = {i for d in others for i in d.reach}
    names = {text.words[i].lemma for i in denial.reach} | denial.bases
    return any(
        words.opposed(name, word.lemma) or words.opposed(name, word.text.casefold())
        for name in names
        for i, word in enumerate(other.words)
        if i not in denied_there and not word.fact
    )


def _means(word: Word, base: str, text: Text) -> bool:
    if word.lemma == base or word.text.casefold() == base:
        return True
    concepts = lexicon(text.lang).groups.get(base)
    return bool(
        concepts and not word.fact and not concepts.isdisjoint(lexicon(text.lang).groups.get(word.lemma, frozenset()))
    )
