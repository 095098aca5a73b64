"""A number that only counts what is listed: "he needs three things: A, B and C", 以下两点, "all three of them"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.fact import Fact, Kind
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

MOST = 12  # items of a list that is counted
_SORTS = frozenset("样点项条步种")  # what the items of a list are counted in
_THINGS = re.compile(  # what names nothing but the items of a list
    r"\s+(?:(?!of\b)[a-z-]+\s+){0,2}?(?:things?|items?|points?|steps?|conditions?|requirements?|documents?|papers?|ways?|options?|reasons?|rules?|tasks?|measures?|precautions?|stages?|prerequisites?|pieces of (?:advice|paper|information))\b"
    r"|[样件项步种条个份]?(?:东西|事情?|材料|证件|条件|步骤|步|要求|原因|理由|办法|方法|注意事项|要点|手续|措施|情况|方面|选择|文件|内容|样|项|点)",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all|the|these|those)\s+$", re.IGNORECASE)
_OF_THEM = re.compile(r"\s+of (?:them|these|those)\b|\s*(?:$|[.,;!])|\s+together\b", re.IGNORECASE)
_LEADS = re.compile(r"[^.;!?:。；！？：]{0,80}[:：](?!\d)\s*")  # from the number to the list
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？；]")
_COMMA = re.compile(r"\s*[,，]\s*(?:(?:and|or|as well as)\s+)?")
_JOINT = re.compile(r"\s*[,，]\s*(?:(?:and|or|as well as|plus)\s+)?|\s+(?:and|or|as well as|plus)\s+", re.IGNORECASE)
_JOINT_ZH = re.compile(r"、|以及|还有|和|及|与|或者?")
_SAID_FIRST = re.compile(
    r"\W*(?:yes|no|sure|certainly|of course|ok|okay|是的?|好的?|可以的?|行|对|不行)\W*$", re.IGNORECASE
)
_INTRO = re.compile(  # a part of a sentence that only leads to what is listed
    r"\W*(?:(?:if|when|once|before|after|for|to|in|on|at|as|while|because|since|until|by|with|from)\b|如果|要是|若|为|当|从|凡)",
    re.IGNORECASE,
)

_GOES_ON = re.compile(
    r"(?:the|an?|your|his|her|its|their|our|my|proof|copies)\b", re.IGNORECASE
)  # of a list begun before


def counts_a_list(fact: Fact, own: Text, other: Text) -> bool:
    """Whether `fact`, of the text `own`, is how many things `other` lists; or `own` itself, where `other` lists none."""
    told = _lists_named(fact, own)
    return told is not None and _whole(fact) in (lengths(other) or told)


def lists_as_many(fact: Fact, own: Text, other: Text) -> bool:
    """Whether `fact` counts what `own` lists, and `other` has a list of that length."""
    return _lists_named(fact, own) is not None and _whole(fact) in _listed(other)


def _whole(fact: Fact) -> int:
    return int(fact.value) if isinstance(fact.value, float) and fact.value in range(2, MOST + 1) else 0


def _lists_named(fact: Fact, own: Text) -> frozenset[int] | None:
    """How many items the list may have that a number leads to; None where it does not count the items of a list."""
    if fact.kind is not Kind.NUMBER or not _whole(fact):
        return None
    plain = own.plain
    leads = _LEADS.match(plain, fact.end)
    listed_here = _lengths_of(_sentence_from(plain, leads.end())) if leads else frozenset[int]()
    named = bool(_THINGS.match(plain, fact.end)) or (own.lang == "zh" and fact.text[-1:] in _SORTS)
    summed = bool(_ALL.search(plain[: fact.start]) and _OF_THEM.match(plain, fact.end))
    return listed_here if named or summed or _whole(fact) in listed_here else None


@remembered
def lengths(text: Text) -> frozenset[int]:
    """How many items the lists of a text have; without a list of three how many sentences or clauses it has."""
    found = _listed(text)
    longer = frozenset(number for number in found if number > 2)
    return longer or found | ({len(_sentences(text))} - {1})


@remembered
def _listed(text: Text) -> frozenset[int]:
    return frozenset(number for sentence in _sentences(text) for number in _lengths_of(sentence))


def _sentences(text: Text) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text.plain.strip()) if sentence.strip()]


def _sentence_from(plain: str, start: int) -> str:
    return _SENTENCE.split(plain[start:], 1)[0]


def _lengths_of(sentence: str) -> frozenset[int]:
    """Numbers of items that a sentence may be said to list: an "and" may join two of them, or stand in one of them."""
    found = set()
    for joint in (_COMMA, _JOINT):
        parts = [part for part in joint.split(sentence) if part.strip()]
        leads = len(parts) > 1 and _INTRO.match(parts[0]) and not _GOES_ON.match(parts[1])
        if leads or (len(parts) > 1 and _SAID_FIRST.match(parts[0])):
            parts = parts[1:]
        found.add(len(parts))
    found.update(len(_JOINT_ZH.split(part)) for part in _COMMA.split(sentence))
    return frozenset(found - {1})
