"""Names of people, places, products: a name that changed, came from nowhere, or got lost."""

from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import Text, Word

NAME = "names"
_NOT_NAMES = frozenset(
    "i i'm yes no ok sorry please dear hello hi monday tuesday wednesday thursday friday saturday sunday".split()
)
_MARKS = frozenset('.!?:\n。！？："')


def check(both: Pair) -> list[Finding]:
    ours, theirs = list(names(both.reference)), list(names(both.candidate))
    known = {w.text.casefold() for w in (*both.reference.words, *both.support.words)}
    said = {w.text.casefold() for w in both.candidate.words}
    initials = {
        "".join(w.text[0] for w in ours[i:j]).casefold() for i in range(len(ours)) for j in range(i + 2, len(ours) + 1)
    }
    new = [
        w
        for w in theirs
        if w.text.casefold() not in known | initials
        and not _short_form(w, ours)
        and both.partner[_at(both.candidate, w)] is None
    ]
    lost = [
        w
        for w in ours
        if w.text.casefold() not in said
        and not _short_form(w, theirs)
        and both.partner_back[_at(both.reference, w)] is None
    ]
    found = []
    for word in new[:3]:
        rival = lost[0].text if lost else ""
        reason = (
            f"“{word.text}” stands where the reference says “{rival}”"
            if rival
            else f"the name “{word.text}” comes from nowhere"
        )
        found.append(Finding(check=NAME, severity=1.0 if rival else 0.7, reason=reason))
    if not new:
        found += [Finding(check=NAME, severity=0.4, reason=f"the name “{w.text}” is missing") for w in lost[:3]]
    return found


def names(text: Text) -> Iterator[Word]:
    """Words in capitals where a sentence does not ask for them, and unknown words that begin a sentence."""
    words = lexicon("en")
    first = True
    for word in text.words:
        if word.mark:
            first = first or word.text in _MARKS
            continue
        if word.name:
            yield word
            continue
        capital = word.text[:1].isupper() and word.text.isascii() and not word.fact
        if capital and word.text.casefold() not in _NOT_NAMES and len(word.text) > 1:
            known = word.lemma in words.words or word.lemma in words.functions or bool(word.concepts)
            if (
                (not first)
                or not known
                or (word.text.isupper() and len(word.text) > 1 and word.lemma not in words.functions)
            ):
                yield word
        first = False


def _at(text: Text, word: Word) -> int:
    return next(i for i, w in enumerate(text.words) if w is word)


def _spelt_out(word: Word, text: Text) -> bool:
    """ "CEO" is said by "chief executive"."""
    if not (word.text.isupper() and 2 <= len(word.text) <= 5):
        return False
    initials = "".join(w.text[0] for w in text.words if not w.mark and not w.function).casefold()
    return word.text.casefold()[: max(2, len(word.text) - 1)] in initials


def _short_form(word: Word, others: list[Word]) -> bool:
    low = word.text.casefold()
    if word.text.isupper() and 2 <= len(word.text) <= 5:
        initials = "".join(o.text[0] for o in others).casefold()
        return low in initials
    return any(
        len(low) > 3
        and (o.text.casefold().startswith(low[:4]) or low.startswith(o.text.casefold()[:4]))
        and len(o.text) > 3
        for o in others
    )
