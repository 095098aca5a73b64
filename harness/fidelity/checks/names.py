"""Names of people, places, products: a name that changed, came from nowhere, or got lost."""

from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.reading.asked import asked_by_name
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.persons_zh import persons
from harness.fidelity.reading.text import Text, Word

NAME = "names"
_NOT_NAMES = frozenset(
    [
        "i",
        "without",
        "i'm",
        "yes",
        "no",
        "ok",
        "sorry",
        "please",
        "dear",
        "hello",
        "hi",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "anything",
        "something",
        "everything",
        "nothing",
        "anyone",
        "someone",
        "everyone",
        "nobody",
        "neither",
        "either",
        "none",
        "both",
        "otherwise",
        "us",
        "fahrenheit",
        "celsius",
        "gb",
        "mb",
        "kb",
        "tb",
        "kg",
        "km",
        "kwh",
    ]
)
_TITLES = frozenset(["mr", "mrs", "ms", "miss", "mx", "dr", "prof"])  # of persons; one may be left out
COPY = 0.7  # closeness from which a text is a copy: a name left out of it was left out of a list
_MARKS = frozenset('.!?:\n。！？："')


def check(both: Pair) -> list[Finding]:
    other = _other_person(both)
    if other is not None:
        reason = f"“{other[1]}” stands where the reference says “{other[0]}”"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    ours, theirs = list(names(both.reference)), list(names(both.candidate))
    if not ours and not theirs:
        return []
    lost = [
        w
        for w in ours
        if _unsaid(w, both.candidate, theirs)
        and not _in_initials(w, ours, theirs)
        and both.partner_back[_at(both.reference, w)] is None
    ]
    new = [
        w
        for w in theirs
        if not _in_initials(w, theirs, ours)
        and _unsaid(w, both.reference, ours)
        and both.partner[_at(both.candidate, w)] is None
    ]
    supported = {w.text.casefold() for w in both.support.words} if new and not lost else set()
    found = []
    for word in new[:3]:
        if lost:
            reason = f"“{word.text}” stands where the reference says “{lost[0].text}”"
            found.append(Finding(check=NAME, severity=1.0, reason=reason))
        elif word.text.casefold() not in supported:
            found.append(Finding(check=NAME, severity=0.7, reason=f"the name “{word.text}” comes from nowhere"))
    if not new:
        severity = 0.8 if both.closeness > COPY else 0.4
        lost = [w for w in lost if not asked_by_name(w.text, both) and w.text.casefold() not in _TITLES]
        found += [Finding(check=NAME, severity=severity, reason=f"the name “{w.text}” is missing") for w in lost[:3]]
    return found


def _other_person(both: Pair) -> tuple[str, str] | None:
    """Another Chinese name in the place of one; None where a name is the same, or one side names nobody so."""
    if both.reference.lang != "zh":
        return None
    here, there = persons(both.reference.plain), persons(both.candidate.plain)
    if len(here) != 1 or len(there) != 1:
        return None
    one, other = *here, *there
    return None if one in both.candidate.plain or other in both.reference.plain or one[0] in there else (one, other)


def _unsaid(word: Word, text: Text, others: list[Word]) -> bool:
    """Whether `text` says the name in no form: as it is, shortened, by its initials, or spelt out."""
    low = word.text.casefold()
    initials = "".join(w.text[0] for w in others).casefold()
    abbreviated = word.text.isupper() and 2 <= len(low) <= 5 and low in initials
    return not (
        any(low == w.text.casefold() for w in text.words)
        or abbreviated
        or _short_form(word, others)
        or _spelt_out(word, text)
        or (word.name and len(low) < 4 and low in text.plain)
    )


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


def _in_initials(word: Word, own: list[Word], others: list[Word]) -> bool:
    """ "World" of "World Health Organization" is in "WHO"."""
    short = [o.text for o in others if o.text.isupper() and len(o.text) > 1 and word.text[0] in o.text]
    return bool(short) and any(text in "".join(w.text[0] for w in own) for text in short)


def _spelt_out(word: Word, text: Text) -> bool:
    """ "CEO" is said by "chief executive"."""
    if not (word.text.isupper() and 2 <= len(word.text) <= 5):
        return False
    initials = "".join(w.text[0] for w in text.words if not w.mark and not w.function).casefold()
    return word.text.casefold()[: max(2, len(word.text) - 1)] in initials


def _short_form(word: Word, others: list[Word]) -> bool:
    low = word.text.casefold()
    return any(
        len(low) > 3
        and (o.text.casefold().startswith(low[:4]) or low.startswith(o.text.casefold()[:4]))
        and len(o.text) > 3
        for o in others
    )
