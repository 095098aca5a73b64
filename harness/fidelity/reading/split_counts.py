"""How many of how many work: "two of the three are up" is "one of the three is down"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.numerals import NUMBER_EN, NUMBER_ZH, chinese, english
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_OF_EN = re.compile(
    rf"\b(?P<part>{NUMBER_EN}) (?:out )?of (?:(?:the|our|its|your|their|all) )?(?P<whole>{NUMBER_EN})(?![\w%])", re.I
)
_OF_ZH = re.compile(
    rf"(?P<whole>{NUMBER_ZH})[台个家条部辆间门扇层名位张盏]?[^，。；,;!?]{{0,8}}?(?:中|里|当中|之中)?有(?P<part>{NUMBER_ZH})[台个家条部辆间门扇层名位张盏]"
)
_WORKS = re.compile(
    r"\b(?:up|work(?:s|ing)?|running|runs?|online|available|open|healthy|operational|fine|passed|in service|in order|intact|active)\b|正常|在线|可用|运行中|在运行|开放|通过|完好|能用",
    re.I,
)
_FAILS = re.compile(
    r"\b(?:down|broken|fail(?:s|ed|ing)?|offline|unavailable|closed|unhealthy|faulty|out of (?:order|service)|defective|inactive|damaged|shut|not (?:be )?(?:up|work(?:ing)?|running|online|available|open|healthy|operational|in service|passed|pass|active|intact))\b"
    r"|故障|离线|坏了?|停机|宕机|关闭|(?:未|没有?)通过|不可用|损坏|不正常|异常|(?:没有?|不)在?(?:运行|在线|开放)|不能用|停用",
    re.I,
)


class Split(NamedTuple):
    """`part` of `whole` that `works` or does not."""

    part: float
    whole: float
    works: bool


def state_spans(text: Text) -> list[tuple[int, int]]:
    """Where a text says that something works or does not."""
    return [match.span() for pattern in (_WORKS, _FAILS) for match in pattern.finditer(text.plain)]


def split(text: Text) -> Split | None:
    """The one count of a whole that a text tells, and whether it is of what works; None where that is not clear."""
    pattern, value = (_OF_ZH, chinese) if text.lang == "zh" else (_OF_EN, english)
    found = list(pattern.finditer(text.plain))
    if len(found) != 1:
        return None
    part, whole = value(found[0]["part"]), value(found[0]["whole"])
    fails = _FAILS.search(text.plain)
    works = _WORKS.search(_FAILS.sub(" ", text.plain))
    if part is None or whole is None or not 0 < part < whole or bool(fails) == bool(works):
        return None
    return Split(part, whole, works=bool(works))


@remembered
def split_alike(one: Text, other: Text) -> frozenset[int] | None:
    """ids of the counts of both texts, where one tells what works and the other what does not of one whole; else None."""
    here, there = split(one), split(other)
    if here is None or there is None or here.works == there.works:
        return None
    if here.whole != there.whole or here.part + there.part != here.whole:
        return None
    values = {here.part, there.part, here.whole}
    return frozenset(id(f) for text in (one, other) for f in text.facts if f.kind is Kind.NUMBER and f.value in values)
