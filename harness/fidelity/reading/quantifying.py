"""What sounds like a quantifier and is none, and what says all, both or once without the word for it."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.denials_en import adds
from harness.fidelity.reading.text import Text

_SHORT_SPANS = frozenset(["second", "minute", "hour", "moment", "秒", "秒钟", "分钟", "小时"])
_LONG_SPANS = frozenset(
    ["day", "night", "week", "month", "year", "天", "周", "月", "年"]
)  # "on a few days" counts days
_LASTING = frozenset(["in", "within", "for", "after", "last", "next", "past", "take", "wait", "by"])
_FROM_THEN = frozenset(
    ["later", "ago", "earlier", "before", "after", "afterwards", "from", "long", "more", "old", "后", "前", "内"]
)
_COUNTS_SPANS = frozenset(["few", "a few", "several", "几"])
_REST_OF_A_TIME = re.compile(
    r"rest of (?:the |this |that |your |his |her |their |our )?(?:day|night|week|weekend|month|year|season|term|race|game|match|journey|trip|time|morning|afternoon|evening|winter|summer|visit|stay|shift)\b",
    re.IGNORECASE,
)
_THE_TWO = re.compile(
    r"(?<!\bone of )(?<!either of )(?<!neither of )(?<!any of )(?<!half of )\b(?:the|these|those|all) two\b(?! (?:hundred|thousand|million))"
    r"|\b(?:when|whenever|if|once|as soon as) one\b[^.;!?]*\bthe other\b|两[者个样件位]都|两个一起|俩",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\bthe (?:others?|remaining|other ones)\b|\ball (?:the )?others?\b|其余|其他|其它|剩下|另外", re.IGNORECASE
)
_EVENTS = (  # what happens, and may happen again
    r"(?:times?|occasions?|uses?|visits?|crossings?|trips?|journeys?|rides?|flights?|stays?|entry|entries|purchases?|orders?|bookings?|payments?|transactions?|deliver(?:y|ies)|log-?ins?|sign-?ins?|sessions?|"
    r"runs?|washe?s?|rinses?|cycles?|meals?|doses?|lessons?|class(?:es)?|meetings?|appointments?|shifts?|rounds?|turns?|laps?|games?|match(?:es)?|starts?|restarts?|stops?|arrivals?|departures?|checks?|inspections?|tests?|changes?|"
    r"updates?|attempts?|calls?|renewals?|charges?|refills?|transfers?|withdrawals?|deposits?|returns?)"
)
ONLY_ONCE = re.compile(
    rf"\b(?:only|just|no more than) (?:(?:the|a|for|this) )?(?:once|one time|single time|one occasion)\b(?! per {_EVENTS}\b)|\bonce only\b|\bone time only\b|[只仅][^，。；,;]{{0,4}}一次",
    re.IGNORECASE,
)
EVERY_TIME = re.compile(rf"\b(?:every|each) (?:single )?{_EVENTS}\b|\balways\b|每一?[次回趟场轮遍]", re.IGNORECASE)
ONCE = re.compile(r"\b(?:once|one|first)\b|(?<!每)一次", re.IGNORECASE)
_FOR_EACH = re.compile(r"\b(?:every|each|all)\b|\bper\b|每|人人|所有", re.IGNORECASE)
_BESIDES_ZH = re.compile(  # 除身份证外还需照片
    r"除了?(?![^。；;!?]*(?:其他|其余|其它|别的|任何|所有|都|均|全|谁|[不没无]))[^。；;!?]{1,24}?(?:[之以]?外)?[，,]?[^，。；,;!?]{0,8}(?:还|也|另|并)"
)
WITHOUT_EXCEPTION = re.compile(
    r"\b(?:each and every|every (?:single )?one of|every single|every last|any and all|without exception|no exceptions?|everywhere|all of (?:them|our|the|its))\b|无一例外|没有例外|一律|统统|通通|所有|全部|任何|每一?[个间位处条家样]",
    re.IGNORECASE,
)


def no_quantifier(text: Text, at: int) -> bool:
    """Whether a word is none where it stands: "a few months", "at all", "a day's rest", "the rest of the race"."""
    word, words = text.words[at], text.words
    before, after = words[at - 1] if at else None, words[at + 1] if at + 1 < len(words) else None
    if word.text.casefold() in ("fewer", "fewest"):
        return True  # they compare
    if word.lemma in _COUNTS_SPANS and after is not None:
        return _lasts([w.lemma for w in words[max(0, at - 2) : at]], [w.lemma for w in words[at + 1 : at + 4]])
    if word.lemma == "rest":
        the_rest = word.text.casefold() == "rest" and before is not None and before.text.casefold() == "the"
        return not the_rest or _REST_OF_A_TIME.match(text.plain, word.start) is not None
    if word.lemma != "all":
        return False
    near = {before.text.casefold() if before else "", after.text.casefold() if after else ""}
    return bool(near & {"at", "after", "above", "right"}) and not (before and before.lemma == "not")


def _lasts(before: list[str], after: list[str]) -> bool:
    """Whether "a few" tells how long something lasts, or how far off it is."""
    then = after[1:] if after[0] in ("more", "dozen", "个") else after
    if not then or then[0] in _SHORT_SPANS:
        return bool(then)
    told = not _LASTING.isdisjoint(before) or not _FROM_THEN.isdisjoint(then[1:2])
    return then[0] in _LONG_SPANS and told


def as_a_pair(text: Text) -> bool:
    """Whether a text tells of two things together: "both", "the two of them", "when one breaks, the other does, too"."""
    return "both" in text.said or bool(_THE_TWO.search(text.plain))


def told_of_others(text: Text) -> bool:
    """Whether a text tells of "the others", which are the rest."""
    return bool(_OTHERS.search(text.plain))


def once_for_each(text: Text) -> bool:
    """Whether a text gives everybody the same once: "each customer can use it once", not "one stamp on every visit"."""
    everybody = _FOR_EACH.search(text.plain) and not EVERY_TIME.search(text.plain)
    return bool(everybody and ONCE.search(text.plain))


def besides(text: Text, at: int) -> bool:
    """Whether a word that may set apart adds: "besides adults, children are welcome", 除身份证外还需照片."""
    start = text.words[at].start
    return adds(text.words, at) or any(f.start() <= start < f.end() for f in _BESIDES_ZH.finditer(text.plain))
