"""Which words belong together: those of one stretch of a sentence, in the reference and in the candidate."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.reversal import kin
from harness.fidelity.reading.text import Text, Word

_SENTENCE = frozenset(".!?;。！？；\n")
_MARKS = _SENTENCE | frozenset(":(),，：、—（）")
_NONE: frozenset[str] = frozenset()
_JOINTS = frozenset(
    ["and", "while", "whereas", "but", "then", "so", "which", "who", "as", "because", "when", "if", "而", "则", "再", "但",
     "但是", "并", "并且", "和"]
)  # fmt: skip
_TITLES = frozenset(["Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No"])
_AFTER_THAT = re.compile(
    r"\b(?:after that|after which|from then on|from that (?:point|time) on|thereafter|afterwards)\b|此后|之后就|过后|在那之后",
    re.IGNORECASE,
)
_DEGREES = frozenset(["more", "less", "fewer", "most", "least"])  # compared where comparisons are
MAX_WORDS = 60  # content words of a text that are looked at


class Crossing(NamedTuple):
    """Indices of the reference: `one` goes with `left` and `other` with `right`, in the candidate not so."""

    left: int
    one: int
    right: int
    other: int


def anchors(both: Pair) -> dict[int, int]:
    """Content words of the reference that the candidate says, each once on both sides: index -> index."""
    ours = [i for i, w in enumerate(both.reference.words) if w.content and w.lemma not in _DEGREES][:MAX_WORDS]
    theirs = [i for i, w in enumerate(both.candidate.words) if w.content and w.lemma not in _DEGREES][:MAX_WORDS]
    found: dict[int, int] = {}
    for equal in (True, False):
        free_here = [i for i in ours if i not in found]
        taken = set(found.values())
        free_there = [j for j in theirs if j not in taken]
        forth = {i: _fits(both.reference.words[i], both.candidate.words, free_there, equal=equal) for i in free_here}
        back = {j: _fits(both.candidate.words[j], both.reference.words, free_here, equal=equal) for j in free_there}
        found |= {i: at[0] for i, at in forth.items() if len(at) == 1 and back[at[0]] == [i]}
    after = [_after_that(text) for text in (both.reference, both.candidate)]
    if after[0] is not None and after[1] is not None:
        found[after[0]] = after[1]
    return found


def _after_that(text: Text) -> int | None:
    """The first word of "after that"; None where there is none, or more than one."""
    places = [m.start() for m in _AFTER_THAT.finditer(text.plain)]
    return next((i for i, w in enumerate(text.words) if w.start >= places[0]), None) if len(places) == 1 else None


def _fits(word: Word, others: Sequence[Word], at: list[int], *, equal: bool) -> list[int]:
    return [j for j in at if (word.lemma == others[j].lemma if equal else alike(word, others[j]))]


@remembered
def stretches(text: Text) -> list[list[int]]:
    """Per level, coarse to fine, the number of the stretch that each word is in: sentences, clauses, parts."""
    found: list[list[int]] = []
    for marks, joints in ((_SENTENCE, _NONE), (_MARKS, _NONE), (_MARKS, _JOINTS)):
        numbers, current, content = [], 0, 0
        for at, word in enumerate(text.words):
            titled = word.text == "." and at > 0 and text.words[at - 1].text in _TITLES
            if content and not titled and (word.text in marks or word.lemma in joints):
                current, content = current + 1, 0
            content += word.content
            numbers.append(current)
        found.append(numbers)
    return found


def crossings(both: Pair) -> Iterator[Crossing]:
    """Two bonds of the reference that the candidate ties the other way round."""
    heres = stretches(both.reference)
    if not max(heres[-1], default=0):
        return
    theres = stretches(both.candidate)
    if not max(theres[-1], default=0) or (heres == theres and not both.differs):
        return
    placed = _without_topic(both, anchors(both), heres[-1], theres[-1])
    if len(placed) < 4:
        return
    seen: list[tuple[list[int], list[int]]] = []
    for here in heres:
        for there in theres:
            if max(here) and max(there) and (here, there) not in seen:
                seen.append((here, there))
                for crossing in _crossed(both, placed, here, there, heres[-1]):
                    if _bound(both, crossing, heres[-1]):
                        yield crossing


def _without_topic(both: Pair, placed: dict[int, int], here: list[int], there: list[int]) -> dict[int, int]:
    """The anchors without what a Chinese sentence begins with in both texts, and tells all the rest of: 球馆周一闭馆, 周二开放."""
    if both.reference.lang != "zh":
        return placed
    first, opens = _heads(both.reference, here), _heads(both.candidate, there)
    valued = all(both.reference.words[i].fact for i in first[1:])
    if len(first) < 2 or len(opens) < 2 or not valued or placed.get(first[0]) != opens[0]:
        return placed
    return {i: j for i, j in placed.items() if i != first[0]}


def _heads(text: Text, stretch: list[int]) -> list[int]:
    """The first content word of each stretch."""
    found: dict[int, int] = {}
    for i, word in enumerate(text.words):
        if word.content:
            found.setdefault(stretch[i], i)
    return list(found.values())


def _crossed(
    both: Pair, placed: dict[int, int], here: list[int], there: list[int], fine: list[int]
) -> Iterator[Crossing]:
    """Words in groups by (stretch of the reference, of the candidate): a crossing is four groups in a square."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, j in placed.items():
        groups.setdefault((here[i], there[j]), []).append(i)
    for (s, u), left in groups.items():
        for (s_again, v), ones in groups.items():
            for t in {t for t, at in groups if at == u} if s_again == s and v != u else ():
                if t == s:
                    continue
                others = groups[t, u]
                right = groups.get((t, v))
                if right is not None and s < t:
                    if not _one_run(fine, ones + others, placed) and not _one_run(fine, left + right, placed):
                        yield Crossing(left[0], ones[0], right[0], others[0])
                elif right is None:
                    elsewhere = next((g for (t_again, w), g in groups.items() if t_again == t and w != u), None)
                    if elsewhere:
                        yield from (
                            Crossing(left[0], a, elsewhere[0], b) for a in ones for b in others if _values(both, a, b)
                        )


def _one_run(fine: list[int], at: list[int], placed: dict[int, int]) -> bool:
    """Whether the words stand side by side, as the items of a list do, whose order tells nothing."""
    own = {fine[i] for i in at}
    return all(i in at or fine[i] not in own for i in placed if min(at) < i < max(at))


def _values(both: Pair, one: int, other: int) -> bool:
    first, second = both.reference.words[one], both.reference.words[other]
    return bool(first.fact and second.fact) and kin(first, second)


def _bound(both: Pair, crossing: Crossing, fine: list[int]) -> bool:
    """Whether the words are tied to each other: parts of one clause, or values of one kind."""
    left, one, right, other = crossing
    return (
        _values(both, one, other)
        or _values(both, left, right)
        or (fine[left] == fine[one] and fine[right] == fine[other])
    )
