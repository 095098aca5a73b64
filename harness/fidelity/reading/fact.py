"""A fact is a typed value: 59.90 USD, 17:30, 5 March, A-1234. Two wordings of one value are equal here."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

CONVERTED = 0.01  # relative difference allowed between a value and its conversion
FLOAT_DIGITS = 15  # that a float holds for certain
ROUNDED = 1e-9  # between two ways to reckon one value: 1.5 hours and 90 minutes
_INTERVALS = frozenset({"s", "month", "workday"})  # units of time; others are what a price is told for
DAY_S = 86400.0
CLOCK_MIN = 12 * 60  # half a day on the clock
DAY_MIN = 2 * CLOCK_MIN  # 24:00 is the 0:00 of the next day
Date = tuple[int | None, int | None, int | None]  # year, month, day; None: not said


class Kind(StrEnum):
    """What a fact measures."""

    NUMBER = "number"
    MONEY = "amount"
    PERCENT = "percentage"
    DURATION = "duration"
    MEASURE = "measure"
    TIME = "time"
    DATE = "date"
    WEEKDAY = "weekday"
    DAY = "relative day"
    IDENTIFIER = "identifier"
    RATE = "rate"  # every so often: value and unit of the interval


_UNORDERED = frozenset({Kind.TIME, Kind.DATE, Kind.WEEKDAY, Kind.DAY, Kind.IDENTIFIER})  # not compared as numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value in a text. `value` is in the base of its kind: seconds, grams, metres, minutes of the day, …"""

    kind: Kind
    value: float | str | Date
    unit: str = ""  # currency, base unit, or "" for a bare number
    start: int
    end: int
    text: str
    bound: int = 0  # +1 at least, -1 at most, 0 neither
    approximate: bool = False
    half_day_open: bool = False  # a clock time that does not say morning or afternoon
    raw: float | None = None  # the number as written, without its unit
    written: Decimal | None = None  # a count or an amount told in digits alone, digit by digit

    @property
    def key(self) -> str:
        """A name equal for equal facts of one kind and unit."""
        value = f"{self.value:.15g}" if isinstance(self.value, float) else str(self.value)
        if self.written is not None and len(self.written.as_tuple().digits) > FLOAT_DIGITS:
            value = str(self.written)
        return f"#{self.kind}:{self.unit}:{value}"


def same(one: Fact, other: Fact) -> bool:
    """Whether both say the same value, as far as both say it."""
    if one.kind is not other.kind:
        return _loosely_same(one, other)
    if one.kind is Kind.TIME:
        return _same_time(one, other)
    if one.kind is Kind.DATE and isinstance(one.value, tuple) and isinstance(other.value, tuple):
        return _same_date(one.value, other.value)
    if isinstance(one.value, float) and isinstance(other.value, float):
        return (one.unit == other.unit or "" in (one.unit, other.unit) or _yen_or_yuan(one, other)) and _close(
            one.value, other.value, one, other
        )
    return one.value == other.value and one.unit == other.unit


def _yen_or_yuan(one: Fact, other: Fact) -> bool:
    """Whether a sign that two currencies share leaves open which one is meant."""
    return {one.unit, other.unit} == {"CNY", "JPY"} and any("¥" in fact.text for fact in (one, other))


class NearValues:
    """Facts by value: which of them may say the same as another one, found without a look at all of them."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = tuple(facts)
        self._values = sorted((value, at) for at, fact in enumerate(facts) for value in _numbers(fact))
        self._others = [at for at, fact in enumerate(facts) if fact.kind in _UNORDERED]

    def near(self, fact: Fact) -> Sequence[int]:
        """Indices, in order, of all the facts for which `same` can hold, and perhaps of some more."""
        if fact.kind in _UNORDERED:
            return range(len(self.facts))
        found = set(self._others)
        for value in (scale * v for v in _numbers(fact) for scale in (0.01, 1.0, 100.0)):
            reach = 0.04 * abs(value) + 1.0
            start = bisect_left(self._values, (value - reach, -1))
            end = bisect_left(self._values, (value + reach, -1))
            found.update(at for _, at in self._values[start:end])
        return sorted(found)

    def says(self, fact: Fact) -> bool:
        """Whether one of them says the same."""
        return any(same(fact, self.facts[at]) for at in self.near(fact))


def _numbers(fact: Fact) -> set[float]:
    return {value for value in (fact.value, fact.raw) if isinstance(value, float)}


def comparable(one: Fact, other: Fact) -> bool:
    """Whether a difference between both is a contradiction rather than two separate facts."""
    if one.kind is not other.kind:
        return (
            {one.kind, other.kind} <= {Kind.NUMBER, Kind.IDENTIFIER}
            or (
                Kind.NUMBER in (one.kind, other.kind)
                and {one.kind, other.kind} <= {Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.MEASURE}
            )
            or {one.kind, other.kind} == {Kind.RATE, Kind.DURATION}
            or {one.kind, other.kind} <= {Kind.DAY, Kind.WEEKDAY, Kind.DATE}
        )
    if one.kind is Kind.RATE:
        return (one.unit in _INTERVALS) == (other.unit in _INTERVALS)
    return True


def _same_time(one: Fact, other: Fact) -> bool:
    if not isinstance(one.value, float) or not isinstance(other.value, float):
        return False
    if one.value % DAY_MIN == other.value % DAY_MIN:
        return True
    either_open = one.half_day_open or other.half_day_open
    return either_open and (one.value - other.value) % CLOCK_MIN == 0


_PARTS_OF_DAY = {
    "morning": (240, 720),
    "afternoon": (720, 1110),
    "evening": (1020, 1440),
    "night": (1200, 1800),
}  # minutes


def in_part_of_day(name: str, time: Fact) -> bool:
    """Whether a clock time that says which half of the day it is in lies in the "morning", "afternoon" and so on."""
    low, high = _PARTS_OF_DAY.get(name, (0, 0))
    return (
        isinstance(time.value, float)
        and not time.half_day_open
        and (low <= time.value < high or low <= time.value + 1440 < high)
    )


def _same_date(one: Date, other: Date) -> bool:
    common = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    return bool(common) and all(a == b for a, b in common)


def _loosely_same(one: Fact, other: Fact) -> bool:
    """A bare number says the same as the number of a quantity; so does a day's number, or a code's digits."""
    if {one.kind, other.kind} == {Kind.RATE, Kind.DURATION}:
        return one.value == other.value and one.unit == other.unit
    number, rest = (one, other) if one.kind is Kind.NUMBER else (other, one)
    if number.kind is not Kind.NUMBER:
        return False
    if rest.kind is Kind.DATE and isinstance(rest.value, tuple):
        year, month, day = rest.value
        return number.value == day or (number.value == year and month is None)
    if rest.kind is Kind.TIME and isinstance(rest.value, float) and isinstance(number.value, float):
        return 0 < number.value <= 24 and (number.value * 60 - rest.value) % CLOCK_MIN == 0  # "at 9", "9 o'clock"
    if rest.kind is Kind.IDENTIFIER:
        return _same_digits(str(rest.value), number)
    if rest.kind is Kind.PERCENT and isinstance(rest.value, float) and isinstance(number.value, float):
        return abs(rest.value - number.value) < 1e-6 or abs(rest.value - 100 * number.value) < 1e-6
    if rest.kind is Kind.RATE and rest.raw == 1.0:
        return False  # "every month" says nothing of "once"
    return rest.kind not in (Kind.TIME, Kind.WEEKDAY, Kind.DAY) and rest.raw is not None and rest.raw == number.value


def _same_digits(code: str, number: Fact) -> bool:
    """Whether a code is the number, digit by digit: "order 1200" for "order number 1,200"."""
    if not code.isdecimal():
        return False
    return Decimal(code) == number.written if number.written is not None else float(code) == number.value


def _converted(one: Fact, other: Fact) -> bool:
    """Whether one value was turned into a unit that is no round multiple of the other's: miles into kilometres."""
    if one.kind is not Kind.MEASURE or not one.raw or not other.raw or not isinstance(one.value, float):
        return False
    if not isinstance(other.value, float) or one.value == 0 or other.value == 0:
        return False
    ratio = abs(one.value / one.raw / (other.value / other.raw))
    return len(f"{ratio:.5e}".split("e")[0].replace(".", "").rstrip("0")) > 2


def _endless(percent: float) -> bool:
    """Whether it has to be rounded to be written: two thirds, and not 5 ppm or an eighth."""
    return abs(percent - round(percent, 6)) > 1e-9


def _close(a: float, b: float, one: Fact, other: Fact) -> bool:
    if one.unit == "degree" == other.unit and (one.raw == a) != (other.raw == b):
        return abs(a - b) <= 0.6  # whole degrees in Fahrenheit on one side
    if one.written is not None and other.written is not None and not (one.approximate or other.approximate):
        return one.written == other.written
    tolerance = 0.03 if one.approximate or other.approximate else CONVERTED if _converted(one, other) else ROUNDED
    if one.kind is Kind.PERCENT and (_endless(a) or _endless(b)):
        return abs(a - b) <= min(0.7, 0.05 * max(a, b))  # "two thirds" is 67 %
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-9)
