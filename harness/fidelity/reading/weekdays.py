"""Weekdays told as other weekdays: 周末 is 周六、周日, "every day but Monday" is "Tuesday to Sunday"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Sequence

from harness.fidelity.reading.fact import DAY_S, Fact, Kind
from harness.fidelity.reading.text import Text

_ALL_BUT = re.compile(r"\b(?:except|but|other than|apart from|bar)\b|除", re.IGNORECASE)
_EVERY_DAY = re.compile(r"天天|日日|\b(?:all|every|any) (?:the )?(?:other )?days?\b|\beach day\b", re.IGNORECASE)


def same_days(one: Text, other: Text, besides: Sequence[Fact] = ()) -> bool:
    """Whether the weekdays of both texts are the same ones in all: 周末 is 周六、周日, all but Sunday is Monday to Saturday.

    `besides`: facts of the question that `other` takes up; a day of theirs, and a span with one, count on neither side.
    """
    apart = _days(besides)
    here, there = (_days([f for f in text.facts if apart.isdisjoint(_days([f]))]) for text in (one, other))
    if {frozenset(here), frozenset(there)} == {frozenset("6"), frozenset("0123456")} or here | there == set("0123456"):
        daily = [
            bool(_EVERY_DAY.search(t.plain)) or any(f.kind is Kind.RATE and f.value == DAY_S for f in t.facts)
            for t in (one, other)
        ]
        return any(daily) and here != there and _ALL_BUT.search(one.plain + " " + other.plain) is not None
    return bool(here) and here == there


def one_day_apart(one: Text, other: Text) -> bool | None:
    """Whether one text sets a weekday apart, and the other tells of it as the only one: "Monday is the one closing day".

    False where both tell the same state of that day and of all others; None where the texts are not of this kind.
    """
    here, there = _days(one.facts), _days(other.facts)
    if here != there or len(here) != 1:
        return None
    named = [
        bool(_EVERY_DAY.search(t.plain) or any(f.kind is Kind.RATE and f.value == DAY_S for f in t.facts))
        and _ALL_BUT.search(t.plain) is not None
        for t in (one, other)
    ]
    alone = [_ONE_DAY.search(t.plain) is not None for t in (one, other)]
    for every, single in ((0, 1), (1, 0)):
        if named[every] and alone[single]:
            usual, apart = _state((one, other)[every].plain, _DAILY), _state((one, other)[single].plain, _ONE_DAY)
            return not usual or not apart or usual != apart
    return None


def _state(plain: str, beside: re.Pattern[str]) -> str:
    """Open or closed, by the word nearest to the first match of `beside` that says so; "" where none does."""
    place = beside.search(plain)
    if place is None:
        return ""
    middle = (place.start() + place.end()) / 2
    near = sorted(_OPEN_OR_NOT.finditer(plain), key=lambda m: abs((m.start() + m.end()) / 2 - middle))
    return (near[0].lastgroup or "") if near else ""


_DAILY = re.compile(r"每[天日]|天天|日日|\b(?:all|every|any|each)\b|\bdaily\b", re.IGNORECASE)
_OPEN_OR_NOT = re.compile(
    r"(?P<closed>\bclos\w+|\bshut\b|\boff\b|\brest\b|\bno[tn]?\b|\bwithout\b|闭馆|闭园|休|关|打烊|不)|(?P<open>\bopen\w*|\bdeliver\w*|\bworking\b|营业|开放|开门|上班)",
    re.IGNORECASE,
)


_ONE_DAY = re.compile(
    r"\b(?:one|only|single|sole)\b[^.;!?]{0,20}?\b(?:days?|exception)\b|\bonly (?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:唯一|只有|仅|就)[^，。,]{0,6}(?:[一二三四五六日天]|一天)",
    re.IGNORECASE,
)


def _days(facts: Sequence[Fact]) -> set[str]:
    found: set[str] = set()
    for fact in facts:
        if fact.kind is Kind.WEEKDAY:
            value = str(fact.value)
            value = "56" if value == "末" else value
            found |= set(value) if value.isdigit() else {_DAY_NUMBERS.get(value, value)}
    return found


_DAY_NUMBERS = {
    **{name: str(at) for at, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))},
    **{name: str(at) for at, name in enumerate("一二三四五六日")},
}
