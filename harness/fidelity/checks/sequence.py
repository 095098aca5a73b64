"""What comes first, what a moment begins or ends, and what causes what."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

from harness.fidelity.case import Finding
from harness.fidelity.checks.omission import KEPT
from harness.fidelity.reading.dependence import exchanged
from harness.fidelity.reading.fact import Fact, Kind, same
from harness.fidelity.reading.pair import Pair, alike
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text, Word, content_words, joined

NAME = "sequence"
_WINDOW = 30  # characters looked at on either side of a moment
_MOMENTS = frozenset({Kind.DATE, Kind.TIME, Kind.WEEKDAY, Kind.DAY})
MENTIONS = 2  # of a moment, one in each text
_ENDS = re.compile(
    r"\b(?:by|until|till|before|no later than|latest|due|deadline|clos\w+|ends?|ending|expir\w+|last day|valid (?:to|through)|through)\b[^.,;]{0,18}$|(?:截止|截至|止于|最晚|最迟|不晚于)[^，。,]{0,6}$|(?:开|营业|开放|一直|持续)[到至]$",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\b(?:from|start\w*|begin\w*|open\w*|as of|after|since|earliest|onwards|no earlier than|resum\w+|launch\w*|becomes? available)\b(?:(?!\b(?:to|until|till|through|and)\b|-)[^.,;]){0,18}$|(?:自|从|始于|最早|开始于)[^，。,]{0,3}$",
    re.IGNORECASE,
)
_ENDS_AFTER = re.compile(
    r"^\s*(?:at the latest\b|is the (?:deadline|last)|(?:之前|以前|前|为止|截止|结束|到期|关闭))", re.IGNORECASE
)
_BEGINS_AFTER = re.compile(
    r"^\s*(?:at the earliest\b|onwards?\b|and later\b|(?:起|开始|之后|以后|后|启动|开放))", re.IGNORECASE
)
_CAUSE = re.compile(
    r"\b(?:because(?: of)?|due to|owing to|thanks to|on account of|caused by|as a result of|the (?:reason|cause)(?: \w+){0,3} (?:is|was)|blamed on|(?<=[a-z] )since (?=(?:there|the|it|you|your|we|our|they|he|she|this|that|no|not)\b(?![^.;]*\b(?:ago|19\d\d|20\d\d)\b)))\b(?P<en>[^.;:!?]+)"
    r"|(?:因为|由于|原因(?:是|为|在于)|起因是|归因于)(?P<zh>[^，。；！？,;!?]+)",
    re.IGNORECASE,
)
_LINKS = (  # the word without which the pattern of the same place in `_ORDER` cannot match
    *(re.compile(word, re.IGNORECASE) for word in ("before", "before", "after|once", "after|once", "then|afterwards|next|followed by", "first")),
    re.compile(r"cause|led to|leads to|results? in|resulted in|sets? off|trigger|brought about|brings about", re.IGNORECASE),
    *map(re.compile, ("导致|造成|引起|引发|使|让|令", "先", "前", "后")),
    re.compile("because|due to|owing to|as a result of", re.IGNORECASE),
    *map(re.compile, ("因为|由于", "因为", "前", "后")),
)  # fmt: skip
_LINK = re.compile("|".join(dict.fromkeys(link.pattern for link in _LINKS)), re.IGNORECASE)
_ORDER = (  # how a sentence says what is first and what second
    re.compile(r"(?P<one>[^.;!?]+?)\bbefore (?P<two>[^.;!?,]+)(?:,|$)", re.IGNORECASE),
    re.compile(r"^before (?P<two>[^.;!?,]+), ?(?P<one>[^.;!?]+)", re.IGNORECASE),
    re.compile(r"^(?:after|once) (?P<one>[^.;!?,]+), ?(?P<two>[^.;!?]+)", re.IGNORECASE),
    re.compile(r"(?P<two>[^.;!?]+?),? \b(?:only )?(?:after|once) (?P<one>[^.;!?,]+)(?:,|$)", re.IGNORECASE),
    re.compile(r"(?P<one>[^.;!?]+?)(?:,| and| first)+ (?:only )?(?:and )?(?:then|afterwards|next|followed by)\b(?P<two>[^.;!?]+)$", re.IGNORECASE),
    re.compile(r"(?P<one>[^.;!?]+?)\bfirst\b,?(?: and| then|,)+ (?P<two>[^.;!?]+?)(?: (?:afterwards?|second|next|later|after that))?$", re.IGNORECASE),
    re.compile(r"(?P<one>[^.;!?]+?)\b(?:cause[sd]?|led to|leads to|results? in|resulted in|set off|sets off|trigger(?:s|ed)?|brought about|brings about)\b(?! by\b)(?P<two>[^.;!?,]+)", re.IGNORECASE),
    re.compile(r"(?P<one>[^。；！？，,;!?]+?)[，,]?(?:从而|进而|因而|结果|最终)?(?:导致|造成|引起|引发|使得?|让|令)(?P<two>[^。；！？，,;!?]+)"),
    re.compile(r"先(?P<one>[^。；！？;!?]+?)[，,]?(?:再|然后|之后|后|接着|随后)(?P<two>[^。；！？;!?]+)"),
    re.compile(r"(?P<two>[^。；！？，,;!?]+?)(?:之前|以前|前)[，,]?(?:要|应|须|必须|需|请|得)?先(?P<one>[^。；！？;!?]+)"),
    re.compile(r"(?P<one>[^。；！？，,;!?]+?)(?:之后|以后|后)[，,]?(?:才能?|再|方可|就|可以)(?P<two>[^。；！？;!?]+)"),
    re.compile(r"(?P<two>[^.;!?]+?),? (?:because(?: of)?|due to|owing to|as a result of) (?P<one>[^.;!?]+)", re.IGNORECASE),
    re.compile(r"(?:因为|由于)(?P<one>[^，。；！？,;!?]+)[，,](?:所以|因此|因而|才|于是)?(?P<two>[^。；！？;!?]+)"),
    re.compile(r"(?P<two>[^。；！？;!?]{2,}?)[，,]?(?:是|就是|都是)?因为(?P<one>[^。；！？;!?]+)"),
    re.compile(r"(?P<one>[^。；！？，,;!?]{2,}?)(?:要|应该?|须|必须|需要?|请|得)?赶?在(?P<two>[^。；！？，,;!?]{2,}?)(?:之前|以前|前)"),
    re.compile(r"(?P<two>[^。；！？，,;!?]{2,}?)(?:要|应该?|须|必须|需要?|请|得)?在(?P<one>[^。；！？，,;!?]{2,}?)(?:之后|以后|后)"),
)  # fmt: skip


_CHAIN = re.compile(
    r"\b(?:cause[sd]?|led to|leads to|results? in|resulted in|set off|sets off|trigger(?:s|ed)?|brought about|brings about|makes?|made)\b(?! by\b)|导致|造成|引起|引发|使得?|让|令",
    re.IGNORECASE,
)
_TELLS_ORDER = re.compile(
    r"before|after|once|then|next|followed|first|cause|led to|leads to|result|set off|sets off|trigger|brought about|brings about|先|后|前|导致|造成|引起|引发|使|让|令",
    re.IGNORECASE,
)
_MOVED = re.compile(r"\b(?:moved|changed|shifted|postponed|brought forward|rescheduled|pushed)\b", re.IGNORECASE)
_SIDE_EN = re.compile(
    r"\b(?:(?P<before>before|prior to|ahead of)|after|once|following|as soon as)\b(?P<what>[^.;:!?,]+)", re.IGNORECASE
)
_SIDE_ZH = re.compile(
    r"(?:^|[，。；！？,;!?])(?:等|在|当)?(?P<what>[^，。；！？,;!?]{2,12}?)(?:(?P<before>之前|以前|前(?!往|台|面|后))|之后|以后|完了?(?:再|才|就)|了[再才]|后(?!天|台|面|续))"
)


def check(both: Pair) -> list[Finding]:
    return [
        *_turned(both),
        *_other_side(both),
        *_other_cause(both),
        *_other_order(both),
        *_other_effect(both),
        *_exchanged(both),
    ]


def _exchanged(both: Pair) -> Iterator[Finding]:
    """What follows from a thing in one text is what the thing follows from in the other."""
    found = exchanged(both.reference, both.candidate)
    if found:
        here, there = found
        reason = f"“{joined(there.given.words, 6)}” is what the rest depends on in the answer, “{joined(here.given.words, 6)}” in the reference"
        yield Finding(check=NAME, severity=1.0, reason=reason, certain=True)


def _other_effect(both: Pair) -> Iterator[Finding]:
    """What comes first in a chain of causes is the last effect in the other text."""
    here = _chain(both.reference)
    there = here and _chain(both.candidate)
    if not here or not there or _kept(here[0], there[0]) or _kept(there[0], here[0]):
        return
    if _kept(here[0], there[1]) >= 0.5 and _kept(there[0], here[1]) >= 0.5:
        reason = f"“{joined(there[0], 6)}” is the cause in the answer, and an effect in the reference"
        yield Finding(check=NAME, severity=1.0, reason=reason)


@remembered
def _chain(text: Text) -> tuple[list[Word], list[Word]] | None:
    found = _CHAIN.search(text.plain)
    if not found:
        return None
    one, two = (
        content_words(text.plain[a:b], text.lang) for a, b in ((0, found.start()), (found.end(), len(text.plain)))
    )
    return (one, two) if one and two else None


def _other_side(both: Pair) -> Iterator[Finding]:
    """What has to be before something in one text, and after the same thing in the other."""
    odd = (len(both.polarity_here.denials) - len(both.polarity_there.denials)) % 2
    here = [] if odd else list(_sides(both.reference))
    there = list(_sides(both.candidate)) if here else []
    if not here or not there:
        return
    for side, words in here:
        rivals = [s for s, others in there if _kept(words, others) >= 0.5 and _kept(others, words) >= 0.5]
        if rivals and side not in rivals:
            where = ("before", "after") if side < 0 else ("after", "before")
            reason = f"it is {where[0]} “{joined(words, 6)}” in the reference, {where[1]} it in the answer"
            yield Finding(check=NAME, severity=1.0, reason=reason)


def _sides(text: Text) -> Iterator[tuple[int, list[Word]]]:
    """-1 for what something comes before, +1 for what it comes after, with the words that name it."""
    for match in (_SIDE_ZH if text.lang == "zh" else _SIDE_EN).finditer(text.plain):
        words = content_words(match["what"], text.lang)[:4]
        if words and not any(w.fact for w in words):
            yield (-1 if match["before"] else 1), words


def _turned(both: Pair) -> Iterator[Finding]:
    """A moment that something ends with on one side and begins with on the other."""
    if both.polarity_here.denials or both.polarity_there.denials:
        return
    for one, other in both.same_facts:
        if one.kind in _MOMENTS and _edge(both.reference.plain, one) * _edge(both.candidate.plain, other) < 0:
            if len([f for text in (both.reference, both.candidate) for f in text.facts if same(f, one)]) > MENTIONS:
                continue  # "until March Felix, from March Nadia"
            reason = f"“{other.text}” is when it ends on one side, and when it begins on the other"
            yield Finding(check=NAME, severity=1.0, reason=reason)


def _edge(plain: str, fact: Fact) -> int:
    """-1: something is over by then, +1: it begins then, 0: neither or both."""
    before, after = plain[max(0, fact.start - _WINDOW) : fact.start], plain[fact.end : fact.end + _WINDOW]
    ends = bool(_ENDS.search(before) or _ENDS_AFTER.search(after))
    begins = bool(_BEGINS.search(before) or _BEGINS_AFTER.search(after))
    return begins - ends if not _MOVED.search(before) else 0


def _other_cause(both: Pair) -> Iterator[Finding]:
    """A cause of which the reference says nothing, in place of its own."""
    here = _cause(both.reference)
    there = here and _cause(both.candidate)
    if not here or not there:
        return
    if _kept(here, both.candidate.words) < KEPT and _kept(there, both.reference.words) < KEPT:
        reason = f"“{joined(there, 6)}” is the cause in the answer, “{joined(here, 6)}” in the reference"
        yield Finding(check=NAME, severity=0.9, reason=reason)


@remembered
def _cause(text: Text) -> list[Word]:
    found = _CAUSE.search(text.plain)
    return content_words(found["en"] or found["zh"], text.lang) if found else []


def _other_order(both: Pair) -> Iterator[Finding]:
    """Two steps in the other order."""
    if not (_LINK.search(both.reference.plain) and _LINK.search(both.candidate.plain)):
        return
    here = _order(both.reference)
    there = here and _order(both.candidate)
    denied = [any(not denial.lexical for denial in p.denials) for p in (both.polarity_here, both.polarity_there)]
    if not here or not there or denied[0] != denied[1]:  # "only after" is "not before"
        return
    straight = min(_kept(here[0], there[0]), _kept(here[1], there[1]))
    crossed = min(_kept(here[0], there[1]), _kept(here[1], there[0]))
    if crossed > max(KEPT, straight):
        reason = f"“{joined(there[0], 6)}” comes first in the answer, “{joined(here[0], 6)}” in the reference"
        yield Finding(check=NAME, severity=1.0, reason=reason)


@remembered
def _order(text: Text) -> tuple[list[Word], list[Word]] | None:
    """The words of the first and of the second step; None where no two steps are told."""
    for sentence in map(str.strip, re.split(r"[.;!?。；！？]\s*", text.plain)):
        for link, pattern in zip(_LINKS, _ORDER, strict=True):
            found = link.search(sentence) and pattern.search(sentence)
            if found:
                one, two = (content_words(found[name], text.lang) for name in ("one", "two"))
                if one and two:
                    return one, two
    return None


def _kept(words: list[Word], others: list[Word] | tuple[Word, ...]) -> float:
    """Share of `words` that `others` say, in [0, 1]."""
    return sum(any(alike(word, other) for other in others) for word in words) / len(words)
