"""Find clock times, dates, weekdays and days said relative to now."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Callable, Iterator

from harness.fidelity.reading.fact import Fact, Kind
from harness.fidelity.reading.numerals import chinese, english

_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
_WEEKDAYS = "mon|tue|wed|thu|fri|sat|sun"
_HALF_DAY = r"(?P<half>[ap]\.?m\.?(?![a-z]))"
_PART = r"(?:\s+(?:in the\s+|at\s+)?(?P<part>morning|afternoon|evening|night|tonight)\b)?"
_HOUR = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"

TIME_EN = re.compile(
    rf"\b(?P<h>\d{{1,2}})(?P<sep>[:.])(?P<m>[0-5]\d)(?::[0-5]\d)?(?:\s?{_HALF_DAY})?{_PART}"
    rf"|\b(?P<h2>{_HOUR})\s?(?P<half2>[ap]\.?m\.?(?![a-z]))"
    rf"|\b(?P<h3>{_HOUR})\s+o['’]?clock{_PART.replace('part', 'part3')}"
    rf"|\b(?P<rel>half[- ]past|half|quarter[- ]past|quarter[- ]to|a quarter[- ]past|a quarter[- ]to|(?P<mins>five|ten|twenty|twenty[- ]five)\s+(?:minutes\s+)?(?P<dir>past|to))"
    rf"[\s-]+(?P<h4>{_HOUR}|noon|midnight)\b(?!\s*(?:%|percent|days?|weeks?|hours?|months?|years?|minutes?))(?:\s?(?P<half4>[ap]\.?m\.?(?![a-z])))?{_PART.replace('part', 'part4')}"
    r"|\b(?:(?:12|twelve)(?:[:.]00)?(?:\s+o['’]?clock)?\s+(?:at\s+)?)?(?P<named>noon|midday|midnight)\b"
    rf"|\b(?:(?:at|until|till|by|from|before|after|to|and|between)\s+)?(?<!minus )(?<!negative )(?:(?<=at )|(?<=by )|(?<=from )|(?<=until )|(?<=till )|(?<=before )|(?<=after )|(?<=to )|(?<=around )|(?!one\b))(?P<h5>{_HOUR})(?=\s+(?:in the|at night|tonight|on (?:mon|tue|wed|thu|fri|sat|sun)|tomorrow|today|sharp))"
    rf"{_PART.replace('part', 'part5')}",
    re.IGNORECASE,
)
DATE_EN = re.compile(
    r"\b(?P<iso>(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2}))(?!\d)"
    r"|(?<![\w.])(?P<dotted>(?P<d8>\d{1,2})\. ?(?P<m8>\d{1,2})\. ?(?P<y8>(?:19|20)\d\d))(?![\w])"
    rf"|\b(?P<mon2>{_MONTH})\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<y2>(?:19|20)\d\d))?\b"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+(?:of\s+)?|-)(?P<mon3>{_MONTH})(?:(?:,?\s+|-)(?P<y3>(?:19|20)\d\d))?\b"
    rf"|\b(?P<mon4>{_MONTH})(?:\s+(?P<y4>(?:19|20)\d\d))?\b"
    r"|\b(?P<a5>\d{1,2})/(?P<b5>\d{1,2})/(?P<y5>\d{2,4})\b"
    rf"|\b(?:the )?(?:last|final) day (?:of|in) (?P<mon7>{_MONTH})\b"
    r"|\b(?:the )?(?P<of_year>first|last|final) day of (?:the|each|every|that) (?:calendar )?year\b"
    r"|\bthe\s+(?P<d6>\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:floor|time|place|person|edition|of [a-z]))"
    r"|\b(?:Q(?P<q>[1-4])|(?P<qw>first|second|third|fourth|1st|2nd|3rd|4th) quarter)(?:\s+(?:of\s+)?(?P<yq>(?:19|20)\d\d))?\b"
)
_MAY = re.compile(
    r"\b(?:in|on|by|of|until|since|from|last|next|this|during|before|after|early|late|mid|end of|through|till|to)[\s-]+$"
)
_MAY_SPAN = re.compile(rf"\s+(?:to|through|until|till|and|-)\s+{_MONTH}", re.IGNORECASE)
_NAME_EN = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|Mon|Tues?|Wed|Thu(?:rs)?|Fri|Sat|Sun"
DAYS_EN = re.compile(
    rf"\b(?P<first>{_NAME_EN})\.?\s*(?:to|-|through|thru|until|till)\s*(?P<last>{_NAME_EN})\b"
    r"|\b(?P<work>weekdays?|(?<!\d )(?:business|working) days?|workdays?)\b|\b(?P<free>weekends?|saturdays?\s+(?:and|or)\s+sundays?)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(r"(?:mov|chang|shift|postpon|push|reschedul|brought|bring|put)\w*\b[^.;]{0,30}\bfrom\s+$", re.I)
DAYS_ZH = re.compile(
    r"(?:周|星期|礼拜)(?P<first>[一二三四五六日天])\s*(?:至|到|-|~|—)\s*(?:周|星期|礼拜)?(?P<last>[一二三四五六日天])"
    r"|(?<![个\d])(?P<work>工作日|平日)|(?P<free>周末|双休日|周六(?:和|、|及)?周日)"
)
WEEKDAY_EN = re.compile(
    r"\b(mon(?:day)?s?|tue(?:s|sday)?s?|wed(?:nesday)?s?|thu(?:rs|rsday)?s?|fri(?:day)?s?|saturdays?|sundays?|Sat|Sun(?=[\s,]+\d|[-–]))\b\.?",
    re.IGNORECASE,
)
DAY_EN = re.compile(
    r"\b(the day after tomorrow|the day before yesterday|today|tomorrow|yesterday|tonight|this (?:evening|morning|afternoon)|"
    r"(?:the (?:year|month|week|quarter) before(?= *(?:[.,;!?]|$))|the previous (?:year|month|week|quarter)|(?:next|last|this)\s+(?:week|month|year|quarter)|(?:next|last|this)\s+(?:summer|winter|spring|autumn)))\b", re.IGNORECASE,
)  # fmt: skip
_ZH_PART = r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|正午|午后|下午|傍晚|晚上|晚间|夜里|夜间|夜晚|深夜|半夜|午夜|子夜|今晚|明晚|昨晚|当晚|今夜|今早|明早)"
POINTS_ZH = re.compile(  # 以下两点: so many things, and no time
    f"(?:{'|'.join(f'(?<={word})' for word in ('以下', '下列', '如下', '注意', '做到', '记住', '牢记', '满足', '强调', '提出', '这', '有'))})"
    r"(?P<points>[两二三四五六七八九])点(?=\s*(?:$|[:：,，。；;!！]|要求|建议|注意|原因|理由|内容|是))"
)
_BARE_MINUTES_ZH = (  # 六点四十, 三点零五; in 八点二十人 it counts people, and 两点五 is a decimal
    r"(?:[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
    r"(?![零〇一二三四五六七八九十百千万亿点个名位只件张辆份页盒瓶袋箱杯块米斤克升度岁天年%％‰]|人(?!员)|元(?!旦)|[公千毫厘]|分[钟之]|小时|多)"
)
TIME_ZH = re.compile(
    rf"(?:{_ZH_PART})?(?P<h>\d{{1,2}})[:：](?P<m>[0-5]\d)(?:[:：][0-5]\d)?"
    rf"|(?:{_ZH_PART.replace('part', 'part2')})?(?P<short>差(?:[一三]刻钟?|(?:\d{{1,2}}|[一二三四五六七八九十]{{1,3}})分钟?)[到]?)?(?P<h2>\d{{1,2}}|[一二两三四五六七八九十]{{1,3}})(?:点钟?|时(?!间|段|候|长|效|刻))"
    r"(?P<m2>半|整|[差过]?[一三]刻|[差过](?:\d{1,2}|[一二三四五六七八九十]{1,3})分|\d{1,2}分?|零?[一二三四五六七八九十]{1,3}分|"
    rf"{_BARE_MINUTES_ZH})?(?!小)"
    rf"|(?:{_ZH_PART.replace('part', 'part3')})?零(?:点钟?|时)(?P<m3>半|整|[一三]刻|(?:\d{{1,2}}|[零一二三四五六七八九十]{{1,3}})分)"
    rf"|(?:{_ZH_PART.replace('part', 'part4')})?(?P<named>零点(?:钟|整)?|零时(?:整|正)?|中午|正午|午夜|半夜|子夜)(?![时间]|\d|[一二两三四五六七八九十])"
)
DATE_ZH = re.compile(
    r"(?P<m7>\d{1,2}|[一二三四五六七八九十]{1,2})月(?:份)?的?(?:最后一天|最末一天)"
    r"|(?:[每当全本]年|一年)的?(?P<of_year>第一|最后一|最末一)[天日]"
    r"|(?<![A-Za-z0-9.])(?P<dotted>(?P<d8>\d{1,2})\.(?P<m8>\d{1,2})\.(?P<y8>(?:19|20)\d\d))(?![\d.])"
    r"|(?:(?P<y>\d{4}|[零〇一二三四五六七八九]{4})\s?年\s?)?(?P<m>\d{1,2}|[一二三四五六七八九十]{1,2})\s?月\s?(?:(?P<d>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号])?(?![个])"
    r"|(?P<y2>\d{4}|[零〇一二三四五六七八九]{4})\s?年(?![内前后间])"
    r"|(?P<iso>(?P<y3>\d{4})[-/.](?P<m3>\d{1,2})[-/.](?P<d3>\d{1,2}))(?!\d)"
    r"|(?<![\d一二三四五六七八九十])(?P<d4>\d{1,2}|[一二三四五六七八九十]{1,3})号(?![楼线门室桌机房厅座馆])"
    r"|第?(?P<q>[一二三四1234])季度|\bQ(?P<q2>[1-4])(?![0-9])"
)
OF_THE_MONTH_ZH = re.compile(r"(?:[每当次本下上]个?|翌)月(?:的)?(?P<day>\d{1,2}[日号])")
WEEKDAY_ZH = re.compile(r"(?:(?:上|下|本|这)?(?:(?<![小老阿])周|星期|礼拜))([一二三四五六日天末])(?!年|[百千万])")
_LATER_DAY_ZH = re.compile(  # 9月5日至12日, …，13日下午
    r"(?:(?<=[日号])\s?(?:到|至|[-—~、]|和|及)\s?|(?<=[，。；、,;!])\s?)(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号](?!内|之内|以内|后|之后|以后|以上|以下|前|之前|游|间|左右|的?时间|[无未不]|起?算|为限)"
)
DAY_ZH = re.compile(
    r"大后天|后天|大前天|前天|今天|今日|今晚|今早|明天|明日|明晚|明早|昨天|昨日|昨晚|昨夜|今夜|明夜|次日|翌日|第[二2][天日]|转天|次年|翌年|第二年|转年|次月|翌月|第二个月|次周|翌周|第二个星期|第二周|"
    r"(?:上上|下下|上|下|本|这)个?(?:周|星期|月|季度)(?![一二三四五六日天末])|去年(?!同期)|今年|明年|前年|后年"
)
_DAY_NAMES = {
    **{f"the {unit} before": f"last {unit}" for unit in ("year", "month", "week", "quarter")},
    **{f"the previous {unit}": f"last {unit}" for unit in ("year", "month", "week", "quarter")},
    "tonight": "today", "this evening": "today", "this morning": "today", "this afternoon": "today", "今日": "今天", "今晚": "今天", "今早": "今天", "明日": "明天", "明晚": "明天", "明早": "明天",
    "昨日": "昨天", "昨晚": "昨天", "昨夜": "昨天", "今夜": "今天", "明夜": "明天", "次日": "明天", "翌日": "明天", "第二天": "明天", "第2天": "明天", "第二日": "明天", "第2日": "明天", "转天": "明天",
    "次年": "明年", "翌年": "明年", "第二年": "明年", "转年": "明年", "次月": "下月", "翌月": "下月", "第二月": "下月", "次周": "下周", "翌周": "下周", "第二周": "下周",
}  # fmt: skip


def english_moments(text: str) -> Iterator[Fact]:
    """Dates first, then times, weekdays and relative days."""
    for match in DATE_EN.finditer(text):
        if (
            match["mon4"] in ("May", "March", "Mar")
            and not match["y4"]
            and not _MAY.search(text[: match.start()].lower())
            and not _MAY_SPAN.match(text, match.end())
        ):
            continue
        found = _english_date(match)
        if found is not None:
            yield found
    for match in TIME_EN.finditer(text):
        found = _english_time(match)
        if found is not None:
            yield found
    for match in WEEKDAY_EN.finditer(text):
        if match[1][0].islower() and len(match[1]) < 6:
            continue
        yield _fact(match, Kind.WEEKDAY, match[1].lower()[:3])
    for match in DAYS_EN.finditer(text):
        if match["first"] and _MOVED.search(text[: match.start()]):
            continue
        yield _fact(match, Kind.WEEKDAY, _span(match, _WEEKDAYS.split("|"), lambda name: name.lower()[:3]))
    for match in DAY_EN.finditer(text):
        name = " ".join(match[1].lower().split())
        yield _fact(match, Kind.DAY, _DAY_NAMES.get(name, name))


def chinese_moments(text: str) -> Iterator[Fact]:
    """Dates first, then times, weekdays and relative days."""
    for match in DATE_ZH.finditer(text):
        found = _chinese_date(match)
        if found is not None:
            yield found
    yield from _later_days(text)
    for match in OF_THE_MONTH_ZH.finditer(text):
        start, end = match.span("day")
        day = (None, None, _number(match["day"][:-1]))
        yield Fact(kind=Kind.DATE, value=day, start=start, end=end, text=match["day"])
    for match in TIME_ZH.finditer(text):
        found = _chinese_time(match)
        if found is not None:
            yield found
    for match in WEEKDAY_ZH.finditer(text):
        prefix = {"上": "上", "下": "下"}.get(match[0][0], "")
        yield _fact(match, Kind.WEEKDAY, prefix + match[1].replace("天", "日"))
    for match in DAYS_ZH.finditer(text):
        yield _fact(match, Kind.WEEKDAY, _span(match, list("一二三四五六日"), lambda name: name.replace("天", "日")))
    for match in DAY_ZH.finditer(text):
        name = match[0].replace("个", "").replace("这", "本").replace("星期", "周")
        yield _fact(match, Kind.DAY, _DAY_NAMES.get(name, name))


def _later_days(text: str) -> Iterator[Fact]:
    """Days of a month that is named before them."""
    first = next((match for match in DATE_ZH.finditer(text) if match["m"] and match["d"]), None)
    dated = _chinese_date(first) if first else None
    if first is None or dated is None or not isinstance(dated.value, tuple):
        return
    _, month, begin = dated.value
    for match in _LATER_DAY_ZH.finditer(text, first.end() - 1):
        day = int(chinese(match["day"]) or 0)
        if 0 < day <= 31:
            start, end = match.start("day"), match.end()
            value = (None, month if day > (begin or 0) else None, day)
            yield Fact(kind=Kind.DATE, value=value, start=start, end=end, text=text[start:end])


def _span(match: re.Match[str], days: list[str], short: Callable[[str], str]) -> str:
    """Days of the week from … to …, as their numbers: "01234" are working days."""
    if match["work"] or match["free"]:
        return "01234" if match["work"] else "56"
    first, last = (days.index(short(match[name])) for name in ("first", "last"))
    return "".join(str(i % 7) for i in range(first, last + 1 if last >= first else last + 8))


def _fact(
    match: re.Match[str], kind: Kind, value: str | tuple[int | None, int | None, int | None], unit: str = ""
) -> Fact:
    return Fact(kind=kind, value=value, unit=unit, start=match.start(), end=match.end(), text=match[0])


def _month(name: str) -> int:
    return _MONTHS.split("|").index(name.lower()[:3]) + 1


def _english_date(match: re.Match[str]) -> Fact | None:
    g = match.groupdict()
    if g["q"] or g["qw"]:
        quarter = g["q"] or {"f": "1", "s": "2", "t": "3"}.get(g["qw"][0], g["qw"][0])
        quarter = "4" if g["qw"] == "fourth" else quarter
        return _fact(match, Kind.DATE, (_number(g["yq"]), None, int(quarter)), "quarter")
    if g["iso"]:
        return _fact(match, Kind.DATE, (int(g["y1"]), int(g["m1"]), int(g["d1"])))
    if g["dotted"]:
        return _day_first(match)
    if g["of_year"]:
        return _fact(match, Kind.DATE, (None, 1, 1) if g["of_year"].lower() == "first" else (None, 12, 31))
    for mon, day, year in (("mon2", "d2", "y2"), ("mon3", "d3", "y3")):
        if g[mon]:
            return _fact(match, Kind.DATE, (_number(g[year]), _month(g[mon]), int(g[day])))
    if g["mon7"]:
        return _fact(match, Kind.DATE, (None, _month(g["mon7"]), _LAST_DAYS[_month(g["mon7"]) - 1]))
    if g["mon4"]:
        return _fact(match, Kind.DATE, (_number(g["y4"]), _month(g["mon4"]), None))
    if g["y5"]:
        one, two, written = int(g["a5"]), int(g["b5"]), int(g["y5"])
        return _fact(
            match,
            Kind.DATE,
            (written % 100 + 2000 if written < 100 else written, *((two, one) if one > 12 else (one, two))),
        )
    return _fact(match, Kind.DATE, (None, None, int(g["d6"])))


def _day_first(match: re.Match[str]) -> Fact | None:
    """05.03.2025 is the fifth of March; None where it is no date."""
    day, month, year = (int(match[name]) for name in ("d8", "m8", "y8"))
    return _fact(match, Kind.DATE, (year, month, day)) if 0 < month <= 12 and 0 < day <= 31 else None


_LAST_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _clock(match: re.Match[str], hour: float, minute: float, afternoon: bool | None) -> Fact | None:
    """`afternoon` None: not said."""
    if not (0 <= hour <= 24 and 0 <= minute < 60):
        return None
    if afternoon is True and hour < 12:
        hour += 12
    if afternoon is False and hour == 12:
        hour = 0
    open_half = afternoon is None and 0 < hour <= 12
    start = match.start("h5") if match.groupdict().get("h5") else match.start()
    text = match.string[start : match.end()].rstrip()
    return Fact(
        kind=Kind.TIME,
        value=float(hour * 60 + minute),
        start=start,
        end=start + len(text),
        text=text,
        half_day_open=open_half,
    )


_MINUTES = {"": 0.0, "半": 30.0, "整": 0.0, "一刻": 15.0, "三刻": 45.0}
_AT = re.compile(r"\b(?:at|by|from|until|till|before|after|around|about|to)\s+$", re.IGNORECASE)
_BEFORE_A_DOTTED = re.compile(r"\b(?:at|by|until|till|from)\s+$")
_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
_DEPARTS = re.compile(  # the 7.40 bus
    r",| (?:bus|minibus|coach|train|ferry|boat|tram|flight|sailing|service|departure|from|to|is|was|has|leaves|goes|runs|stops|departs)\b"
)
_NOON = frozenset(["中午", "正午", "noon"])
_NIGHT = frozenset(["夜里", "夜间", "夜晚", "深夜", "半夜", "午夜", "子夜", "今夜", "night"])
_EVENING = frozenset(["晚上", "晚间", "今晚", "明晚", "昨晚", "当晚", "evening", "tonight"])
_AFTERNOON = frozenset(["午后", "下午", "傍晚", "afternoon"])


def _in_afternoon(part: str, hour: float) -> bool | None:
    """Whether an hour on the clock that is said with a part of the day lies after noon; None where no part is said.

    晚上12点 is midnight, 中午12点 noon, 深夜两点 and "2 at night" are before dawn.
    """
    if not part:
        return None
    if part in _NOON:
        return hour not in (10, 11)
    if part in _NIGHT:
        return 6 <= hour < 12
    if part in _EVENING:
        return 4 <= hour < 12
    return part in _AFTERNOON or (part == "上午" and hour == 12)


def _english_time(match: re.Match[str]) -> Fact | None:
    g = match.groupdict()
    if g["named"]:
        return _clock(
            match, 0 if g["named"].lower() == "midnight" else 12, 0, afternoon=g["named"].lower() != "midnight"
        )
    half = g["half"] or g["half2"] or g["half4"]
    part = (g["part"] or g["part3"] or g["part4"] or g["part5"] or "").lower()
    afternoon = half.lower().startswith("p") if half else None
    if g["h"]:
        if (
            g["sep"] == "."
            and not half
            and not part
            and not _BEFORE_A_DOTTED.search(match.string[: match.start()])
            and not (_THE.search(match.string[: match.start()]) and _DEPARTS.match(match.string, match.end()))
        ):
            return None
        return _clock(match, float(g["h"]), float(g["m"]), _in_afternoon(part, float(g["h"])) if part else afternoon)
    if g["h4"] and g["h4"].lower() in ("noon", "midnight"):
        hour, afternoon = 12.0, (g["h4"].lower() == "noon") != g["rel"].lower().endswith("to")
    else:
        hour = english(g["h2"] or g["h3"] or g["h4"] or g["h5"]) or 0.0
        if g["h5"] and part == "night" and hour <= 5 and not _AT.search(match.string[: match.start("h5")]):
            return None  # "one tablet in the morning and two at night"
        afternoon = _in_afternoon(part, hour) if part and not half else afternoon
    if not g["rel"]:
        return _clock(match, hour, 0, afternoon)
    words = g["rel"].lower().replace("-", " ")
    minutes = 30.0 if words.startswith("half") else 15.0 if "quarter" in words else english(g["mins"] or "")
    if minutes is None or (g["mins"] and (minutes % 5 or g["mins"].isdigit())):
        return None
    back = words.endswith("to") and not words.startswith("half")
    hour = (hour - 1 or 12) if back else hour
    return _clock(match, hour, 60 - minutes if back else minutes, afternoon)


def _chinese_time(match: re.Match[str]) -> Fact | None:
    g = match.groupdict()
    if g["named"]:
        midnight = g["named"] not in ("中午", "正午")
        return _clock(match, 0 if midnight else 12, 0, afternoon=not midnight)
    part = g["part"] or g["part2"] or ""
    if g["h"]:
        return _clock(match, float(g["h"]), float(g["m"]), _in_afternoon(part, float(g["h"])))
    if g["m3"]:
        return _clock(match, 0, _MINUTES.get(g["m3"]) or chinese(g["m3"].rstrip("分")) or 0.0, afternoon=False)
    hour = chinese(g["h2"])
    if hour is None or (g["h2"] == "一" and not part and not g["m2"] and not match[0].endswith("钟")):
        return None
    if not part and POINTS_ZH.match(match.string, match.start("h2")):
        return None
    afternoon = _in_afternoon(part, hour)
    tail = (g["m2"] or "").rstrip("分")
    short = g["short"] or (tail if tail.startswith("差") else "")
    told = re.sub(r"^[差过]|[分钟到]+$", "", short or tail)
    minute = _MINUTES.get(told)
    minute = chinese(told) if minute is None else minute
    if minute is None:
        return None
    return _clock(match, hour - 1, 60 - minute, afternoon) if short else _clock(match, hour, minute, afternoon)


def _chinese_date(match: re.Match[str]) -> Fact | None:
    g = match.groupdict()
    quarter = g["q"] or g["q2"]
    if quarter:
        return _fact(match, Kind.DATE, (None, None, int(chinese(quarter) or 0)), "quarter")
    if g["m7"]:
        last = int(chinese(g["m7"]) or 0)
        return _fact(match, Kind.DATE, (None, last, _LAST_DAYS[last - 1])) if 0 < last <= 12 else None
    if g["dotted"]:
        return _day_first(match)
    if g["of_year"]:
        return _fact(match, Kind.DATE, (None, 1, 1) if g["of_year"] == "第一" else (None, 12, 31))
    if g["iso"]:
        return _fact(match, Kind.DATE, (int(g["y3"]), int(g["m3"]), int(g["d3"])))
    if g["d4"]:
        day = chinese(g["d4"])
        return _fact(match, Kind.DATE, (None, None, int(day))) if day and day <= 31 else None
    if g["y2"]:
        return _fact(match, Kind.DATE, (int(chinese(g["y2"]) or 0), None, None))
    month, day = chinese(g["m"]), chinese(g["d"]) if g["d"] else None
    year = chinese(g["y"]) if g["y"] else None
    if not month or month > 12:
        return None
    return _fact(match, Kind.DATE, (int(year) if year else None, int(month), int(day) if day else None))
