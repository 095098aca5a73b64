"""One thing in place of another in the same sentence: the closer the texts, the more a changed word tells."""

from itertools import pairwise

from harness.fidelity.case import Finding
from harness.fidelity.checks.antonyms import bounding
from harness.fidelity.reading.arithmetic import timed
from harness.fidelity.reading.comparisons import same_order
from harness.fidelity.reading.fact import same
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Edit, Pair
from harness.fidelity.reading.split_counts import split_alike, state_spans
from harness.fidelity.reading.text import Word, joined

NAME = "substitution"
_ENDS = frozenset(["end", "last", "finish", "take", "over", "until", "持续", "结束", "到"])
_LATER = frozenset(["later", "long", "after", "afterwards", "后", "之后", "以后"])
_BEFORE_COUNT = frozenset(["all", "other", "remaining", "全部", "其余", "其他"])
_LABEL_CHARS = 4  # of a Chinese label at most
_SAME = 0.45, 0.75  # closeness from which a changed word starts to tell, and from which it tells everything


def check(both: Pair) -> list[Finding]:
    if _another_label(both):
        here, there = joined(both.reference.content), joined(both.candidate.content)
        reason = f"“{there}” stands where the reference says “{here}”"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    low, high = _SAME
    weight = min(1.0, max(0.0, (both.closeness - low) / (high - low)))
    if not weight:
        return []
    explained = (
        _explained(both)
        | _bounds_kept(both)
        | _converse(both)
        | _can_be_had(both)
        | _counted(both)
        | _timed(both)
        | _state_of_the_rest(both)
    )
    missing = {id(w) for w in both.missing} - explained
    added = {id(w) for w in both.added} - explained
    found = []
    for edit in both.edits:
        gone = [w for w in edit.removed if id(w) in missing and not w.fact]
        new = [w for w in edit.added if id(w) in added and not w.fact]
        if len(gone) + len(new) > 8:
            continue
        value = [w for w in edit.removed if id(w) in missing and w.fact]
        if new and value and not gone:
            reason = f"“{joined(new)}” stands where the reference says “{joined(value)}”"
            found.append(Finding(check=NAME, severity=weight, reason=reason))
        elif gone and new:
            reason = f"“{joined(new)}” stands where the reference says “{joined(gone)}”"
            found.append(Finding(check=NAME, severity=weight * _size(edit), reason=reason))
        elif new:
            found.append(Finding(check=NAME, severity=0.6 * weight, reason=f"“{joined(new)}” was put in"))
        elif gone and not all(_asked(w, both) for w in gone):
            found.append(Finding(check=NAME, severity=0.4 * weight, reason=f"“{joined(gone)}” was left out"))
    return found


def _asked(word: Word, both: Pair) -> bool:
    """Whether the question says it: an answer need not say it again."""
    return bool(word.text) and word.text.casefold() in both.case.prompt.casefold()


def _another_label(both: Pair) -> bool:
    """Whether each is one word alone, as a classifier answers, and the one has nothing of the other."""
    told = len(both.reference.content)
    return are_labels(both) and 0 < told == len(both.missing) and bool(both.added)


def are_labels(both: Pair) -> bool:
    """Whether each text is one word alone and no value: nothing that could be worded otherwise."""
    texts = both.reference, both.candidate
    return all((len(text.words) == 1 or _is_label_zh(text.plain.strip())) and not text.facts for text in texts)


def _is_label_zh(plain: str) -> bool:
    return 1 < len(plain) <= _LABEL_CHARS and all("\u4e00" <= sign <= "\u9fff" for sign in plain)


def _explained(both: Pair) -> set[int]:
    """Words of a denial, where both texts deny as often: "out of order" and "not working" answer for themselves."""
    here, there = both.polarity_here.denials, both.polarity_there.denials
    undone = _undone(both)
    if undone or len(here) != len(there):
        return undone
    found: set[int] = set()
    for text, own, others in ((both.reference, here, there), (both.candidate, there, here)):
        for denial in own:
            if denial.lexical and any(not other.lexical or other.bases & denial.bases for other in others):
                found.add(id(text.words[denial.at]))
            elif not denial.lexical and any(other.lexical for other in others):
                found.update(id(text.words[i]) for i in (denial.at, *denial.reach[:1]))
    return found


def _converse(both: Pair) -> set[int]:
    """Both words of "A is closer than B" for "B is farther than A"."""
    if same_order(both.reference, both.candidate) is not True:
        return set()
    words = lexicon(both.reference.lang)
    pairs = [(a, b) for a in both.missing for b in both.added]
    return {
        id(word)
        for a, b in pairs
        if words.opposed(a.lemma, b.lemma) or words.opposed(a.text.casefold(), b.text.casefold())
        for word in (a, b)
    }


def _can_be_had(both: Pair) -> set[int]:
    """ "available on request" for "can be requested"."""
    found: set[int] = set()
    for text, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        if text.said.isdisjoint(_CAN) and not other.said.isdisjoint(_CAN):
            found |= {id(w) for w in text.words if w.lemma in ("available", "possible", "able")}
    return found


_CAN = frozenset(["can", "may", "could"])


def _counted(both: Pair) -> set[int]:
    """ "all" and "other" before a count that both tell: "the other three", "all eleven"."""
    words = both.candidate.words
    return {
        id(one)
        for one, following in pairwise(words)
        if one.lemma in _BEFORE_COUNT and following.fact and any(same(f, following.fact) for f in both.reference.facts)
    }


def _timed(both: Pair) -> set[int]:
    """An end told as a length, and "later" beside it."""
    found: set[int] = set()
    for text, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        facts = timed(text.facts, other.facts)
        if not facts:
            continue
        for word, following in pairwise(text.words):
            if any(word.fact is fact for fact in facts):
                found |= {id(word), id(following)} if following.lemma in _LATER else {id(word)}
        found |= {id(word) for word in text.words if word.lemma in _ENDS}
    return found


def _bounds_kept(both: Pair) -> set[int]:
    """Words that bound a value which the other text bounds as well, in whatever words: 不超过100 is 100以内."""
    found: set[int] = set()
    for text, other in ((both.reference, both.candidate), (both.candidate, both.reference)):
        bounded = any(fact.bound for fact in text.facts)
        bounding_words = [id(word) for at, word in enumerate(text.words) if bounded and bounding(text, at)]
        if bounding_words and all(
            any(same(f, g) and f.bound == g.bound for g in other.facts) for f in text.facts if f.bound
        ):
            found.update(bounding_words)
    return found


def _state_of_the_rest(both: Pair) -> set[int]:
    """The words of "two of three are up" and "one of three is down" that say up and down."""
    if split_alike(both.reference, both.candidate) is None:
        return set()
    return {
        id(word)
        for text in (both.reference, both.candidate)
        for start, end in state_spans(text)
        for word in text.words
        if start - 1 <= word.start < end
    }


def _undone(both: Pair) -> set[int]:
    """Both words of "not forbidden" for "allowed"."""
    words = lexicon(both.reference.lang)
    sides = (
        (both.reference, both.polarity_here.undone, both.candidate),
        (both.candidate, both.polarity_there.undone, both.reference),
    )
    found: set[int] = set()
    for text, undone, other in sides:
        for at in undone:
            word = text.words[at]
            said = [
                w
                for w in other.words
                if words.opposed(word.lemma, w.lemma) or words.opposed(word.text.casefold(), w.lemma)
            ]
            found |= {id(w) for w in (word, *said)} if said else set()
    return found


def _size(edit: Edit) -> float:
    return 1.0 if len(edit.removed) <= 4 and len(edit.added) <= 4 else 0.6
