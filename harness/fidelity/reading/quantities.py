"""Find amounts of money, percentages, durations, measures and bare numbers."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from harness.fidelity.reading.fact import FLOAT_DIGITS, Fact, Kind
from harness.fidelity.reading.moments import OF_THE_MONTH_ZH, POINTS_ZH
from harness.fidelity.reading.numerals import (
    DECIMAL_ZH,
    DIGITS,
    NUMBER_EN,
    NUMBER_ZH,
    ORDINALS,
    SCALES,
    TENS,
    UNITS,
    chinese,
    english,
)
from harness.fidelity.reading.units import CHINESE, COUNTERS, CURRENCIES, ENGLISH, Unit

_SYMBOL = r"(?:US\$|HK\$|[AC]\$|[$€£¥₹])"
_SCALE = r"(?:\s?(?:k|m|mn|mm|bn|b|tn)(?![a-z]))?"
_CODE = r"(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|CHF|AUD|CAD|INR|KRW|SGD)"
_MONEY_WORD = r"(?:dollars?|bucks|euros?|pounds?|quid|grand|yuan|yen|francs|rupees|won|cents?|pence|kron(?:er?|or|a)|zlotys?|forints?|roubles|rubles|baht|pesos|ringgit|shekels|dirhams)"
_UNIT_EN = "|".join(re.escape(u).replace(r"\-", r"[\s-]") for u in sorted(ENGLISH, key=len, reverse=True))
_NO_PART = frozenset(
    [
        "point",
        "points",
        "stone",
        "bar",
        "times",
        "fold",
        "second",
        "seconds",
        "night",
        "nights",
        "ton",
        "tons",
        "cups",
        "px",
        "pts",
    ]
)
_PART_UNIT = "|".join(
    u for u in sorted(ENGLISH, key=len, reverse=True) if u.isalpha() and len(u) > 2 and u not in _NO_PART
)
_UNIT_ZH = "|".join(re.escape(u) for u in sorted(CHINESE, key=len, reverse=True))
_MONEY_ZH = "|".join(re.escape(u) for u in sorted((c for c in CURRENCIES if not c.isascii()), key=len, reverse=True))
_MEASURED_ZH = rf"\s?(?:倍|[%％‰折成]|个百分点|{_MONEY_ZH}|(?![分刻秒])(?:{_UNIT_ZH}))"  # 两点五公里, and not 八点五分
_OF_THOUSAND = r"per\s?mill?e?|per\sthousand|in\sa\sthousand|basis[\s-]points?|bps?|ppm|parts\sper\smillion"
_WORKING = r"(?:business|working|work)[\s-]"
_WHOLE = r"(?:full|whole|entire|complete|calendar|metric|swiss|us|u\.s\.|american|canadian|australian|british)\s"

EN = re.compile(
    r"(?=[-$€£¥₹\d\sUHAC]|\b)"  # where one can begin: most places fail at once
    rf"(?P<prefix>(?:{_SYMBOL}|\b{_CODE}\s?))?(?P<number>(?<![\w.])(?:-|minus\s|negative\s)?{NUMBER_EN}|(?<=[$€£¥₹])-?{NUMBER_EN}"
    rf"|(?<=[A-Z]{{3}})\s?{NUMBER_EN})(?P<scale>{_SCALE})"
    rf"(?:(?P<percent>\s?[%‰‱]|[\s-]?(?:{_OF_THOUSAND})\b|\s?(?:percent|per\s?cent|percentage points?)\b)"
    rf"|[\s-]?(?P<land>{_WHOLE})?(?P<money>(?:{_CODE}|{_MONEY_WORD})\b|[$€£¥₹])"
    rf"|[\s-]?(?:{_WHOLE})?(?P<working>{_WORKING})?(?P<unit>{_UNIT_EN})(?![a-z]))?"
    r"(?P<tail>(?:st|nd|rd|th)\b)?",
    re.IGNORECASE,
)
_UNDER_A_HUNDRED = rf"(?:\d{{1,2}}(?:\.\d+)?|(?:{'|'.join(TENS)})(?:[-\s](?:{'|'.join(UNITS)}))?|(?:{'|'.join(sorted(UNITS, key=len, reverse=True))}))"
EN_LOOSE = re.compile(
    rf"\b(?:(?P<a>(?:a|an|one|per)\s+(?:full |whole |entire |complete |single )?(?P<a_work>business |working )?(?P<a_unit>day|week|month|year|hour|minute|fortnight|decade)(?P<a_part>\s+and\s+a\s+(?:half|quarter))?|(?:a|an|one)\s+(?P<m_unit>{_PART_UNIT})(?P<m_part>\s+and\s+a\s+(?:half|quarter)))(?![a-z])|(?P<part_of>half|an?[\s-]quarter|a[\s-]third|one[\s-](?:third|quarter)|two[\s-]thirds|three[\s-]quarters) of an? (?P<of_unit>{_PART_UNIT})|(?P<fraction>(?P<over>one|two|three|four|five|six|seven|eight|nine|a(?=[\s-]\w+\s*(?:[.,;:!?)]|$|of\b)))[\s-](?P<under>fifth|sixth|seventh|eighth|ninth|tenth)s?)(?=\W|$)(?! (?:floor|time|(?-i:of [A-Z])))|(?:the|a) (?:remaining|other|last) (?P<other_third>third|quarter)\b"
    rf"|(?P<always>24 hours a day|24/7|(?:a?round) the clock|day and night|never (?:closes?|shuts?)(?= *(?:[.,;!?]|$))|at any time of (?:the )?day or night|at all hours|any time,? day or night)|half\s+(?:an?\s+)?(?P<h_unit>price|{_PART_UNIT})(?![a-z])|(?P<half>(?:a\s+|one\s+)?half)(?![\s-]+(?:past|time|way|term|board|brother|sister|size)\b)"
    r"|(?P<twice>twice|two times|double[ds]?|once(?!\s+(?:you|we|they|it|he|she|i|the|your|our|their|his|her|its|this|that|these|those|all|both|there|payment|everyone|[a-z]+ (?:is|are|has|have|was|were)|[a-z]+(?:ed|en)|paid|done|sent|in)\b))|(?P<thirds>two|one|a)[\s-](?P<part>thirds?)"
    r"|(?P<quarters>(?P<three>three|a|one)[\s-]quarters?)(?=\s+(?:of|off|comes?|is|are|goes|go|less|more|cheaper|dearer|as|full|empty|knocked|taken|have|has|were|was|discount|reduction)\b)|(?<!for )(?<!last )(?<!past )(?<!next )(?<!first )(?<!previous )(?<!consecutive )(?<!in )(?<!within )(?P<all_but>three[\s-]quarters)(?!\s+(?:in a row|running|ago|later|past|to|before|after)\b)|(?P<fortnight>fortnight)|(?:a|one) (?:single )?(?P<a_money>dollar|euro|cent|yuan)|(?P<couple>a (?:couple|pair) of(?:\s+(?P<couples>dozen|hundred|thousand|million)\b)?)"
    r"|(?P<ten>twenty|thirty)[- ](?P<unit_th>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    r"|(?P<ordinal_of>first|second)(?=\s+(?:floor|storey|row|gate|platform|class|grade|edition|page|chapter|level|stage|half|prize|place|door|room|line|street|avenue|shelf))"
    r"|(?P<ordinal>third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth)(?! hour\b)"
    rf"|(?P<hundredths>{_UNDER_A_HUNDRED}) (?:[a-z]+ )?(?:of|in|out of) (?:every|each|a|one) (?:hundred|100)(?! (?:and|thousand|million)\b)"
    r"|(?P<x_of>one|two|three)(?: [a-z]+)? (?:in|out of) every (?P<y_of>(?:[a-z]+ )?(?:hundred|thousand)|\w+)|(?P<x>\w+) (?:in|out of) (?!twice\b|once\b|half\b|double)(?P<y>\w+))\b",
    re.IGNORECASE,
)
ZH = re.compile(
    rf"(?P<prefix>US\$|HK\$|[$€£¥￥]|人民币)?(?P<number>(?:(?<![\d.])|(?<=\d)(?=[一二两三四五六七八九十]))(?:-|零下|负)?(?:(?<![上早晚午晨夜里间]){DECIMAL_ZH}(?={_MEASURED_ZH})|{NUMBER_ZH}))(?P<half_in>个半|半)?"
    rf"(?:(?P<percent>\s?(?:[%％‰‱]|(?:ppm|bps?)(?![A-Za-z])|个?(?:基点|(?:bps?)(?![A-Za-z]))|个百分点))|\s?(?P<money>(?:{_MONEY_ZH}|USD|EUR|CNY|RMB))|(?P<fold>折)|(?P<tenths>成)"
    rf"|\s?(?P<more>多|余|几)?(?P<unit>{_UNIT_ZH})(?P<half_out>半)?|(?P<counter>[{COUNTERS}]))?"
    r"(?P<tenth>(?<=[米块])[一二三四五六七八九](?![十百千万点分毛角米厘公斤年月日号楼层个块元半]))?"
)
ZH_SPECIAL = re.compile(
    rf"百分之(?P<percent>{NUMBER_ZH}(?:点[零一二三四五六七八九]+)?)|(?P<whole>{NUMBER_ZH})分之(?P<part>{NUMBER_ZH}(?:点[零一二三四五六七八九]+)?)|(?P<half>一半|半价|半数)|每?卖?(?P<among>十|一?百|10|100)(?:个人|[个人位件次家户辆只份名张]|户人家)?(?:里面?|中间?|之中|当中)(?:就|约|大约)*(?:有|占)(?P<these>{NUMBER_ZH})(?:个人|[个人位件次家户辆只份名张])?|(?P<fifty>半百)(?!万)|(?P<decimal>(?<![\d零〇一二两三四五六七八九十百千万亿]){DECIMAL_ZH.replace('九]+', '九]{2,}')})(?![十\d点分刻时])"
    r"|(?P<metres>[一二两三])米(?P<tenths>[一二三四五六七八九]{1,2})(?![米百千万点个十])"
    r"|半(?P<unit>个?小时|天|年|个月|月|公斤|斤)|(?P<even>年内|每年|每月|每周|每天)|第(?P<nth>[一二三四五六七八九十百\d]+)"
)
_OF_THE_PRICE = re.compile(r"(?:按|照|以)?(?:原|标|定|正|售)价的?$")
_NOT_NUMBER_ZH = re.compile(
    r"(?<=[这那])一(?:天|日|晚|年|周|个?月|刻|点|项|条|次|类|种|步|台|位|批|期|个?小时|个?季度)|一(?:样|起|定|律|般|直|些|旦|切|致|共|同|并|边|方|向|再|概|经|次性|站式|点|下|会|路|时|流|带|体|手|键|周年|对一|是|行人|"
    r"系列|半|部分)|千万别|千万不|万一|统一|唯一|同一|之一|第一|单一|一一|不一|万分|十分|百货|三方|两者|两种|双十一|四川|"
    r"五金|八卦|九寨|三亚|百度|万达|千里|千兆|万能|万里|六安|五一|十一假|七夕|两侧|两边|三星|四季|百姓|百科|"
    r"(?<![小老阿])周[一二三四五六](?![百千万])|星期[一二三四五六]|礼拜[一二三四五六]"
)
_BODY = re.compile(r"-(?:[a-z]+ed|faced|star|ply|piece|seater|door|wheeler)\b")
_NTH = ORDINALS | {"first": 1, "second": 2}
_SPACE, _MINUS, _MINUS_ZH = re.compile(r"\s"), re.compile("-|minus|negative", re.I), re.compile("^(?:-|零下|负)")
_SIGN = re.compile(r"^(?:-|minus\s|negative\s|零下|负)", re.I)
_LONE_ZH = frozenset("零一二两俩三四五六七八九十百千万亿")


_PART_OF = re.compile(
    r"\s+(?:of (?!20|the (?:financial |fiscal |calendar )?year)|off\b|(?:are|is|have|were|was|come|full|empty)\b)", re.I
)
_OF_ROUND = re.compile(r"\s+of\s+an?\s+(?:dozen|hundred|thousand|million|billion|trillion)\b", re.I)
_LASTS = re.compile(r"\b(?:for|last|past|next|first|previous|consecutive|in|within)\s+$", re.I)  # quarters of a year
_AND_CENTS = re.compile(  # four dollars fifty
    rf"(?P<whole>{NUMBER_EN})\s(?P<money>dollars?|bucks|pounds?|quid|euros?|francs?)\s(?:and\s)?(?P<cents>(?:{'|'.join(TENS)})(?:[-\s](?:one|two|three|four|five|six|seven|eight|nine))?|ten|eleven|twelve|\w+teen|\d\d)"
    r"(?:\s(?:cents|pence|p))?(?=\s*(?:$|[.,;:!?)]|(?:for|a|an|per|each|and|or|in|on|at|to|from|with|plus|including|more|less|off|now|today|instead|if|when|the|as|is|was|every|before|after)\b))",
    re.I,
)

_COINED = re.compile(r"dollar|buck|pound|quid|euro|franc", re.I)  # without any of these there are no cents beside it
RATE_EN = re.compile(
    rf"\b(?:(?:(?P<often>once|twice|{NUMBER_EN} times)\s+)?(?:per|each|every|a|an|once every)\s+(?:(?P<n>{NUMBER_EN}|other)\s+)?(?P<unit>seconds?|minutes?|hours?|days?|nights?|weeks?|months?|"
    r"quarters?|years?|annum|decade)|(?P<alternate>every other|every second)(?=\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?P<word>hourly|daily|weekly|monthly|quarterly|yearly|annually|annual|nightly|biweekly|fortnightly))\b",
    re.IGNORECASE,
)
_RATED = re.compile(
    r"(?:\d|\btimes|\bonce|\btwice|[$€£¥%]|\b(?:dollars?|euros?|pounds|percent|usd|eur|gbp|visits?|doses?|one|two|three|four|five|six|ten))\W*(?:\w+\W+)?$",
    re.I,
)
_NEAR = 200  # characters before "a day" in which what is rated stands
_PER = "kwh|mwh|kilowatt[ -]hours?|gb|gigabytes?|mb|megabytes?|tb|terabytes?|pints?|yards?|feet|foot|square (?:met(?:re|er)|foot|feet)|sqm|kg|kilos?|kilograms?|grams?|pounds?|lbs?|ounces?|tons?|tonnes?|km|kilomet(?:re|er)s?|miles?|met(?:re|er)s?|litres?|liters?|gallons?|acres?|hectares?"
PER_EN = re.compile(
    rf"\b(?:per|for each|for every|each|every)\s+(?P<unit>{_PER})\b(?! of (?:body ?)?weight (?:lost|gained))",
    re.IGNORECASE,
)
PER_ZH = re.compile(r"每(?P<unit>公斤|千克|斤|克|吨|公里|千米|里|米|升|毫升|平方米|平米|亩|公顷)")
_RATE_WORDS = {
    "hourly": "hour",
    "daily": "day",
    "nightly": "day",
    "weekly": "week",
    "monthly": "month",
    "annum": "year",
}
RATE_ZH = re.compile(
    rf"每(?:隔)?(?P<n>{NUMBER_ZH})?(?P<unit>秒钟?|分钟|个?小时|个?钟头|天|日|晚上?|个?晚上|周|个?星期|个?礼拜|个?月|个?季度|年度?|个?年度)"
    r"|(?<![\d一二三四五六七八九十])(?P<one>一天|一日|一周|一个?月|一年|一小时|一个小时)(?=[^内以之后前，,。]{0,3}[一二两三四五六七八九十\d])|按(?P<by>月|年|周|季|季度|天|日)|(?P<paid>月|年|周|季|日)(?=付|费|租|薪|卡|套餐|产|销|均|营收|利润|收入|用电|耗|供|流量|吞吐|息|利率|票)"
)


def english_rates(text: str) -> Iterator[Fact]:
    """ "twice a week", "per year", "monthly": how often, as the length of the interval."""
    for match in RATE_EN.finditer(text):
        first = match[0].split()[0].lower()
        if (
            first in ("a", "an")
            and not match["often"]
            and not _RATED.search(text, max(0, match.start() - _NEAR), match.start())
        ):
            continue
        name = (match["unit"] or match["word"] or "fortnightly").lower()
        name = _RATE_WORDS.get(name, name)
        unit = ENGLISH.get(name) or ENGLISH.get(name + "s")
        if name.startswith("quarter"):
            unit = ENGLISH["quarters"]
        if name in ("annual", "annually", "yearly"):
            unit = ENGLISH["year"]
        if name in ("biweekly", "fortnightly"):
            unit = ENGLISH["fortnight"]
        if unit is not None:
            yield _made(match, Kind.RATE, _interval(match), unit.base, unit.factor)


def per_units(text: str) -> Iterator[Fact]:
    """ "per kilo", 每公斤: the quantity that a value is told for."""
    for match in (*PER_EN.finditer(text), *PER_ZH.finditer(text)):
        name = match["unit"].lower().replace(" ", "-")
        unit = {"pound": ENGLISH["lb"], "pounds": ENGLISH["lb"]}.get(name) or ENGLISH.get(name) or CHINESE.get(name)
        if unit is not None:
            yield _made(match, Kind.RATE, 1.0, unit.base, unit.factor)


def _interval(match: re.Match[str]) -> float:
    """Units from one time to the next: 2 for "every other week", a half for "twice a week"."""
    often = (match["often"] or "once").lower().removesuffix(" times")
    times = {"once": 1.0, "twice": 2.0}.get(often) or english(often) or 1.0
    number = (match["n"] or "1").lower()
    return (2.0 if number == "other" else english(number) or 1.0) / times


def chinese_rates(text: str) -> Iterator[Fact]:
    """每天, 每三个月, 一天三次, 按年, 月付."""
    for match in RATE_ZH.finditer(text):
        name = match["unit"] or match["by"] or match["paid"] or (match["one"] or "")[1:]
        name = name.removeprefix("个").removesuffix("度") if name != "季度" else name
        unit = CHINESE["个季度"] if name.startswith("季") else CHINESE.get(name) or CHINESE["天"]
        yield _made(match, Kind.RATE, chinese(match["n"] or "一") or 1.0, unit.base, unit.factor)


def english_quantities(text: str) -> Iterator[Fact]:
    """Quantities of an English text, longest wording first where two overlap."""
    loose = list(EN_LOOSE.finditer(text))
    quarters = [
        m.span("quarters") for m in loose if m["three"] and not _OF_ROUND.match(text, m.end())
    ]  # of a whole, not of a year
    for match in EN.finditer(text):
        fact = _english(match)
        if fact is not None and not any(begin < fact.end and fact.start < end for begin, end in quarters):
            yield fact
    for match in _AND_CENTS.finditer(text) if _COINED.search(text) else ():
        whole, cents = english(match["whole"]), english(match["cents"])
        if whole is not None and cents is not None and cents < 100:
            yield _made(match, Kind.MONEY, whole + cents / 100, *_currency(match["money"]))
    for match in loose:
        fact = _loose(match)
        if fact is not None:
            yield fact


def chinese_quantities(text: str) -> Iterator[Fact]:
    """Quantities of a Chinese text."""
    for match in ZH_SPECIAL.finditer(text):
        fact = _special(match)
        if fact is not None:
            yield fact
    for match in (*POINTS_ZH.finditer(text), *_SORTS_ZH.finditer(text)):
        yield _made(match, Kind.NUMBER, chinese(match["points"]) or 0.0)
    blocked = [m.span() for m in _NOT_NUMBER_ZH.finditer(text)] + [
        m.span("day") for m in OF_THE_MONTH_ZH.finditer(text)
    ]
    for match in ZH.finditer(text):
        start = match.start("number")
        lone = match["number"] in _LONE_ZH
        if (
            any(a <= start < b for a, b in blocked)
            and not (match["unit"] and len(match["unit"]) > 1)
            and "点" not in match["number"]
        ):
            continue
        if lone and not any(match[g] for g in ("percent", "money", "fold", "tenths", "unit", "counter", "half_in")):
            continue
        fact = _chinese(match)
        if fact is not None:
            yield fact


def _english(match: re.Match[str]) -> Fact | None:
    number, scale = match["number"].strip(), match["scale"].strip().lower()
    if number.lower() == "one" and not (match["unit"] or match["money"] or match["percent"]):
        return None
    if not (match["unit"] or match["money"]) and _BODY.match(match.string, match.end()):
        return None  # four-legged
    unit_name = _SPACE.sub("-", match["unit"].lower()) if match["unit"] else ""
    if (
        unit_name.startswith("quarter")
        and number.lower() in ("three", "one")
        and (_PART_OF.match(match.string, match.end()) or not _LASTS.search(match.string[: match.start()]))
    ):
        return None
    money = (match["prefix"] or match["money"] or "").strip()
    if scale in ("m", "mm", "b", "k") and not money and not match["percent"] and not number[0].isdigit():
        return None
    if scale == "m" and not money:  # 5 m is five metres
        unit_name, scale = "m", ""
    if scale == "mm" and not money:
        unit_name, scale = "mm", ""
    value = english(f"{number} {scale}")
    if value is None:
        return None
    value = -value if _MINUS.match(number) and not match.string[: match.start()].rstrip()[-1:].isdigit() else value
    written = None if scale else _written(number, value)
    if money:
        return _exact(_made(match, Kind.MONEY, value, *_currency(money, match["land"] or "")), written)
    if match["percent"]:
        return _percent(match, value)
    if unit_name:
        working = bool(match["working"]) and unit_name.startswith("day")
        return _quantity(match, value, ENGLISH["workday" if working else unit_name])
    return _exact(_made(match, Kind.NUMBER, value), written)


def _currency(name: str, land: str = "") -> tuple[str, float]:
    """Currency code and the factor to its whole unit; "Swiss", "Canadian" may say which francs or dollars are meant."""
    code = CURRENCIES.get(land.strip().lower() + name.lower()) or CURRENCIES.get(name.lower(), name.upper())
    if name.lower() == "grand":
        return "", 1000.0
    if name.lower() in ("cent", "cents"):
        return "", 0.01  # of whatever currency
    if code.endswith("c"):
        return code[:-1], 0.01
    return (code[:-1], 0.1) if code.endswith("1") else (code, 1.0)


def _quantity(match: re.Match[str], value: float, unit: Unit) -> Fact:
    if unit.base == "fahrenheit":
        return replace(_made(match, unit.kind, round((value - 32) / 1.8, 1), "degree"), raw=value)
    return _made(match, unit.kind, value, unit.base, unit.factor)


def _made(match: re.Match[str], kind: Kind, value: float, unit: str = "", factor: float = 1.0) -> Fact:
    start, end = match.span()
    while match.string[start].isspace():
        start += 1
    while end > start and match.string[end - 1].isspace():
        end -= 1
    digits = FLOAT_DIGITS if kind in _AS_WRITTEN else CONVERTED_DIGITS
    return Fact(
        kind=kind, value=float(f"{value * factor:.{digits}g}"), unit=unit, start=start, end=end,
        text=match.string[start:end], raw=value,
    )  # fmt: skip


_AS_WRITTEN = frozenset({Kind.NUMBER, Kind.MONEY})
_ALL_DIGITS = re.compile(DIGITS)
CONVERTED_DIGITS = 10  # that are kept of a value turned into its base unit


def _written(number: str, value: float) -> Decimal | None:
    """The number of a text digit by digit, with the sign of `value`; None where words tell a part of it."""
    found = _ALL_DIGITS.fullmatch(_SIGN.sub("", number).strip())
    if found is None:
        return None
    exact = Decimal(found[0].replace(",", ""))
    return -exact if value < 0 else exact


def _exact(fact: Fact, written: Decimal | None) -> Fact:
    """The fact as `written`, unless it was turned into another unit: cents, 角."""
    return fact if written is None or fact.value != fact.raw else replace(fact, written=written)


def _percent(match: re.Match[str], value: float) -> Fact:
    """A share told in hundredths, thousandths (‰), ten thousandths (basis points) or millionths (ppm)."""
    sign = match["percent"].strip().casefold()
    factor = next((factor for pattern, factor in _SHARES if pattern.match(sign)), 1.0)
    return _made(match, Kind.PERCENT, value, "%", factor)


_SHARES = (
    (re.compile("‰|per ?mil|per thousand|in a thousand"), 0.1),
    (re.compile("‱|bp|basis|个?(?:基点|bp)"), 0.01),
    (re.compile("ppm|parts per million"), 0.0001),
)


def _loose(match: re.Match[str]) -> Fact | None:
    found = {name: value.lower() for name, value in match.groupdict().items() if value}
    if "a_unit" in found:
        unit = ENGLISH["workday" if "a_work" in found else found["a_unit"]]
        return _quantity(match, _one_and(found.get("a_part", "")), unit)
    if "m_unit" in found:
        return _quantity(match, _one_and(found["m_part"]), ENGLISH[found["m_unit"]])
    if "part_of" in found and found["of_unit"] in ENGLISH:
        return _quantity(
            match,
            _PARTS[found["part_of"].replace("-", " ").split(" ", 1)[-1]] * _over(found),
            ENGLISH[found["of_unit"]],
        )
    if "other_third" in found:
        return _made(match, Kind.PERCENT, 100 / 3 if found["other_third"] == "third" else 25.0, "%")
    if "h_unit" in found and found["h_unit"] != "price":
        return _quantity(match, 0.5, ENGLISH[found["h_unit"]])
    if "a_money" in found:
        return _made(match, Kind.MONEY, 1.0, *_currency(found["a_money"]))
    if "fortnight" in found:
        return _quantity(match, 1.0, ENGLISH["fortnight"])
    if "always" in found:
        return _made(match, Kind.DURATION, 1.0, "s", 86400.0)
    if "twice" in found:
        return _made(match, Kind.MEASURE, 1.0 if found["twice"] == "once" else 2.0, "times")
    if "ten" in found:
        return _made(match, Kind.NUMBER, float(TENS[found["ten"]] + _NTH[found["unit_th"]]))
    if "ordinal_of" in found:
        return _made(match, Kind.NUMBER, 1.0 if found["ordinal_of"] == "first" else 2.0)
    if "couple" in found or "ordinal" in found:
        return _few(match, found)
    share = _share(found)
    return None if share is None else _made(match, Kind.PERCENT, share, "%")


def _few(match: re.Match[str], found: dict[str, str]) -> Fact:
    """Two of "a couple of", about two hundred of "a couple of hundred"; three of "third"."""
    if "couples" in found:
        return replace(_made(match, Kind.NUMBER, 2 * SCALES[found["couples"]]), approximate=True)
    return _made(match, Kind.NUMBER, float(ORDINALS.get(found.get("ordinal", ""), 2)))


def _one_and(part: str) -> float:
    """One, and what "and a half" or "and a quarter" adds to it."""
    return 1.5 if part.endswith("half") else 1.25 if part.endswith("quarter") else 1.0


_PARTS = {"half": 0.5, "third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25}


def _over(found: dict[str, str]) -> float:
    """How many parts: 3 for "three quarters of an hour"."""
    return {"two": 2.0, "three": 3.0}.get(found["part_of"].replace("-", " ").split(" ")[0], 1.0)


def _share(found: dict[str, str]) -> float | None:
    """Percentage that a fraction in words stands for."""
    if "half" in found or "h_unit" in found:
        return 50.0
    if "fraction" in found:
        over = english(found["over"]) or 1.0
        return 100 * over / ORDINALS[found["under"]] if over < ORDINALS[found["under"]] else None
    if "thirds" in found:
        return 200 / 3 if found["thirds"] == "two" else 100 / 3
    if "all_but" in found:
        return 75.0
    if "three" in found:
        return 75.0 if found["three"] == "three" else 25.0
    if "hundredths" in found:
        return english(found["hundredths"])
    if "x_of" in found:  # "one bottle in every two hundred"
        part, whole = english(found["x_of"]), english(found["y_of"])
        return 100 * part / whole if part and whole and part < whole else None
    part, whole = english(found["x"]), english(found["y"])
    if part and whole and part < whole and found["x"].isalpha() == found["y"].isalpha():
        return 100 * part / whole
    return None


def _chinese(match: re.Match[str]) -> Fact | None:
    value = chinese(_MINUS_ZH.sub("", match["number"]))
    if value is None:
        return None
    value = -value if match["number"].startswith(("-", "零下", "负")) else value
    value += 0.5 if match["half_in"] or match["half_out"] else 0.0
    value += (chinese(match["tenth"]) or 0.0) / 10 if match["tenth"] else 0.0  # 一米四, 两块五
    money = match["prefix"] or match["money"]
    written = None if match["half_in"] or match["half_out"] or match["tenth"] else _written(match["number"], value)
    if money:
        return _exact(_made(match, Kind.MONEY, value, *_currency(money.replace("￥", "¥"))), written)
    if match["percent"]:
        of_the_price = value < 100 and _OF_THE_PRICE.search(match.string[: match.start()])
        return _percent(match, 100 - value if of_the_price else value)
    if match["fold"]:  # 八折 is 20 % off, 八五折 15 %
        paid = value if value > 10 else value * 10
        return _made(match, Kind.PERCENT, 100 - paid, "%")
    if match["tenths"]:
        return _made(match, Kind.PERCENT, value * 10, "%")
    if match["unit"]:
        return _quantity(match, value, CHINESE[match["unit"]])
    return _exact(_made(match, Kind.NUMBER, value), written)


_SORTS_ZH = re.compile(
    r"(?P<points>[两三四五六七八九])样(?=东西|材料|证件|[:：]|[，,]?缺一)"
)  # so many things of a list
_SPOKEN_CLOCK = re.compile(r"[^点]+点[零〇][一二三四五六七八九]")  # 三点零五


def _special(match: re.Match[str]) -> Fact | None:
    if match["percent"]:
        value = chinese(match["percent"])
        if value is not None and _OF_THE_PRICE.search(match.string[: match.start()]):
            value = 100 - value  # as 折 says it: so much off
        return None if value is None else _made(match, Kind.PERCENT, value, "%")
    if match["whole"]:
        whole, part = chinese(match["whole"]), chinese(match["part"])
        return _made(match, Kind.PERCENT, 100 * part / whole, "%") if whole and part else None
    if match["half"]:
        return _made(match, Kind.PERCENT, 50.0, "%")
    if match["among"]:
        return _made(
            match, Kind.PERCENT, 100 * (chinese(match["these"]) or 0.0) / (chinese(match["among"]) or 1.0), "%"
        )
    if match["fifty"]:
        return _made(match, Kind.NUMBER, 50.0)
    if match["decimal"]:
        return (
            None
            if _SPOKEN_CLOCK.fullmatch(match["decimal"])
            else _made(match, Kind.NUMBER, chinese(match["decimal"]) or 0.0)
        )
    if match["metres"]:
        tenths = "".join(str("一二三四五六七八九".index(c) + 1) for c in match["tenths"])
        return _quantity(match, (chinese(match["metres"]) or 0.0) + int(tenths) / 10 ** len(tenths), CHINESE["米"])
    if match["unit"]:
        return _quantity(match, 0.5, CHINESE[match["unit"]])
    if match["nth"]:
        value = chinese(match["nth"])
        return None if value is None else _made(match, Kind.NUMBER, value)
    return None
