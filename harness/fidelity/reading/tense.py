"""When what a verb tells of happens: done, under way, to come, given up. "has arrived" is not "will arrive"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.polarity import polarity
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.tense_zh import chinese_deeds
from harness.fidelity.reading.text import Text, Word


class Stage(StrEnum):
    """How far something is."""

    DONE = "done"
    UNDER_WAY = "under way"
    STARTED = "begun, or about to"  # "we are sending it"
    TO_COME = "to come"
    GIVEN_UP = "given up"  # "used to"
    HABIT = "a habit"  # the plain present


class Deed(NamedTuple):
    """A verb and how far it is. `verb`: the English word, or the name of the Chinese group."""

    stage: Stage
    verb: Word | str
    text: str


_ADVERBS = r"(?:(?:already|just|now|also|all|both|first|soon|still|yet|then|even|either|probably|[a-z]+ly) )*"
_NEXT = r"(?P<verb>[a-z])"
_PATTERNS = (
    (Stage.TO_COME, re.compile(rf"\b(?:will|shall) {_ADVERBS}(?!not\b|never\b)(?:be |have been |have )?{_ADVERBS}(?!being\b|going\b){_NEXT}", re.IGNORECASE)),
    (Stage.TO_COME, re.compile(rf"\b(?:is|are|am|be) {_ADVERBS}(?:(?:going|about|due|set|scheduled|planned|expected|waiting) )?to (?:be )?{_ADVERBS}{_NEXT}", re.IGNORECASE)),
    (Stage.TO_COME, re.compile(rf"\b(?:has|have|is|are) (?:still )?yet to (?:be )?{_NEXT}|\bon the (?:point|verge) of (?:being )?(?P<verb_of>[a-z])", re.IGNORECASE)),
    (Stage.UNDER_WAY, re.compile(rf"\b(?:is|are|am) {_ADVERBS}being {_ADVERBS}{_NEXT}", re.IGNORECASE)),
    (Stage.STARTED, re.compile(rf"\b(?:is|are|am|has been|have been) {_ADVERBS}(?!going to|being)(?=[a-z]+ing\b){_NEXT}", re.IGNORECASE)),
    (Stage.DONE, re.compile(rf"\b(?:has|have|had) {_ADVERBS}(?!not\b|never\b)(?:been )?{_ADVERBS}(?!being\b|[a-z]+ing\b){_NEXT}", re.IGNORECASE)),
    (Stage.DONE, re.compile(rf"\b(?:was|were) {_ADVERBS}(?!not\b|never\b|being\b|[a-z]+ing\b|to\b){_NEXT}", re.IGNORECASE)),
    (Stage.DONE, re.compile(rf"\b(?:is|are) (?:already|now) {_ADVERBS}(?!being\b|[a-z]+ing\b|to\b){_NEXT}", re.IGNORECASE)),
    (Stage.GIVEN_UP, re.compile(rf"(?<!\bbe )(?<!\bis )(?<!\bare )(?<!\bget )(?<!\bwas )(?<!\bwere )\bused to (?:be )?{_NEXT}", re.IGNORECASE)),
)  # fmt: skip
_READY = re.compile(r"\b(?:is|are) (?:now |already |all )?(?P<verb>ready|finished|over|done|live)\b", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"\b(?:if|once|when|whenever|after|until|till|before|unless|whether|in case|as soon as|who|whose|which|whatever|where|how|why|provided|assuming|as long as|while|by the time|since|would|could|should|might|may|can|must|to (?=have\b)|that (?=(?:has|have|had|was|were|is|are|will)\b))\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.,;:!?—()\n]")
_SENTENCE_STOP = re.compile(r"[.;!?\n]")
_SOON = re.compile(
    r"\b(?:tomorrow|soon|shortly|tonight|later today|next (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|in a (?:moment|minute|while|few (?:minutes|hours|days)))\b",
    re.IGNORECASE,
)
_NO_PAST_AFTER = frozenset(
    ["be", "have", "will", "would", "can", "could", "may", "might", "must", "shall", "should", "do", "to", "the", "a", "an", "of", "by",
     "get", "as", "if", "when", "once", "unless", "until", "not", "never", "being", "been", "let", "any", "all", "your", "our", "their", "its"]
)  # fmt: skip
_AUXILIARIES = frozenset(
    ["be", "have", "will", "would", "can", "could", "may", "might", "must", "shall", "should", "do"]
)
_LINKING = frozenset(["stay", "remain", "keep", "get", "become", "seem", "appear", "feel", "look", "leave", "go"])
_UNCHANGED = frozenset(
    ["put", "set", "cut", "cost", "read", "come", "become", "run", "hit", "let", "shut", "split", "spread", "quit"]
)
_GIVEN_UP_ELSEWHERE = re.compile(
    r"\b(?:no longer|any ?more|stopped|ceased|used to|in the past|previously|formerly|once|former|until)\b",
    re.IGNORECASE,
)


@remembered
def deeds(text: Text) -> tuple[Deed, ...]:
    """What a text tells as done, under way, to come or given up; what it denies, asks or only supposes is left out."""
    if text.lang == "zh":
        return tuple(Deed(Stage[stage], verb, told) for stage, verb, told in chinese_deeds(text.plain))
    return tuple(_english(text))


def _english(text: Text) -> Iterator[Deed]:
    at_offset = {word.start: i for i, word in enumerate(text.words)}
    denied, taken = polarity(text).denied, set[int]()
    for stage, pattern in _PATTERNS:
        for found in pattern.finditer(text.plain):
            begins = found.start("verb") if found["verb"] else found.start("verb_of")
            at = at_offset.get(begins)
            if at is None or at in taken or not _may_be(stage, text.words[at]):
                continue
            taken.add(at)
            if at not in denied and not _supposed(text.plain, found.start()):
                yield Deed(stage, text.words[at], text.plain[found.start() : begins] + text.words[at].text)
    for found in _READY.finditer(text.plain):
        at = at_offset.get(found.start("verb"))
        if at is not None and at not in taken and not _supposed(text.plain, found.start()) and not _dated(text, at):
            taken.add(at)
            yield Deed(Stage.DONE, text.words[at], found[0])
    for at, word in enumerate(text.words):
        if at not in taken and not word.mark and not word.fact and at not in denied:
            yield from _without_auxiliary(text, at, word)


def _without_auxiliary(text: Text, at: int, word: Word) -> Iterator[Deed]:
    before = next((w for w in reversed(text.words[:at]) if not w.text.casefold().endswith("ly")), None)
    if before is None or before.mark or before.lemma in _NO_PAST_AFTER or before.fact:
        return
    if _past(word):
        clause = [w.lemma for w in text.words if w.clause == word.clause]
        if _AUXILIARIES.isdisjoint(clause) and before.lemma not in _LINKING and not _supposed(text.plain, word.start):
            yield Deed(Stage.DONE, word, word.text)
    elif word.text.casefold() in _present(word.lemma) and not _supposed(text.plain, word.start):
        soon = _SOON.search(text.plain, word.start, _end(text.plain, word.start))
        yield Deed(Stage.TO_COME if soon else Stage.HABIT, word, f"{word.text} {soon[0]}" if soon else word.text)


def _may_be(stage: Stage, word: Word) -> bool:
    """Whether the word that follows the auxiliary can be its verb: a participle after "has"."""
    if (
        word.mark
        or word.fact
        or (word.function and " " not in word.lemma and word.lemma not in ("make", "take", "go", "do"))
    ):
        return False
    return (
        stage is not Stage.DONE
        or _past(word)
        or word.lemma in _UNCHANGED
        or word.lemma in ("ready", "finished", "over", "live")
    )


def _past(word: Word) -> bool:
    form, lemma = word.text.casefold().split(" ")[0], word.lemma.split(" ")[0]
    if form == lemma:
        return base(word) != word.lemma
    return not form.endswith(("ing", "s")) and (form.endswith("ed") or lexicon("en").forms.get(form) == lemma)


@lru_cache(maxsize=8192)
def _base(form: str) -> str:
    if form in _IRREGULAR:
        return _IRREGULAR[form]
    words = lexicon("en").words
    stems = (form[:-2], form[:-1], form[:-3]) if form.endswith("ed") and len(form) > 4 else ()
    return next((stem for stem in stems if stem in words), form)


def base(word: Word) -> str:
    """The base form of a verb, also of one that the lexicon lists in its past form: "opened", "left"."""
    return word.lemma if word.lemma != word.text.casefold() else _base(word.lemma)


_IRREGULAR = {"left": "leave", "lost": "lose", "sold": "sell", "broken": "break", "closed": "close", "found": "find"}


def _present(lemma: str) -> tuple[str, ...]:
    first, _, rest = lemma.partition(" ")
    forms = (first, f"{first}s", f"{first}es", f"{first[:-1]}ies")
    return tuple(f"{form} {rest}" if rest else form for form in forms)


def _supposed(plain: str, at: int) -> bool:
    """Whether a condition, a question or a relative clause begins between the last stop and `at`."""
    start = max((m.end() for m in _STOP.finditer(plain, max(0, at - 200), at)), default=max(0, at - 200))
    return bool(_SUPPOSED.search(plain, start, at + 5)) or plain[_end(plain, at) : _end(plain, at) + 1] == "?"


def _dated(text: Text, at: int) -> bool:
    clause = text.words[at].clause
    return any(w.fact for w in text.words if w.clause == clause)


def _end(plain: str, at: int) -> int:
    stop = _SENTENCE_STOP.search(plain, at)
    return stop.start() if stop else len(plain)


def given_up_elsewhere(text: Text) -> bool:
    """Whether a text says in other words that something is no longer done."""
    return bool(_GIVEN_UP_ELSEWHERE.search(text.plain))
