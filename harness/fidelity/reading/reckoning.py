"""Values told by a calculation: three years from May 2022 is May 2025, twice is half the other way round, 2,400 in twelve parts is 200 each."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations

from harness.fidelity.reading.fact import DAY_S, Fact, Kind, same
from harness.fidelity.reading.polarity import polarity
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.split_counts import split_alike
from harness.fidelity.reading.text import Text

_RATIOS = frozenset({Kind.PERCENT, Kind.MEASURE})
_DAY_MIN = 24 * 60
_MOST = 8  # facts of a text that are computed with
_EACH = re.compile(r"\b(?:each|every|per|apiece|a (?:month|week|year|day)|monthly|weekly|equal)\b|每|各", re.IGNORECASE)
_BACK = re.compile(r"\b(?:before|prior|ahead|beforehand|in advance|earlier)\b|前|提前|提早", re.IGNORECASE)
_ON = re.compile(r"\b(?:after|later|from|extend\w*|following|on)\b|后|延长|推迟|延后|起", re.IGNORECASE)
_REST = re.compile(r"\b(?:rest|remaining|remainder|others?|left)\b|其余|剩|另外|其他", re.IGNORECASE)
_POINTS = re.compile(r"\bpoints?\b|百分点", re.IGNORECASE)
_WEEKDAYS = {name: k for k, name in enumerate("一二三四五六日")} | {
    name: k for k, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
}


@remembered
def reckoned(one: Text, other: Text) -> frozenset[int]:
    """ids of the facts of both texts that a calculation explains: the result, and what it was reached from."""
    found: set[int] = set()
    for own, rest in ((one, other), (other, one)):
        if not own.facts or not rest.facts or len(own.facts) > _MOST or len(rest.facts) > _MOST:
            return frozenset()
        for rule in (_inverse, _shares_of_one_whole, _parts, _clock, _calendar, _lasting, _points, _paces, _excess):
            for facts in rule(own, rest):
                found.update(map(id, facts))
    return frozenset(found)


def complements(one: Text, other: Text) -> bool:
    """Whether one text tells of a share and the other denies it of the rest: three quarters are, a quarter is not."""
    return any(_shares_of_one_whole(one, other)) or split_alike(one, other) is not None


def too_long(reference: Text, candidate: Text) -> Fact | None:
    """A length of the candidate that does not fit between the two dates of the reference; None where there is none."""
    days = _days_between(reference)
    lengths = [f for f in candidate.facts if _whole_days(f)]
    if days is None or len(lengths) != 1 or any(_whole_days(f) for f in reference.facts):
        return None
    dates = [f for f in candidate.facts if f.kind is Kind.DATE]
    told = len(dates) == 1 and any(same(dates[0], f) for f in reference.facts)
    return lengths[0] if told and _whole_days(lengths[0]) not in (days, days - 1) else None


def _inverse(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """A is twice B: B is half of A; the things have to change places."""
    for times in _of(own, Kind.MEASURE, "times"):
        for share in _of(other, Kind.PERCENT):
            if times.value != 1.0 and abs(_number(times) * _number(share) - 100) < 0.5 and _crossed(own, other):
                yield times, share


def _crossed(own: Text, other: Text) -> bool:
    here, there = (_order(text) for text in (own, other))
    shared = [name for name in here if name in there]
    names = [n for n in shared if any(w.lemma == n and (w.name or w.text[:1].isupper()) for w in own.words[1:])]
    placed = names if len(names) > 1 else shared
    return any(there.index(a) > there.index(b) for a, b in combinations(placed, 2))


def _order(text: Text) -> list[str]:
    return list(dict.fromkeys(w.lemma for w in text.words if w.content and not (w.fact and w.fact.kind in _RATIOS)))


def _shares_of_one_whole(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    shares, others = _of(own, Kind.PERCENT), _of(other, Kind.PERCENT)
    if not shares or not others:
        return
    odd = (len(polarity(own).denials) - len(polarity(other).denials)) % 2
    if not odd and not _REST.search(own.plain) and not _REST.search(other.plain):
        return
    for one in shares:
        for two in others:
            if abs(_number(one) + _number(two) - 100) < 0.8 and not same(one, two):
                yield one, two


def _parts(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """A sum in equal parts: what each part is."""
    if not _EACH.search(own.plain + " " + other.plain):
        return
    for total in (f for f in own.facts if f.kind in (Kind.MONEY, Kind.NUMBER) and _number(f) > 0):
        for count in own.facts:
            if count is total or count.kind not in (Kind.NUMBER, Kind.DURATION) or (count.raw or 0) < 2:
                continue
            for part in other.facts:
                if part.kind is total.kind and abs(_number(part) * _number(count, raw=True) - _number(total)) < 1e-6:
                    months = [f for f in other.facts if f.kind is Kind.DURATION and f.value == count.raw]
                    yield total, count, part, *months


def _clock(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """A time so long before or after another one."""
    for length in _of(own, Kind.DURATION):
        near = own.plain[length.end : length.end + 16]
        if own.lang == "zh":
            near = own.plain[max(0, length.start - 1) : length.start] + near[:4]
        for time in _of(own, Kind.TIME):
            for told in _of(other, Kind.TIME):
                step = _number(length) / 60
                back = bool(_BACK.search(near))
                on = bool(_ON.search(near)) and not back
                for sign in ([-1] if back else []) + ([1] if on else []):
                    if _minutes_apart(_number(time) + sign * step, told) and step < _DAY_MIN:
                        yield length, time, told


def _minutes_apart(minute: float, told: Fact) -> bool:
    turn = _DAY_MIN / 2 if told.half_day_open else _DAY_MIN
    return (minute - _number(told)) % turn == 0


def _calendar(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """A date so long after another one, and the weekday that it is."""
    steps = [f for f in own.facts if f.kind is Kind.DURATION and f.unit in ("s", "month")]
    steps += [f for f in _of(own, Kind.NUMBER) if own.plain[f.end : f.end + 1] == "天" and f.text.startswith("第")]
    for start in (f for f in own.facts if f.kind is Kind.DATE):
        for step in steps:
            end = _later(start, step)
            for told in (f for f in other.facts if f.kind is Kind.DATE):
                if end is not None and _date_said(told, end, start):
                    yield start, step, told, *_weekdays(own, other, step)


def _later(start: Fact, step: Fact) -> date | None:
    if not isinstance(start.value, tuple):
        return None
    year, month, day = start.value
    if month is None:
        return None
    if step.unit == "month":
        months = (year or 2026) * 12 + month - 1 + int(_number(step))
        return date(months // 12, months % 12 + 1, min(day or 1, 28))
    days = _number(step) / DAY_S if step.kind is Kind.DURATION else _number(step)
    if day is None or not days.is_integer() or not 0 < days < 4000:
        return None
    try:
        return date(year or 2026, month, day) + timedelta(days=days)
    except (ValueError, OverflowError):
        return None


def _date_said(told: Fact, end: date, start: Fact) -> bool:
    if not isinstance(told.value, tuple) or not isinstance(start.value, tuple):
        return False
    year, month, day = told.value
    known = (start.value[0] is None or year is None or year == end.year, month == end.month)
    return all(known) and (day == end.day if start.value[2] is not None else day is None)


def _weekdays(own: Text, other: Text, step: Fact) -> list[Fact]:
    days = int(_number(step) / DAY_S if step.kind is Kind.DURATION else _number(step))
    here = [f for f in own.facts if f.kind is Kind.WEEKDAY and str(f.value) in _WEEKDAYS]
    there = [f for f in other.facts if f.kind is Kind.WEEKDAY and str(f.value) in _WEEKDAYS]
    if len(here) == len(there) == 1:
        first, last = (_WEEKDAYS[str(side[0].value)] for side in (here, there))
        return [here[0], there[0]] if (first + days - last) % 7 == 0 else []
    return here if not there else []


def _lasting(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """From the 1st to the 14th: two weeks."""
    days = _days_between(own)
    dates = [f for f in own.facts if f.kind is Kind.DATE]
    for length in other.facts if days is not None else ():
        if _whole_days(length) in (days, (days or 0) - 1) and _whole_days(length):
            yield length, *dates, *(f for f in own.facts if _whole_days(f) in (1, 2))


def _days_between(text: Text) -> int | None:
    """Days from the one to the other of two dates, both counted."""
    dates = [f.value for f in text.facts if f.kind is Kind.DATE and isinstance(f.value, tuple)]
    if len(dates) != 2:
        return None
    (year, month, day), (year_to, month_to, day_to) = dates
    month, month_to = month or month_to, month_to or month
    if not (month and month_to and day and day_to):
        return None
    try:
        gap = date(year_to or year or 2026, month_to, day_to) - date(year or year_to or 2026, month, day)
    except ValueError:
        return None
    return gap.days + 1 if gap.days > 0 else None


def _whole_days(fact: Fact) -> int:
    """Whole days that a duration lasts; 0 for other facts."""
    if fact.kind is not Kind.DURATION or fact.unit != "s" or not (_number(fact) / DAY_S).is_integer():
        return 0
    return int(_number(fact) / DAY_S)


def _points(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """3% instead of 4%: one percentage point less."""
    for one, two in combinations(_of(own, Kind.PERCENT), 2):
        for gap in _of(other, Kind.PERCENT):
            if abs(abs(_number(one) - _number(two)) - _number(gap)) < 1e-6 and _POINTS.search(gap.text):
                yield one, two, gap


def _excess(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """At most 8 kg, and this one has 9.5: a kilo and a half too much."""
    measured = [
        f for f in own.facts if f.kind in (Kind.MEASURE, Kind.MONEY, Kind.DURATION) and isinstance(f.value, float)
    ]
    for one, two in combinations(measured, 2):
        for gap in other.facts:
            alike = one.kind is two.kind is gap.kind and one.unit == two.unit == gap.unit
            if alike and one.value != two.value and abs(abs(_number(one) - _number(two)) - _number(gap)) < 1e-6:
                yield (one, two, gap) if not any(same(f, one) for f in other.facts) else (two, gap)


def _paces(own: Text, other: Text) -> Iterator[Sequence[Fact]]:
    """600 a minute: ten a second."""
    for count, interval in _counted(own):
        for count_there, interval_there in _counted(other):
            here, there = (
                _number(count) / _number(interval),
                _number(count_there) / _number(interval_there),
            )
            if (
                interval.unit == interval_there.unit
                and abs(here - there) < 1e-9
                and interval.value != interval_there.value
            ):
                yield count, interval, count_there, interval_there


def _counted(text: Text) -> Iterator[tuple[Fact, Fact]]:
    spans = [f for f in text.facts if f.kind in (Kind.RATE, Kind.DURATION) and isinstance(f.value, float) and f.value]
    for count in _of(text, Kind.NUMBER):
        for span in spans:
            if 0 <= span.start - count.end < 30 and _number(count) > 1:
                yield count, span


def _of(text: Text, kind: Kind, unit: str | None = None) -> list[Fact]:
    return [f for f in text.facts if f.kind is kind and isinstance(f.value, float) and unit in (None, f.unit)]


def _number(fact: Fact, *, raw: bool = False) -> float:
    return float(str(fact.raw if raw and fact.raw is not None else fact.value))
