"""Sentences in two clauses of which one depends on the other, and clauses that moved as a whole.

"Because the tank was dry, the pump stopped", "the pump stopped because the tank was dry" and "the tank was dry, so the
pump stopped" tell one thing.
"""

# ruff: noqa: E501 (patterns stay whole)

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, read

_MARK = r"(?:because of|because|due to|owing to|given that|since|as soon as|whenever|when|if|once|after|in case|provided that|provided|as long as|the moment|every time|each time)"
_ASKED = re.compile(
    r"\b(?:(?:check|see|know|ask|decide|find out|tell|confirm|verify|determine|wonder|learn|test|say|show)s?|sure|certain|unclear|known|asked|said|told|whether|even|as|what|not)$",
    re.IGNORECASE,
)
_ENGLISH = (
    re.compile(rf"^(?:and |but |or |also |please |then )?(?P<only>only )?(?P<mark>{_MARK}) (?P<given>[^,;:]+), ?(?:then )?(?P<then>[^;:]+)$", re.IGNORECASE),
    re.compile(r"^(?P<given>[^,;:]+)[,;] ?(?:and )?(?P<mark>so(?! (?:that|as|far|long|much|many)\b)|therefore|hence|thus|consequently|as a result|which is why|that is why),? (?P<then>[^;:]+)$", re.IGNORECASE),
    re.compile(rf"^(?P<then>[^,;:]+?),? (?P<only>only )?(?P<mark>{_MARK}) (?P<given>[^,;:]+)$", re.IGNORECASE),
)  # fmt: skip
_IF = r"(?:如果|若是|若|假如|要是|倘若|只要|一旦|因为|由于|当)"
_TIME = r"(?:的话|的时候|(?<![小临按准及同平届顿])时|之后|以后|后)"
_CHINESE = (
    re.compile(rf"^(?:{_IF}|(?P<only>只有))(?P<given>[^,;:]+?){_TIME}?[,;](?:那么?|则|就|便|所以|因此|因而|于是)?(?P<then>[^;:]+)$"),
    re.compile(r"^当(?P<given>[^,;:]+?)(?:的时候|(?<![小临按准及同平届顿])时)(?P<then>[^,;:]+)$"),
    re.compile(rf"^(?P<given>[^,;:]+?){_TIME},(?P<then>[^;:]+)$"),
    re.compile(r"^(?P<given>[^,;:]+?),(?:所以|因此|因而|于是|从而)(?P<then>[^;:]+)$"),
    re.compile(r"^(?P<given>[^,;:一]*一(?![个次些天年月周份张位般定直样起共旦])[^,;:]+),(?P<then>[^,;:]*就[^,;:]+)$"),
    re.compile(rf"^(?P<then>[^,;:]+?),?(?:这?是|就是|都是)?(?:因为|由于)(?P<given>[^,;:]+?){_TIME}?$"),
    re.compile(rf"^(?P<then>[^,;:]+?),(?:如果|要是|只要|一旦|当|假如|若)(?P<given>[^,;:]+?){_TIME}?$"),
)  # fmt: skip
_SENTENCE = re.compile(r"[.!?。！？](?:\s+|$)|(?<=[。！？])|\n")
_MARKED = re.compile(
    rf"\b{_MARK}\b|\b(?:so|therefore|hence|thus|consequently|as a result|why)\b|{_IF}|只有|的话|时|后|所以|因此|因而|于是|从而|一",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"because|due|owing|given|since|so\b|therefore|hence|thus|conseq|result|why|因|由于|所以|于是|从而", re.IGNORECASE
)
_FIRST = re.compile("after|once|soon|moment|后|一旦|一", re.IGNORECASE)
_FILLERS = frozenset(
    [
        "a",
        "an",
        "the",
        "then",
        "and",
        "but",
        "please",
        "的",
        "了",
        "就",
        "则",
        "便",
        "才",
        "那么",
        "会",
        "也",
        "而",
        "但",
        "请",
    ]
)
_RULES = frozenset(
    ["must", "have to", "need to", "should", "may", "can", "必须", "须", "应该", "应", "可以", "可", "能", "需要"]
)


class Halves(NamedTuple):
    """The two clauses of a sentence: `then` is so where, when or because `given` is."""

    given: str
    then: str
    only: bool  # "only if": then `given` is so where `then` is, too
    kind: str  # "reason", "before" (`given` comes first), or "given" (a condition, or what happens together)


def sentences(text: Text) -> Iterator[str]:
    for sentence in _SENTENCE.split(text.plain):
        clean = sentence.strip().replace("，", ",").replace("；", ";").replace("：", ":").rstrip(" .。,;")
        if clean:
            yield clean


def halves(sentence: str, lang: str) -> Halves | None:
    """The clauses of a sentence of `sentences`; None where it is not made of two."""
    if not _MARKED.search(sentence):
        return None
    patterns = _CHINESE if lang == "zh" else _ENGLISH
    found = next((match for pattern in patterns if (match := pattern.match(sentence))), None)
    if found is None or _ASKED.search(sentence[: found.start("given")].rsplit(" ", 2)[0].rstrip()):
        return None
    around = found.groupdict()
    told = around.get("mark") or sentence.replace(found["given"], "").replace(found["then"], "")
    return Halves(found["given"], found["then"], bool(around.get("only")), _kind(told))


def _kind(told: str) -> str:
    return "reason" if _REASONS.search(told) else "before" if _FIRST.search(told) else "given"


def moved_whole(one: Text, other: Text) -> bool:
    """Whether the texts differ in nothing but where whole clauses stand, each with the word that joins it.

    Sentences stay where they are, but for rules ("drivers must, passengers may"), of which none is first.
    """
    if one.lang != other.lang:
        return False
    ours, theirs = _clauses(one), _clauses(other)
    fixed = [[clause for clause in clauses if clause[0] != "rule"] for clauses in (ours, theirs)]
    return fixed[0] == fixed[1] and sorted(ours) == sorted(theirs)


Clause = tuple[str, tuple[str, ...]]  # what it is (of two halves the one that depends is "then"), and its words


@remembered
def _clauses(text: Text) -> list[Clause]:
    """In order; of two halves that on which the other depends comes first."""
    found: list[Clause] = []
    for sentence in sentences(text):
        parts = halves(sentence, text.lang)
        if parts is not None:
            role = f"{'only ' if parts.only else ''}{parts.kind}"
            found += [(role, _words(parts.given, text.lang)), ("then", _words(parts.then, text.lang))]
        else:
            for clause in re.split(r"[,;] ?(?:and |but |whereas |while |而|但)?", sentence):
                words = _words(clause, text.lang)
                found.append(("rule" if _RULES & set(words) else "", words))
    return found


def _words(plain: str, lang: str) -> tuple[str, ...]:
    return tuple(w.lemma for w in read(plain.strip(), lang).words if not w.mark and w.lemma not in _FILLERS)
