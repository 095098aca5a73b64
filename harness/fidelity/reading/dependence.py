"""What depends on what, compared: clauses that follow from each other the other way round in another text."""

from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.dependent_clauses import halves, sentences
from harness.fidelity.reading.pair import alike
from harness.fidelity.reading.polarity import polarity
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, Word, content_words, read

EXCHANGED = 0.6  # share of a clause's words that the other clause of the other text has to say
AHEAD = 0.25  # and by how much more than the clause in its own place


class Part(NamedTuple):
    """A clause: its content words, and whether it denies."""

    words: tuple[Word, ...]
    denies: bool


class Dependence(NamedTuple):
    """`then` is so where `given` is."""

    given: Part
    then: Part
    only: bool  # "only if": then `given` is so where `then` is, too


@remembered
def dependences(text: Text) -> tuple[Dependence, ...]:
    """Those that a text tells, at most one a sentence."""
    return tuple(_dependences(text))


def _dependences(text: Text) -> Iterator[Dependence]:
    for sentence in sentences(text):
        found = halves(sentence, text.lang)
        if found is None:
            continue
        given, then = (_part(clause, text.lang) for clause in (found.given, found.then))
        if given.words and then.words:
            yield Dependence(given, then, found.only)


def _part(plain: str, lang: str) -> Part:
    denials = [denial for denial in polarity(read(plain.strip(), lang)).denials if not denial.lexical]
    return Part(tuple(content_words(plain, lang)), len(denials) % 2 == 1)


def exchanged(one: Text, other: Text) -> tuple[Dependence, Dependence] | None:
    """A dependence of each text, the second with the clauses of the first exchanged; None where there is none."""
    ours = dependences(one)
    theirs = dependences(other) if ours else ()
    for here in ours:
        if any(_straight(here, there) >= EXCHANGED for there in theirs):
            continue
        for there in theirs:
            crossed = min(_same(here.given, there.then), _same(here.then, there.given))
            if crossed >= EXCHANGED and crossed > _straight(here, there) + AHEAD and not _as_good(here, there):
                return here, there
    return None


def _as_good(here: Dependence, there: Dependence) -> bool:
    """Whether exchanged clauses say the same: "if not B, not A" for "if A, B", or "only if"."""
    turned = here.given.denies != there.then.denies and here.then.denies != there.given.denies
    return turned or here.only != there.only


def _straight(here: Dependence, there: Dependence) -> float:
    return min(_same(here.given, there.given), _same(here.then, there.then))


def _same(one: Part, other: Part) -> float:
    """Share of the words of either clause that the other says, the smaller of both, in [0, 1]."""
    return min(_said(one.words, other.words), _said(other.words, one.words))


def _said(words: tuple[Word, ...], others: tuple[Word, ...]) -> float:
    return sum(any(alike(word, other) for other in others) for word in words) / len(words)
