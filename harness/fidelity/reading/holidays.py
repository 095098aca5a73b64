"""Holidays that fall on the same date every year, by the names that mean the day and not the season."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from harness.fidelity.reading.fact import Fact, Kind

_DATES = MappingProxyType(
    {
        "new year's eve": (12, 31), "new year's day": (1, 1), "new years eve": (12, 31), "new years day": (1, 1),
        "christmas eve": (12, 24), "christmas day": (12, 25), "boxing day": (12, 26), "valentine's day": (2, 14),
        "st patrick's day": (3, 17), "april fools' day": (4, 1), "halloween": (10, 31), "epiphany": (1, 6),
        "all saints' day": (11, 1), "bastille day": (7, 14), "veterans day": (11, 11), "saint nicholas day": (12, 6),
        "元旦": (1, 1), "国庆节": (10, 1), "国庆日": (10, 1), "国庆当天": (10, 1), "劳动节": (5, 1), "儿童节": (6, 1),
        "建军节": (8, 1), "圣诞节": (12, 25), "圣诞夜": (12, 24), "平安夜": (12, 24), "情人节": (2, 14),
        "妇女节": (3, 8), "教师节": (9, 10), "跨年夜": (12, 31), "植树节": (3, 12), "青年节": (5, 4),
    }
)  # fmt: skip
_NAMES = "|".join(sorted(map(re.escape, _DATES), key=len, reverse=True))
_HOLIDAY_EN = re.compile(rf"\b(?:{_NAMES})\b", re.IGNORECASE)
_HOLIDAY_ZH = re.compile(rf"(?:{_NAMES})(?!期间|假期|长假|前|后|活动|促销|档|快乐)")


def holidays(text: str, *, chinese: bool) -> Iterator[Fact]:
    """The holidays named in `text`, as dates without a year."""
    for match in (_HOLIDAY_ZH if chinese else _HOLIDAY_EN).finditer(text):
        month, day = _DATES[match[0].lower()]
        start, end = match.span()
        yield Fact(kind=Kind.DATE, value=(None, month, day), start=start, end=end, text=match[0])
