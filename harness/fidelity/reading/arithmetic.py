"""Values that say in another way what the other text says: computed from its values, or bounded from the other side."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from harness.fidelity.reading.fact import DAY_S, Fact, Kind, same

_COUNTED = frozenset({Kind.NUMBER, Kind.MONEY, Kind.DURATION, Kind.MEASURE})
_BEYOND = re.compile(
    r"(?:more|greater|longer|higher|older|later|fewer|less|shorter|lower|younger|earlier) than\s*$|(?:over|above|under|below|exceed\w*|beyond|after|before)\s*$"
    r"|(?:超过|高于|大于|多于|满|少于|低于|小于|不足|不到|不满|未满)\s*$",
    re.IGNORECASE,
)
_NOT_BEYOND = re.compile(r"(?:no|not)(?: be)? \w+ than\s*$|不(?:超过|高于|大于|多于|少于|低于|小于)\s*$", re.IGNORECASE)
_OUT_OF = re.compile(r"(?:贵|多|高|增[加长]|大|长|涨|快|重|远)[了出]?$")
_COUNTED_THING = re.compile(r"\s*(\w+)")
_DAY_MIN = 24 * 60
_RANGE_CHARS = 4  # between the two ends of a range
_MAX = 8  # values of a text that are computed with


def next_whole(one: Fact, here: str, other: Fact, there: str) -> bool:
    """ "more than three" is "four or more", "15 days" are over on day 16: whole numbers on either side of one bound.

    `here`, `there`: the texts that hold the facts.
    """
    if {one.kind, other.kind} - {Kind.NUMBER, Kind.DURATION} and {one.unit, other.unit} != {"times"}:
        return False
    if one.raw is None or other.raw is None:
        return False
    (small, small_text), (great, great_text) = sorted(((one, here), (other, there)), key=lambda f: f[0].raw or 0.0)
    if great.raw != (small.raw or 0.0) + 1 or not float(great.raw).is_integer():
        return False
    if one.unit == other.unit == "times" and _OUT_OF.search(small_text[: small.start]):
        return True  # 贵一倍 is 两倍的价钱
    above = _strict(small, small_text) and small.bound >= 0 and not _strict(great, great_text)
    below = _strict(great, great_text) and great.bound <= 0 and not _strict(small, small_text)
    return above or below


def _strict(fact: Fact, plain: str) -> bool:
    before = plain[max(0, fact.start - 20) : fact.start]
    return bool(_BEYOND.search(before)) and not _NOT_BEYOND.search(before)


def computed(fact: Fact, facts: Sequence[Fact]) -> bool:
    """Whether `fact` is a sum, difference, share, remainder or multiple of values among `facts`: half of $80 is $40."""
    if fact.kind is Kind.PERCENT and fact.value in _shares(facts):
        return True
    if fact.kind not in _COUNTED or not isinstance(fact.value, float):
        return False
    if fact.kind is Kind.DURATION and fact.unit == "month" and fact.value in _between_years(facts):
        return True
    return any(abs(value - fact.value) <= 1e-6 * max(1.0, abs(value)) for value in _results(fact, facts))


def _shares(facts: Sequence[Fact]) -> set[float]:
    """Percentages that one count is of another: 3,000 of 12,000."""
    counts = [f.value for f in facts[:_MAX] if f.kind is Kind.NUMBER and isinstance(f.value, float) and f.value > 1]
    return {100 * part / whole for part in counts for whole in counts if part < whole}


def _between_years(facts: Sequence[Fact]) -> set[float]:
    """Months between the years of two dates: from 1871 to 1904."""
    years = [year for f in facts[:_MAX] if (year := _year(f)) is not None]
    return {12.0 * abs(a - b) for a in years for b in years if a != b}


def _year(fact: Fact) -> float | None:
    if fact.kind is Kind.DATE and isinstance(fact.value, tuple):
        return fact.value[0]
    return fact.raw if fact.kind is Kind.NUMBER and fact.raw is not None and 1000 < fact.raw < 2100 else None


def _results(fact: Fact, facts: Sequence[Fact]) -> Iterator[float]:
    like = [f for f in facts[:_MAX] if _fits(f, fact)]
    if fact.kind is Kind.NUMBER and all(f.kind is Kind.NUMBER for f in like):
        return  # a count or a score, not what is left of two of them
    for one, other in permutations(like, 2):
        near = min(abs(other.start - one.end), abs(one.start - other.end)) <= _RANGE_CHARS
        if near and one.kind is other.kind is Kind.DURATION:
            continue  # "eight to ten weeks" is no two weeks
        if isinstance(one.value, float) and isinstance(other.value, float):
            yield from (one.value + other.value, one.value - other.value)
    for one in like:
        for share in facts[:_MAX]:
            if not isinstance(one.value, float) or not isinstance(share.value, float):
                continue
            if share.kind is Kind.PERCENT:
                yield from (one.value * share.value / 100, one.value * (1 - share.value / 100))
            elif share.unit == "times":
                yield from (one.value * share.value, one.value / (share.value or 1.0))


def timed(own: Sequence[Fact], other: Sequence[Fact]) -> list[Fact]:
    """Clock times and lengths of `own` that `other` tells as the length or the end: "for three hours" is "until three"."""
    times = {(f.value, f.half_day_open): f for f in other if f.kind is Kind.TIME}.values()
    starts = {_minute(f) for f in own if f.kind is Kind.TIME and any(same(f, g) for g in times)}
    found: list[Fact] = []
    for one, rest in ((own, other), (other, own)) if starts else ():
        ends: dict[float, list[Fact]] = {}
        for end in rest:
            if end.kind is Kind.TIME:
                ends.setdefault(_minute(end), []).append(end)
        for length in one:
            if length.kind is Kind.DURATION and isinstance(length.value, float) and length.value < DAY_S:
                told = [end for start in starts for end in ends.get((start + length.value / 60) % _DAY_MIN, ())]
                found += ([length] if told else []) if one is own else told
    return found


def _minute(time: Fact) -> float:
    return float(str(time.value)) % _DAY_MIN


def _fits(one: Fact, fact: Fact) -> bool:
    return (
        one.unit != "times"
        and (one.kind is fact.kind or Kind.NUMBER in (one.kind, fact.kind))
        and (one.unit == fact.unit or "" in (one.unit, fact.unit))
    )


def same_pace(rate: Fact, facts: Sequence[Fact], plain: str, other: str) -> bool:
    """Whether a number and an interval among `facts` tell `rate`: "two doses daily" is "twice a day".

    `plain`: the text of `facts`; `other`: the one of `rate`. What both texts speak of is counted by itself ("two tablets").
    """
    numbers = [
        f.value
        for f in facts
        if f.kind in (Kind.NUMBER, Kind.MEASURE)
        and isinstance(f.value, float)
        and f.value > 1
        and not ((counted := _COUNTED_THING.match(plain, f.end)) and counted[1][:5] in other)
    ]
    intervals = [f.value for f in facts if f.kind in (Kind.RATE, Kind.DURATION) and f.unit == rate.unit]
    if rate.kind is not Kind.RATE or not isinstance(rate.value, float):
        return False
    return any(
        isinstance(interval, float) and abs(interval / number - rate.value) < 1e-6 * rate.value
        for interval in intervals
        for number in numbers
    )
