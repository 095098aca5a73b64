"""Two stretches of a near copy that stand in each other's place: "Ann, the cook, pays, and Bo, the clerk, waits"."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.text import Text, Word

MAX_WORDS = 120  # of a text that is looked at
NEAR_COPY = 0.5  # closeness from which other small differences may stand beside the exchange
_MARK = re.compile(r"[,;:.!?，。；：！？、（）()\n—]")
_JOINS = frozenset(["and", "or", "while", "whereas", "but", "和", "与", "及", "或", "以及", "而", "并", "并且", "但"])
_ALIKE = frozenset(  # words after which both have one thing in common, whichever is named first
    ["and", "or", "with", "together", "well", "as", "plus", "alongside", "both", "nor", "neither", "either", "also",
     "too", "so", "but", "only", "not", "like", "likewise", "same", "the", "a", "an", "be", "do", "have", "will", "can",
     "也", "都", "同样", "一样", "和", "与", "及", "或", "以及", "一起", "还", "则", "而", "是", "的"]
)  # fmt: skip
_NO_PREDICATE = frozenset(  # begins another item of a list, and not what is told of the one before
    ["the", "a", "an", "our", "his", "her", "their", "your", "my", "its", "in", "on", "at", "for", "with", "to", "from",
     "of", "by", "if", "when", "and", "or", "then", "after", "before", "who", "which", "that", "as", "i", "we", "you",
     "he", "she", "it", "they"]
)  # fmt: skip
_CHINESE_ASIDE = re.compile(r"[（(][^）)]*[）)]\s*$")


class Exchanged(NamedTuple):
    """The words of two stretches of the reference, each found in the place of the other."""

    one: tuple[Word, ...]
    other: tuple[Word, ...]


class _Split(NamedTuple):
    """Where the two stretches lie among the compared words of the reference: [one, one_end) and [other, other_end)."""

    one: int
    one_end: int
    other: int
    other_end: int


def exchanged(both: Pair) -> Exchanged | None:
    """The two stretches that change places; None where there are none, or only the order of whole items differs."""
    ours, theirs = both.compared
    if not 3 <= len(ours) <= MAX_WORDS or len(theirs) > MAX_WORDS:
        return None
    words = [word for _, word in ours]
    for split in (*_exact([n for n, _ in ours], [n for n, _ in theirs]), *_mirrored(both)):
        one, other = words[split.one : split.one_end], words[split.other : split.other_end]
        if all(any(w.content for w in side) for side in (one, other)) and _tells(both.reference, words, split):
            return Exchanged(tuple(one), tuple(other))
    return None


def _exact(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Split]:
    """Every way to turn the one sequence into the other by exchanging two stretches of it."""
    if sorted(ours) != sorted(theirs) or list(ours) == list(theirs):
        return
    start = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    tail = next(i for i, (a, b) in enumerate(zip(reversed(ours), reversed(theirs), strict=True)) if a != b)
    here, there = list(ours[start : len(ours) - tail]), list(theirs[start : len(theirs) - tail])
    size = len(here)
    for one in range(1, size - 1):
        if there[size - one :] != here[:one]:
            continue
        for other in range(1, size - one):
            if there[:other] == here[size - other :] and there[other : size - one] == here[one : size - other]:
                yield _Split(start, start + one, start + size - other, start + size)


def _mirrored(both: Pair) -> Iterator[_Split]:
    """Two edits of a near copy of which each puts in what the other takes out."""
    if both.closeness < NEAR_COPY:
        return
    ours, theirs = ([name for name, _ in side] for side in both.compared)
    edits = [(a0, a1, ours[a0:a1], theirs[b0:b1]) for tag, a0, a1, b0, b1 in both.changes if tag == "replace"]
    splits = [
        _Split(one[0], one[1], other[0], other[1])
        for k, one in enumerate(edits)
        for other in edits[k + 1 :]
        if one[2] == other[3] and one[3] == other[2]
    ]
    if len(splits) == 1:  # where more change places, whole clauses may have done so
        yield splits[0]


def _tells(text: Text, words: Sequence[Word], split: _Split) -> bool:
    """Whether what is told of the one stretch is told of the other one now."""
    between = words[split.one_end : split.other]
    broken = [i for i in range(split.one_end, split.other + 1) if _breaks(text, words, i)]
    if not broken or all(w.lemma in _ALIKE for w in between):
        return False
    here, there = (_told(text, words, *ends) for ends in ((split.one, split.one_end), (split.other, split.other_end)))
    if not here or not there or here == there:
        return False
    if _same_end(text, words, split):
        return False
    whole = _breaks(text, words, split.one_end) and _breaks(text, words, split.other)
    return not whole or _labels(text, words, split) or _apposed(text, words, split)


def _same_end(text: Text, words: Sequence[Word], split: _Split) -> bool:
    """Whether whole clauses change places that end alike, a common topic before the first: 周一由甲带，周五由乙带."""
    if not _breaks(text, words, split.other):
        return False
    ends = []
    for end in (split.one_end, split.other_end):
        last = end
        while last < len(words) and not _breaks(text, words, last):
            last += 1
        ends.append([word.lemma for word in words[end:last]])
    return ends[0] == ends[1] != []


def _told(text: Text, words: Sequence[Word], start: int, end: int) -> list[str]:
    """What the clause around [start, end) says besides it, words that only add a like thing left out."""
    first = start
    while first > 0 and not _breaks(text, words, first):
        first -= 1
    last = end
    if _breaks(text, words, end) and end < len(words):
        last += 1
    while last < len(words) and not _breaks(text, words, last):
        last += 1
    return [w.lemma for w in (*words[first:start], *words[end:last]) if w.lemma not in _ALIKE]


def _breaks(text: Text, words: Sequence[Word], at: int) -> bool:
    """Whether a clause or an item of a list ends before word `at`."""
    if at in (0, len(words)):
        return True
    before = words[at - 1]
    between = text.plain[before.start + len(before.text) : words[at].start]
    return bool(_MARK.search(between)) or words[at].lemma in _JOINS or before.lemma in _JOINS


def _gap(text: Text, words: Sequence[Word], at: int) -> str:
    before = words[at - 1]
    return text.plain[before.start + len(before.text) : words[at].start]


def _labels(text: Text, words: Sequence[Word], split: _Split) -> bool:
    """ "Monday: yoga, Tuesday: chess": both are followed by a colon."""
    ends = [end for end in (split.one_end, split.other_end) if end < len(words)]
    return len(ends) == 2 and all(re.search("[:：]", _gap(text, words, end)) for end in ends)


def _apposed(text: Text, words: Sequence[Word], split: _Split) -> bool:
    """ "Ann, the cook, pays the bill": both stretches hold an aside of their own, and a predicate follows each."""
    return all(
        end < len(words)
        and sum(_breaks(text, words, i) for i in range(start + 1, end)) == 1
        and _predicate(text, words, start, end)
        for start, end in ((split.one, split.one_end), (split.other, split.other_end))
    )


def _predicate(text: Text, words: Sequence[Word], start: int, end: int) -> bool:
    """Whether a predicate begins at `end`: no other item of a list."""
    if text.lang == "zh":
        closed = text.plain[words[start].start : words[end].start]
        return bool(_CHINESE_ASIDE.search(closed)) or words[end].text in _LEADING_ZH
    first = words[end]
    article = text.plain[words[end - 1].start + len(words[end - 1].text) : first.start]
    if re.search(r"\b(?:the|an?)\b", article, re.IGNORECASE):
        return False
    return first.text[:1].islower() and first.lemma not in _NO_PREDICATE and not _breaks(text, words, end + 1)


_LEADING_ZH = frozenset(
    [
        "负责",
        "主管",
        "担任",
        "管",
        "将",
        "会",
        "要",
        "则",
        "已",
        "可以",
        "可",
        "应",
        "须",
        "必须",
        "在",
        "去",
        "来",
        "由",
        "把",
    ]
)
