"""Words that changed places: "A pays B" against "B pays A", "A 5, B 9" against "A 9, B 5"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import Word

_LINKS = frozenset(
    ["and", "or", "和", "与", "及", "或", "以及", "还有", "plus", "the", "a", "an", "be", "的", "在", "是", "也", "都"]
)
_AGENT = frozenset(["by", "被", "由", "受", "遭"])
PRONOUNS = frozenset(
    ["we", "us", "our", "i", "me", "my", "he", "him", "his", "she", "her", "they", "them", "their", "you", "your",
     "我", "我们", "你", "您", "你们", "他", "她", "他们"]
)  # fmt: skip
SEQUENCE = frozenset(
    [
        "then",
        "before",
        "after",
        "until",
        "再",
        "然后",
        "之前",
        "之后",
        "以前",
        "以后",
        "后",
        "前",
        "followed",
        "than",
        "比",
    ]
)
MAX_CONTENT = 24  # content words looked at
_TITLES = frozenset(["Mr", "Mrs", "Ms", "Miss", "Dr", "Prof", "Sir", "Madam", "Professor", "Doctor"])


class Reversal(NamedTuple):
    """Words of the reference (indices) that change places around `pivot`."""

    left: int
    pivot: int
    right: int


class Exchange(NamedTuple):
    """Two words of the reference (indices), each found in the surroundings of the other."""

    one: int
    other: int
    fit: int  # neighbours that fit crosswise, 2 to 4


_SUBJECTS = frozenset(
    [
        "we",
        "us",
        "i",
        "me",
        "he",
        "him",
        "she",
        "they",
        "them",
        "you",
        "我",
        "我们",
        "你",
        "您",
        "你们",
        "他",
        "她",
        "他们",
    ]
)


def reversals(both: Pair) -> Iterator[Reversal]:
    """Triples left … pivot … right of the reference that the candidate has as right … pivot … left."""
    words = both.reference.words
    placed = [
        (i, at)
        for i, at in enumerate(both.partner_back)
        if at is not None and not words[i].mark and words[i].lemma not in _LINKS
    ]
    ends = [
        (i, at)
        for i, at in placed
        if (words[i].content and words[i].lemma not in SEQUENCE) or words[i].lemma in _SUBJECTS
    ][:MAX_CONTENT]
    for k, (left, left_at) in enumerate(ends):
        for right, right_at in ends[k + 1 :]:
            if right_at >= left_at:
                continue
            for pivot, pivot_at in placed:
                if left < pivot < right and right_at < pivot_at < left_at:
                    yield Reversal(left, pivot, right)


@lru_cache(maxsize=8)
def exchanges(both: Pair) -> tuple[Exchange, ...]:
    """Pairs of words that stand in each other's place, found once for all the checks that ask for them."""
    return tuple(_exchanges(both))


def _exchanges(both: Pair) -> Iterator[Exchange]:
    """Pairs of words that stand in each other's place: the words next to them fit crosswise and not straight."""
    ours = [i for i, w in enumerate(both.reference.words) if not w.mark and w.lemma not in ("the", "a", "an", "的")]
    theirs = [i for i, w in enumerate(both.candidate.words) if not w.mark and w.lemma not in ("the", "a", "an", "的")]
    here = _neighbours(ours, [w.lemma for w in both.reference.words])
    there = _neighbours(theirs, both.names)
    moved = [i for i in ours if _weighs(both, i) and both.partner_back[i] is not None][:MAX_CONTENT]
    for k, one in enumerate(moved):
        for other in moved[k + 1 :]:
            if both.reference.words[one].lemma == both.reference.words[other].lemma:
                continue
            if other - one == 1 and not kin(both.reference.words[one], both.reference.words[other]):
                continue  # neighbours: "rainy cold day", 最低气温
            a, b = both.partner_back[one], both.partner_back[other]
            if a is None or b is None or a not in there or b not in there:
                continue
            names = both.reference.words[one].lemma, both.reference.words[other].lemma
            cross = _shared(here[one], there[b], names) + _shared(here[other], there[a], names)
            straight = _shared(here[one], there[a]) + _shared(here[other], there[b])
            if cross >= 2 and cross > straight + 1:
                yield Exchange(one, other, cross)


def _neighbours(order: Sequence[int], names: Sequence[str]) -> dict[int, tuple[str, str]]:
    named = ["^", *(names[i] for i in order), "$"]
    return {i: (named[k], named[k + 2]) for k, i in enumerate(order)}


def _shared(one: tuple[str, str], other: tuple[str, str], swapped: tuple[str, ...] = ()) -> int:
    """Neighbours that are equal, or are the two words that changed places."""
    (a, c), (b, d) = one, other
    before = a == b or (a in swapped and b in swapped)
    return before + (c == d or (c in swapped and d in swapped))


def agents(words: Sequence[Word]) -> list[int]:
    """Indices of the words named as agents of a passive: "by Kim", 由张经理."""
    found = []
    for at, word in enumerate(words):
        if word.lemma in _AGENT:
            after = next(
                (
                    i
                    for i in range(at + 1, len(words))
                    if (words[i].content and words[i].text not in _TITLES) or words[i].lemma in PRONOUNS
                ),
                None,
            )
            if after is not None and not words[after].fact:
                found.append(after)
    return found


def named(word: Word) -> bool:
    """Whether a word is a name; a title before one is none."""
    return (
        word.text not in _TITLES
        and word.content
        and not word.fact
        and (word.name or (word.text[:1].isupper() and word.text.isascii()))
    )


def kin(one: Word, other: Word) -> bool:
    """Both values of one kind, or both names."""
    if one.fact and other.fact:
        return one.fact.kind is other.fact.kind
    return named(one) and named(other)


def names_swapped(both: Pair) -> bool:
    """Whether two names changed places."""
    words = both.reference.words
    pairs = [(r.left, r.right) for r in reversals(both)] + [(e.one, e.other) for e in exchanges(both)]
    return any(named(words[one]) and named(words[other]) for one, other in pairs)


def converse(both: Pair) -> bool:
    """Whether opposites explain a change of places: "A is cheaper than B", "B is dearer than A"."""
    words = lexicon(both.reference.lang)
    gone = {w.lemma for w in both.missing} | {w.text.casefold() for w in both.missing}
    new = {w.lemma for w in both.added} | {w.text.casefold() for w in both.added}
    return any(words.opposed(a, b) for a in gone for b in new)


def reversed_around(both: Pair, one: int, other: int) -> bool:
    """Whether the words around word `one` of the reference stand the other way round about word `other` of the candidate."""
    left = [at for i, at in enumerate(both.partner_back) if i < one and at is not None and _weighs(both, i)]
    right = [at for i, at in enumerate(both.partner_back) if i > one and at is not None and _weighs(both, i)]
    crossed = any(at < other for at in right) and any(at > other for at in left)
    kept = any(at < other for at in left) and any(at > other for at in right)
    return crossed and not kept


def _weighs(both: Pair, i: int) -> bool:
    return both.reference.words[i].content or both.reference.words[i].lemma in PRONOUNS
