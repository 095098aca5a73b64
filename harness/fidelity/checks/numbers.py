"""Numbers, amounts, percentages, durations, measures: a value that changed, went missing or came from nowhere."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from harness.fidelity.case import Finding
from harness.fidelity.reading.arithmetic import computed, next_whole, same_pace, timed
from harness.fidelity.reading.asked import asked_about, told_again
from harness.fidelity.reading.comparisons import comparison, same_order
from harness.fidelity.reading.counted_lists import counts_a_list, lists_as_many
from harness.fidelity.reading.fact import DAY_MIN, DAY_S, Fact, Kind, NearValues, comparable, same
from harness.fidelity.reading.implicit_negation import only_one
from harness.fidelity.reading.pair import Pair, same_facts
from harness.fidelity.reading.reckoning import reckoned, too_long
from harness.fidelity.reading.split_counts import split_alike
from harness.fidelity.reading.text import Text
from harness.fidelity.reading.vacancies import same_places
from harness.fidelity.reading.weekdays import one_day_apart, same_days

NAME = "numbers"
_STEP = re.compile(
    r"(?:\b(?:fell|falls?|fallen|rose|rises?|risen|grew|grows?|grown|dropped|drops?|increased?s?|decreased?s?|declined?s?|climbed|"
    r"went up|went down|reduc\w+|rais\w+|lower\w*|cuts?|up|down|shrank|extend\w*|shorten\w*|mov\w+|push\w*|brought forward|expand\w*|widen\w*|narrow\w*|slash\w*|trim\w*)\s+"
    r"(?:\w+\s+){0,5}?(?:(?P<to>to)|by)\s+(?:about |around |only |just |more than |less than )?"
    r"|(?:增长|增加|上升|上涨|提高|提升|升|涨|下降|减少|降低|下跌|下调|上调|降|跌|减)(?:(?P<zh>[到至为])|了))$",
    re.IGNORECASE,
)
_POINTS = re.compile(r"百分点|(?:percentage|basis)[\s-]points?", re.IGNORECASE)  # so much more or less, never a level
_REST = re.compile(r"\b(?:others?|rest|remaining)\b|其余|其他|其它|剩", re.IGNORECASE)
_OFF = re.compile(r"\s*(?:off|discount|reduction|rebate|cheaper|less|lower)\b", re.IGNORECASE)
_OFF_BEFORE = re.compile(
    r"(?:\b(?:save|discount of|reduced by|reduction of|cut by|rebate of|refund(?:s|ed|ing)?(?: you| of)?|(?:give|get|gives|gave|got|pay|paid|hand|send)(?: you)? back|return(?:s|ed)?(?: you)?|reimburse(?:s|d)?(?: you)?|knock(?:s|ed)?|deduct(?:s|ed)?|credit(?:s|ed)?(?: you)?|tak(?:e|es|ing)|took)|优惠|减|降价?|退(?:还|回|给)?(?:您|你)?|返还?)\s*$",
    re.IGNORECASE,
)
_OF_PRICE = re.compile(r"\s*of (?:the |its |their |what )?(?:\w+ )?(?:price|cost|fee|rate|fare|bill)\b", re.IGNORECASE)
_BACK = re.compile(  # "15% of the price back", "15% of it is refunded"
    r"\s*of (?:the |its |their |what )?(?:\w+ ){1,4}?(?:back\b|(?:is|are|was|will be|gets?|being) (?:refunded|returned|reimbursed|credited|deducted))",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:others?|remaining)\s*$|(?:其余|其他|其它|另外)的?$", re.IGNORECASE)
_VESSELS = frozenset("片粒颗盒瓶袋勺滴包支箱杯板管罐桶")  # what a dose or a supply is counted in
_ALIKE = (frozenset("片粒颗"), frozenset("袋包"), frozenset("箱盒"), frozenset("瓶罐桶"), frozenset("支管"))
WEEK_S = 7 * DAY_S
ROUNDED_PERCENT = 1e-6
COPY = 0.7  # closeness from which a text is a copy, whose changes all tell
MANY = 40  # facts in a text from which repetitions are left out
KINDS = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.MEASURE, Kind.RATE})


def check(both: Pair) -> list[Finding]:
    others = (*_change_for_level(both), *_other_measure(both), *_other_count(both), *_said_elsewhere(both))
    return [*compare(both, KINDS, NAME), *others]


def _said_elsewhere(both: Pair) -> list[Finding]:
    """In a copy, one value told once less and another one of its kind once more: it has taken the other's place."""
    if both.closeness <= COPY:
        return []
    ours, theirs = (Counter(f.key for f in text.facts if f.kind in KINDS) for text in (both.reference, both.candidate))
    if set(ours) != set(theirs):
        return []
    told = {fact.key: fact for fact in both.reference.facts}
    for gone in ours - theirs:
        for new in theirs - ours:
            if told[gone].kind is told[new].kind and told[gone].unit == told[new].unit:
                reason = f"“{told[new].text}” stands once more, and “{told[gone].text}” once less than in the reference"
                return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    return []


def _other_count(both: Pair) -> list[Finding]:
    """As many are free as are taken in the reference, or a time lasts longer than from the one date to the other."""
    for one, other in both.same_facts:
        if one.kind is Kind.PERCENT and {_part(both.reference.plain, one), _part(both.candidate.plain, other)} == {
            "off",
            "paid",
        }:
            reason = f"“{other.text}” is taken off in one text, and paid in the other"
            return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    counted, length = same_places(both.reference, both.candidate), too_long(both.reference, both.candidate)
    if counted and not counted[0]:
        reason = "what is taken in one text is free in the other"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    if length is None:
        return []
    reason = f"“{length.text}” is not what lies between the dates of the reference"
    return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]


def _other_measure(both: Pair) -> list[Finding]:
    """两片 against 两盒: the same number of other things."""
    if both.reference.lang != "zh":
        return []
    found = []
    for one, other in both.same_facts:
        here, there = _measure_word(both.reference.plain, one), _measure_word(both.candidate.plain, other)
        alike = any(here in group and there in group for group in _ALIKE)
        if here and there and not (alike or there in both.reference.plain or here in both.candidate.plain):
            reason = f"it is counted in “{there}” in the answer, in “{here}” in the reference"
            found.append(Finding(check=NAME, severity=1.0, reason=reason, certain=True))
    return found


def _part(plain: str, fact: Fact) -> str:
    """Whether a share of a price is taken "off" it, or "paid"; "" where neither is said."""
    if (
        _OFF.match(plain, fact.end)
        or _BACK.match(plain, fact.end)
        or _OFF_BEFORE.search(plain[max(0, fact.start - 24) : fact.start])
    ):
        return "off"
    return "paid" if _OF_PRICE.match(plain, fact.end) else ""


def _measure_word(plain: str, fact: Fact) -> str:
    """The Chinese measure word of a count; "" where there is none of a vessel or a dose."""
    if fact.kind is not Kind.NUMBER:
        return ""
    return next(
        (c for c in (plain[fact.end - 1 : fact.end], plain[fact.end : fact.end + 1]) if c in _VESSELS and c), ""
    )


def _change_for_level(both: Pair) -> list[Finding]:
    """ "fell to 5" against "fell by 5": the same value, once as a level and once as a change."""
    found = []
    for one, other in both.same_facts:
        if one.kind not in KINDS or one.kind is not other.kind:
            continue
        here, there = _step(both.reference.plain, one), _step(both.candidate.plain, other)
        if here and there and here != there:
            reason = f"“{other.text}” is a {there} in the answer and a {here} in the reference"
            found.append(Finding(check=NAME, severity=1.0, reason=reason))
    return found


def _step(plain: str, fact: Fact) -> str:
    """ "level" after a verb with "to", "change" after one with "by"; "" elsewhere."""
    match = _STEP.search(plain[max(0, fact.start - 64) : fact.start])
    if match is None:
        return "change" if _POINTS.search(fact.text) else ""
    return "level" if match["to"] or match["zh"] else "change"


def compare(both: Pair, kinds: frozenset[Kind], name: str) -> list[Finding]:
    """Findings for facts of `kinds`: changed 1, unsupported 0.8 (0.2 where prompt or context has it), missing 0.5."""
    lost, new = _differences(both)
    if not lost and not new:
        return []
    lost = tuple(fact for fact in lost if not _two(fact, both.candidate))
    theirs = _told(both.candidate.facts)
    found = []
    for fact in new:
        if (
            fact.kind in kinds
            and not _two(fact, both.reference)
            and not (_once(fact) and not any(f.unit == "times" for f in lost))
        ):
            found.append(_new(fact, lost, both, name))
    changed = any(f.severity == 1.0 for f in found)
    for fact in lost:
        if fact.kind in kinds and not changed and not _once(fact):
            copy = both.closeness > COPY
            if _implied(fact, theirs):
                continue
            if asked_about(fact, both):
                reason = f"“{fact.text}” is left out, which the question names"
                found.append(Finding(check=name, severity=0.2, reason=reason))
                continue
            if any(f.kind is fact.kind and told_again(f, both) for f in theirs):
                reason = f"“{fact.text}” is left out, beside what is told of one that the question names"
                found.append(Finding(check=name, severity=0.2, reason=reason))
                continue
            severity = (0.6 if copy else 0.2) if fact.kind is Kind.RATE else 0.8 if copy or not theirs else 0.65
            certain = fact.kind is not Kind.RATE and bool(fact.value)
            reason = f"the {fact.kind} “{fact.text}” is missing"
            found.append(Finding(check=name, severity=severity, reason=reason, certain=certain))
    return found


@lru_cache(maxsize=8)
def _differences(both: Pair) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Facts of any kind that only one text says, (lost, new): found once for all the checks that ask for them."""
    spare = {id(both.reference.words[i].fact) for i in both.spare_here}
    ours = tuple(f for f in _told(both.reference.facts) if id(f) not in spare)
    theirs = _told(both.candidate.facts)
    told = {id(f) for both_facts in same_facts(ours, theirs) for f in both_facts}
    new = [f for f in theirs if id(f) not in told]
    lost = [f for f in ours if id(f) not in told]
    if new:
        near = NearValues(ours)
        new = [f for f in new if not near.says(f)]
    if lost:
        near = NearValues(theirs)
        lost = [f for f in lost if not near.says(f)]
    again = [f for f in new if told_again(f, both)]
    new = [f for f in new if not any(f is known for known in again)]
    lost, new = _said_otherwise(both, lost, new)
    if lost:  # a value said once too often has taken the place of another
        known = told | {id(f) for f in (*new, *again)}
        new = [*new, *(f for f in theirs if id(f) not in known and any(comparable(f, gone) for gone in lost))]
    return tuple(lost), tuple(new)


def _implied(fact: Fact, others: tuple[Fact, ...]) -> bool:
    """ "this year" beside a date, a day's length between two days that are named: what the rest says, too."""
    if fact.kind is Kind.DAY and fact.value in ("this year", "今年"):
        return any(f.kind is Kind.DATE for f in others) and not any(f.kind is Kind.DAY for f in others)
    return fact.kind is Kind.DURATION and fact.value == DAY_S and sum(f.kind is Kind.DAY for f in others) > 1


def _said_otherwise(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without what the other text says in another way: computed, counted from the other side, listed."""
    here, there = both.reference.facts, both.candidate.facts
    if not lost and not new:
        return lost, new
    for gone in tuple(lost):
        beside = (f for f in new if f.raw is not None and gone.raw is not None and abs(f.raw - gone.raw) == 1)
        rival = next((f for f in beside if next_whole(gone, both.reference.plain, f, both.candidate.plain)), None)
        if rival is not None:
            lost, new = [f for f in lost if f is not gone], [f for f in new if f is not rival]
    lost, new = _without_next_day(lost, new, here, there), _without_next_day(new, lost, there, here)
    if any(f.kind is Kind.WEEKDAY for f in (*lost, *new)) and same_days(
        both.reference, both.candidate, besides=[f for f in there if told_again(f, both)]
    ):
        lost, new = ([f for f in side if f.kind is not Kind.WEEKDAY] for side in (lost, new))
    for own, other in ((here, there), (there, here)):
        plain, rated = (
            (both.candidate.plain, both.reference.plain)
            if own is here
            else (both.reference.plain, both.candidate.plain)
        )
        if any(same_pace(f, other, plain, rated) for f in (*lost, *new) if f.kind is Kind.RATE and f in own):
            lost, new = (
                [f for f in side if f.kind is not Kind.RATE and f.unit not in ("", "times")] for side in (lost, new)
            )
    new = [f for f in new if not _once_each(f, here)]
    if one_day_apart(both.reference, both.candidate):
        new = [f for f in new if f.raw not in (1.0, 6.0) or f.value not in (1.0, 6.0, DAY_S, 6 * DAY_S)]
    ends = {id(f) for own, other in ((here, there), (there, here)) for f in timed(own, other)}
    ends |= reckoned(both.reference, both.candidate)
    counted = same_places(both.reference, both.candidate)
    ends |= counted[1] if counted else frozenset()
    lost, new = ([f for f in side if id(f) not in ends] for side in (lost, new))
    lost, new = _without_counts(both, *_without_two(both, lost, new))
    lost, new = _without_other_sides(both, lost, new)
    told = [f for f in new if computed(f, here) or _the_rest(f, both)]
    if same_order(both.reference, both.candidate) is not None:
        new = [f for f in new if not _ranked(f, both)]
        lost = [f for f in lost if not _all_ranked(f, both)]
    if told:
        new = [f for f in new if not any(f is other for other in told)]
        lost = [f for f in lost if not (f.kind is Kind.PERCENT or f.unit == "times" or any(_like(f, t) for t in told))]
    return lost, new


def _without_counts(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without the number of things that are listed, unless both texts tell one."""
    new = [f for f in new if not counts_a_list(f, both.candidate, both.reference)]
    if not any(f.kind is Kind.NUMBER for f in new):
        lost = [f for f in lost if not lists_as_many(f, both.reference, both.candidate)]
    return lost, new


def _without_two(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without the two of "not two at once", where the other text says "only one at a time"."""
    if both.polarity_here.denials and only_one(both.candidate):
        lost = [f for f in lost if f.kind is not Kind.NUMBER or f.value != 2.0]
    if both.polarity_there.denials and only_one(both.reference):
        new = [f for f in new if f.kind is not Kind.NUMBER or f.value != 2.0]
    return lost, new


def _without_other_sides(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without what one text tells from the other side: the rest of a whole, the months of a quarter."""
    split = split_alike(both.reference, both.candidate) or frozenset()
    lost, new = ([f for f in side if id(f) not in split] for side in (lost, new))
    for without in (_without_the_price_paid, _without_quarters, _without_days):
        lost, new = without(both, lost, new)
    return lost, new


def _without_the_price_paid(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without "80% of the price" and the "20% off" of the other text."""
    here, there = both.reference.plain, both.candidate.plain
    sides = {"off", "paid"}
    told = [
        (one, other)
        for one in lost
        for other in new
        if one.kind is other.kind is Kind.PERCENT
        and isinstance(one.value, float)
        and isinstance(other.value, float)
        and abs(one.value + other.value - 100) < ROUNDED_PERCENT
        and {_part(here, one), _part(there, other)} == sides
    ]
    explained = {id(f) for pair_told in told for f in pair_told}
    return [f for f in lost if id(f) not in explained], [f for f in new if id(f) not in explained]


def _without_quarters(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without a quarter of a year and the months from its first to its last, one in each."""
    explained: set[int] = set()
    for named, spans in ((lost, _quarter_spans(both.candidate)), (new, _quarter_spans(both.reference))):
        for quarter in named:
            ends = [f for number, months in spans if number == _quarter(quarter) for f in months]
            explained |= {id(f) for f in (quarter, *ends)} if ends else set()
    return [f for f in lost if id(f) not in explained], [f for f in new if id(f) not in explained]


def _without_days(both: Pair, lost: list[Fact], new: list[Fact]) -> tuple[list[Fact], list[Fact]]:
    """`lost` and `new` without "Monday to Sunday" for "every day", and "in two days" for "the day after tomorrow"."""
    told = [
        (one, other)
        for side, others, plain in ((lost, new, both.candidate.plain), (new, lost, both.reference.plain))
        for one in side
        for other in others
        if (one.value == EVERY_WEEKDAY and other.kind is Kind.RATE and other.value == DAY_S)
        or (one.kind is Kind.DAY and other.kind is Kind.DURATION and _days_from_now(one, other, plain))
    ]
    explained = {id(f) for facts in told for f in facts}
    return [f for f in lost if id(f) not in explained], [f for f in new if id(f) not in explained]


EVERY_WEEKDAY = "0123456"
_DAYS_FROM_NOW = {"the day after tomorrow": 2, "后天": 2, "大后天": 3}


def _days_from_now(day: Fact, length: Fact, plain: str) -> bool:
    """Whether a length, in its text `plain`, is told as the time from today to `day`."""
    from_now = re.match(r"之?后|以后|\s*(?:from (?:now|today)|later)\b", plain[length.end :]) or re.search(
        r"\bin\s+$", plain[: length.start], re.IGNORECASE
    )
    return bool(from_now) and length.value == DAY_S * _DAYS_FROM_NOW.get(str(day.value), 0)


def _quarter(fact: Fact) -> int | None:
    """Which quarter of a year a fact names, from 1; None where it names none."""
    return fact.value[2] if fact.unit == "quarter" and isinstance(fact.value, tuple) else None


def _quarter_spans(text: Text) -> list[tuple[int, tuple[Fact, Fact]]]:
    """The quarters of a year that are told by their first and last month, with these two dates."""
    found = []
    for first, last in pairwise(text.facts):
        months = [
            f.value[1] if f.kind is Kind.DATE and isinstance(f.value, tuple) and f.value[2] is None else None
            for f in (first, last)
        ]
        begin, end = months
        if begin is None or end is None or begin % 3 != 1 or end != begin + 2:
            continue
        if _TO.fullmatch(text.plain, first.end, last.start) and not _MOVED.search(text.plain[: first.start]):
            found.append((begin // 3 + 1, (first, last)))
    return found


_TO = re.compile(r"\s*(?:to|through|until|till|-|~|至|到)\s*", re.IGNORECASE)
_MOVED = re.compile(
    r"(?:mov|chang|shift|postpon|push|reschedul|brought|bring|put)\w*\b[^.;]{0,30}\bfrom\s+$|从\s*$", re.I
)


def _once_each(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether as often a week is told as the other text names weekdays: "twice a week" for "on Tuesday and Friday"."""
    days = {f.value for f in others if f.kind is Kind.WEEKDAY and not str(f.value).isdecimal()}
    rated = fact.kind is Kind.RATE and isinstance(fact.value, float) and bool(days)
    return rated and abs(float(str(fact.value)) * len(days) - WEEK_S) < 1.0


def _without_next_day(
    told: list[Fact], others: list[Fact], own: tuple[Fact, ...], there: tuple[Fact, ...]
) -> list[Fact]:
    """`told` without "the next day" where the other text dates it, and without that date: 5 August, the next day."""
    days = {f.value[2] for f in own if f.kind is Kind.DATE and isinstance(f.value, tuple) and f.value[2]}
    days |= {f.value[2] for f in there if f.kind is Kind.DATE and isinstance(f.value, tuple) and f.value[2]}
    if not days:
        return told

    def follows(fact: Fact) -> bool:
        return fact.kind is Kind.DATE and isinstance(fact.value, tuple) and (fact.value[2] or 0) - 1 in days

    def is_next(fact: Fact) -> bool:
        return fact.kind is Kind.DAY and fact.text.casefold() in _NEXT_DAY

    if any(map(follows, others)):
        return [f for f in told if not is_next(f)]
    return [f for f in told if not follows(f)] if any(map(is_next, others)) else told


_NEXT_DAY = frozenset(["次日", "翌日", "第二天", "the next day", "next day", "the following day", "the day after"])


def _the_rest(fact: Fact, both: Pair) -> bool:
    """ "three of five are down" is "two are up, the other three are down"."""
    if fact.kind is not Kind.NUMBER or not _REST.search(both.candidate.plain):
        return False
    counts = {f.value for f in both.reference.facts if f.kind is Kind.NUMBER and isinstance(f.value, float)}
    told = {f.value for f in both.candidate.facts if f.kind is Kind.NUMBER}
    return any(a - b == fact.value and {a, b} <= told for a in counts for b in counts)


def _ranked(fact: Fact, both: Pair) -> bool:
    """ "the quieter of the two", "the other three are warmer" where the reference tells of four: what is compared."""
    before = both.candidate.plain[max(0, fact.start - 16) : fact.start]
    whole = {f.value for f in both.reference.facts if f.kind is Kind.NUMBER and isinstance(f.value, float)}
    if fact.kind is not Kind.NUMBER or not isinstance(fact.value, float):
        return False
    return (fact.value == 2.0 and before.casefold().rstrip().endswith(("of the", "of these"))) or (
        fact.value + 1 in whole and _OTHERS.search(before) is not None
    )


def _all_ranked(fact: Fact, both: Pair) -> bool:
    """ "the coldest of the four": how many are compared may be left out, or told as "the other three"."""
    found = comparison(both.reference)
    if fact.kind is not Kind.NUMBER or found is None or not found.all_others:
        return False
    others = [f for f in both.candidate.facts if f.kind is Kind.NUMBER]
    return not others or any(
        isinstance(f.value, float) and f.value + 1 == fact.value and _ranked(f, both) for f in others
    )


def _like(one: Fact, other: Fact) -> bool:
    return Kind.NUMBER in (one.kind, other.kind) or one.kind is other.kind


def _new(fact: Fact, lost: Sequence[Fact], both: Pair, name: str) -> Finding:
    rival = next((other for other in lost if comparable(other, fact)), None)
    if rival is not None:
        reason = f"“{fact.text}” stands where the reference says “{rival.text}”"
        return Finding(check=name, severity=1.0, reason=reason, certain=True)
    if (
        fact.kind is Kind.DAY
        and fact.value in ("today", "今天")
        and any(f.kind is Kind.TIME for f in both.reference.facts)
    ):
        return Finding(check=name, severity=0.2, reason=f"“{fact.text}” says of a time that it is today")
    if _between_times(fact, both.reference.facts):
        return Finding(check=name, severity=0.0, reason=f"“{fact.text}” is the time between two of the reference")
    if any(same(fact, other) for other in both.support.facts):
        reason = f"“{fact.text}” comes from the prompt or its context, not from the reference"
        return Finding(check=name, severity=0.2, reason=reason)
    sure = fact.kind in (Kind.MONEY, Kind.PERCENT, Kind.IDENTIFIER, Kind.DURATION) and fact.raw not in (0.0, 1.0, 50.0)
    return Finding(check=name, severity=0.8, reason=f"nothing supports the {fact.kind} “{fact.text}”", certain=sure)


def _between_times(fact: Fact, facts: tuple[Fact, ...]) -> bool:
    """Whether a duration is what lies between two clock times: "from 2 to 3:30" lasts an hour and a half."""
    times = [f.value for f in facts if f.kind is Kind.TIME and isinstance(f.value, float)]
    times += [DAY_MIN for minute in times if minute == 0]  # midnight ends a day, too
    return fact.kind is Kind.DURATION and any(abs(a - b) * 60 == fact.value for a in times for b in times if a != b)


_TWO = frozenset(["both", "either", "neither", "pair", "两", "双方", "一对", "两者", "二者", "彼此", "双", "俩"])


def _two(fact: Fact, text: Text) -> bool:
    """ "both lifts" says "the two lifts"."""
    return fact.value == 2.0 and fact.kind is Kind.NUMBER and not text.said.isdisjoint(_TWO)


def _once(fact: Fact) -> bool:
    """ "once", "one copy", 一次: mostly left unsaid."""
    return fact.value == 1.0 and fact.unit in ("times", "")


def _told(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts; of a long text each value once."""
    return facts if len(facts) <= MANY else tuple({fact.key: fact for fact in reversed(facts)}.values())[::-1]
