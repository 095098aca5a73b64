"""Values that are written in several ways, in one: 1 299 EUR, 1.299,00 EUR, 2½ hours, 1000 Mbit/s, 99p, 30元/月, 壹万元整, 3万5."""

# ruff: noqa: E501 (patterns stay whole)

import re
from collections.abc import Callable
from types import MappingProxyType

Instead = str | Callable[[re.Match[str]], str]

_CURRENCY = r"(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|CHF|AUD|CAD|INR|SEK|NOK|DKK|PLN|CZK|HUF|KRW|SGD|[$€£¥₹]|dollars?\b|euros?\b|pounds\b|francs\b|kron(?:er|or)\b|yuan\b|yen\b|rupees\b|元|块|欧元|美元|英镑|人民币)"
_MEASURE = r"(?:%|percent\b|kg\b|kilos?\b|g\b|mg\b|km\b|miles?\b|kilomet(?:er|re)s?\b|met(?:er|re)s?\b|litres?\b|liters?\b|tonnes?\b|kWh\b|MB\b|GB\b|steps?\b|people\b|customers?\b|users?\b|members?\b|visitors?\b|employees\b|orders\b|items\b|tickets\b|copies\b|公里|公斤|千克|米|人|件|名|份|条)"
_GROUPED = r"(?<![\d.,+()/-])(?<!\d\s)(?P<whole>[1-9]\d{0,2}(?: \d{3}){1,4})(?![\d-])(?! \d)"
_THIN = re.compile(
    r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))"
)  # a space that groups digits, and parts no words
_GROUPED_THIN = re.compile(
    r"(?<![\d.,+()/\u00a0\u2007\u2009\u202f-])[1-9]\d{0,2}(?:[\u00a0\u2007\u2009\u202f]\d{3})+(?!\d|[\u00a0\u2007\u2009\u202f]\d)"
)
_FRACTION_SIGNS = MappingProxyType(
    {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8)}
)  # fmt: skip
_FRACTION_SIGN = re.compile(rf"(?:(?<!\d)(?P<whole>\d{{1,6}}))?[ ]?(?P<sign>[{''.join(_FRACTION_SIGNS)}])")
_FRACTION_WORDS = MappingProxyType(
    {(1, 2): "half", (1, 3): "one third", (2, 3): "two thirds", (1, 4): "one quarter", (3, 4): "three quarters"}
)
_SHORT_UNIT = r"(?:m?g|kg|m?l|cl|[ckm]?m|h|min|lbs?|oz|tsp|tbsp|[GMT]B|mi)\b"
_FRACTION = re.compile(  # 1/2 tablet, 1 1/2 hours, "save 1/3"; 1/2 alone is a date or a page
    r"(?<![\w/.,:-])(?P<lead>\b(?:saves?|pay|get|by|about|around|nearly|almost|only|just|over|under|than|refund|lose|lost) )?"
    r"(?:(?P<whole>\d{1,3})[ -])?(?P<over>\d)/(?P<under>[2-58])(?![\d/.,:-]\d|/)"
    r"(?P<measured>(?= ?(?:of\b|(?:an? |the )?(?:tablets?|pills?|cups?|teaspoons?|tablespoons?|table|glass|hours?|days?|years?|months?|miles?|inch|inches|pints?|litres?|liters?|kilos?|pounds?|price|fee|cost|fare|amount|dose|full|empty|board|page|portion|packet|bottle)\b"
    rf"|{_SHORT_UNIT}|个?小时|[片粒颗杯瓶包袋勺天年价的])))?"
)
_FINANCIAL = "壹贰叁肆伍陆柒捌玖拾佰仟萬"
_FINANCIAL_RUN = re.compile(rf"[{_FINANCIAL}零万亿]{{2,}}|[{_FINANCIAL}](?=[元圆角分年月个天件倍成折])")
_TO_ORDINARY = str.maketrans(_FINANCIAL, "一二三四五六七八九十百千万")
_PER_ZH = MappingProxyType(
    {
        "月": "每月",
        "年": "每年",
        "天": "每天",
        "日": "每天",
        "周": "每周",
        "小时": "每小时",
        "晚": "每晚",
        "季度": "每季度",
    }
)
_PER_EN = MappingProxyType(
    {"mo": "month", "mth": "month", "yr": "year", "wk": "week", "hr": "hour", "h": "hour", "min": "minute", "d": "day"}
)


_TENTHS = MappingProxyType({"half": "0.5", "a": "0.25", "one": "0.25", "three": "0.75"})
_DAILY = MappingProxyType({"b": "twice a day", "t": "three times a day", "q": "four times a day"})


def _one_space(match: re.Match[str]) -> str:
    return re.sub(r"\s", "", match[0])


def _european(match: re.Match[str]) -> str:
    """1.299,00 as 1299.00."""
    return match["whole"].replace(".", "").replace("'", "") + "." + match["cents"]


def _fraction(match: re.Match[str]) -> str:
    """ "half a tablet" for "1/2 a tablet", 1.5 for 1 1/2, 3分之1 for 1/3 before 的."""
    over, under = int(match["over"]), int(match["under"])
    if over >= under or (match["measured"] is None and not match["lead"]):
        return match[0]
    return (match["lead"] or "") + _share(match, over, under)


def _share(match: re.Match[str], over: int, under: int) -> str:
    """How a fraction is written, by what follows it in the text."""
    text, end, whole = match.string, match.end(), match["whole"]
    decimal = f"{int(whole or 0) + over / under:.15g}"
    if whole or _UNIT_FOLLOWS.match(text, end):
        return decimal
    if _CHINESE_FOLLOWS.match(text, end):
        return "半" if (over, under) == (1, 2) and text[end] != "的" else f"{under}分之{over}"
    return _FRACTION_WORDS.get((over, under), f"{over}/{under}")


_UNIT_FOLLOWS = re.compile(rf" ?{_SHORT_UNIT}")
_CHINESE_FOLLOWS = re.compile("[\u4e00-\u9fff]")


def _myriads(match: re.Match[str]) -> str:
    """3万5 as 35000."""
    scale = {"万": 10000, "千": 1000}[match["scale"]]
    return str(int(match["whole"]) * scale + int(match["next"]) * scale // 10)


def _below(match: re.Match[str]) -> str:
    blanks = len(match["sum"]) - len(match["sum"].lstrip())
    return " " * blanks + "-" + match["sum"].lstrip()


def _speed(match: re.Match[str]) -> str:
    return f"{match['n']}公里每小时"


_RULES: tuple[tuple[re.Pattern[str], str, Instead], ...] = (  # pattern, what a text needs to have for it, instead
    # 1.299,00 and 1'299.00 and 1,29,900
    (re.compile(r"(?<![\d.,])(?P<whole>\d{1,3}(?:\.\d{3})+),(?P<cents>\d{1,2})(?![\d,]|\.\d)"), ",", _european),
    (re.compile(r"(?<![\d.,])\d{1,3}(?:'\d{3})+(?!\d)"), "'", lambda m: m[0].replace("'", "")),
    (re.compile(r"(?<![\d.,])\d{1,2}(?:,\d\d)+,\d{3}(?![\d,])"), ",", lambda m: m[0].replace(",", "")),
    # 99,50 EUR and 4,25 %
    (
        re.compile(
            rf"(?<![\d.,])(?P<whole>\d{{1,6}}),(?P<cents>\d{{1,2}})(?= ?(?:{_CURRENCY}|%|percent\b|kg\b|km\b|m²|kWh\b|°C|million\b|billion\b))"
        ),
        ",",
        _european,
    ),
    (
        re.compile(rf"(?P<lead>{_CURRENCY} ?)(?<![\d.,])(?P<whole>\d{{1,6}}),(?P<cents>\d\d)(?![\d,]|\.\d)"),
        ",",
        lambda m: m["lead"] + _european(m),
    ),
    # 1 299 EUR
    (re.compile(rf"{_GROUPED}(?=(?:[.,]\d\d?)? ?(?:{_CURRENCY}|{_MEASURE}))"), " ", _one_space),
    (
        re.compile(
            r"(?P<lead>[$€£¥] ?|\b(?:USD|EUR|GBP|CHF|SEK|PLN|CNY) )(?P<whole>[1-9]\d{0,2}(?: \d{3}){1,4})(?![\d-])(?! \d)"
        ),
        " ",
        lambda m: m["lead"] + m["whole"].replace(" ", ""),
    ),
    # 1.000.000
    (re.compile(r"(?<![\d.,])\d{1,3}\.\d{3}(?:\.\d{3})+(?![\d,]|\.\d)"), ".", lambda m: m[0].replace(".", "")),
    (_FRACTION, "/", _fraction),
    # rates and speeds
    (re.compile(r"(?<=[\d%]) ?(?P<unit>[KMGT]) ?bits?/s(?:ec)?(?![A-Za-z])", re.I), "/", " \\g<unit>bps"),
    (
        re.compile(r"(?<=\d)[ -]?(?P<unit>kilo|mega|giga)bits?[ -](?:per|a)[ -]second\b", re.I),
        "second",
        lambda m: f" {m['unit'][0].upper()}bps",
    ),
    (re.compile(r"(?<=\d)[ ]?(?P<unit>[kMG])b/s\b"), "b/s", " \\g<unit>bps"),
    (
        re.compile(r"(?<=\d) ?(?:km|kilomet(?:re|er)s?) ?(?:/ ?|p\.?|per |an )(?:h|hr|hour)\b(?! later)", re.I),
        "",
        " km/h",
    ),
    (re.compile(r"(?<=\d) ?(?:mi|miles?) ?(?:/ ?|per |an )(?:h|hr|hour)\b", re.I), "", " mph"),
    (re.compile(r"(?<=\d)(?:公里|千米)(?:/|每)(?:小时|时)|(?<=\d)迈(?![步向])"), "", "公里每小时"),
    (re.compile(r"(?:时速|每小时)(?:是|为|达到?|约|大约)?(?P<n>\d+(?:\.\d+)?)(?:公里|千米)(?!每小时)"), "", _speed),
    (re.compile(r"(?<![\w.])(?P<h>\d{1,3}) ?h(?:rs?)? ?(?P<m>\d{1,2}) ?m(?:ins?)?\b", re.I), "", r"\g<h> h \g<m> min"),
    (
        re.compile(
            r"(?<![\w.])(?P<feet>\d) ?(?:ft\.?|feet|foot|') ?(?P<inches>\d{1,2}) ?(?:in\b|inch(?:es)?\b|\"(?!\w))", re.I
        ),
        "",
        r"\g<feet> feet \g<inches> inches",
    ),
    (re.compile(r"(?<=\d) ?m/s(?:ec)?\b"), "m/s", " metres per second"),
    (re.compile(r"(?<=\d) ?mi\b(?!\w)"), "mi", " miles"),
    (re.compile(r"(?<=\d)-(?=fold\b)"), "fold", " "),
    (
        re.compile(
            r"\b(?P<share>half|(?:a|one) quarter of|three quarters of) an? (?P<unit>second|percent|per cent|percentage point)\b(?! (?:time|chance|opinion|home|hand|language|look|one|half|helping|floor|opinion))",
            re.I,
        ),
        "",
        lambda m: f"{_TENTHS[m['share'].lower().split(' ')[0]]} {m['unit']}",
    ),
    (re.compile(r"\b(?P<often>[btq])\.i\.d\b\.?", re.I), ".", lambda m: _DAILY[m["often"].lower()]),
    (re.compile(r"(?<![\d.])(?P<m>[12])米(?P<cm>\d\d)(?![\d.米厘公分])"), "米", r"\g<m>.\g<cm>米"),
    (
        re.compile(r"(?P<h>(?:小时|钟头)零?)(?P<m>\d{1,2}|[一二三四五]?十?[一二三四五六七八九]?)分(?![钟之])"),
        "分",
        r"\g<h>\g<m>分钟",
    ),
    (re.compile(r"打?对折"), "对折", "打五折"),
    (re.compile(r"(?<=\d)兆(?:比特)?(?:每秒|/秒|bps)"), "兆", "Mbps"),
    (
        re.compile(
            r"(?P<lead>\b(?:at|by|until|till) )(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d) ?(?:hrs|hours|h)\b(?! of)", re.I
        ),
        "h",
        r"\g<lead>\g<h>:\g<m>",
    ),
    (re.compile(r"(?<=[a-z])(?<! is)(?<! was)(?<! say)(?<! said) [Nn]o\. ?(?=\d)"), "o.", " #"),
    (re.compile(r"\b[Ee]xt\. ?(?=\d)"), "xt.", "extension "),
    (re.compile(r"\b(?:biannually|semi-?annually|half-yearly)\b", re.I), "ly", "twice a year"),
    (re.compile(r"\+86[- ]?(?=1[3-9]\d)"), "+86", ""),
    # below zero
    (
        re.compile(
            r"(?<![\w.-])(?P<n>\d+(?:\.\d+)?(?: ?°C?| degrees?(?: Celsius)?)) below (?:zero|freezing(?: point)?)\b",
            re.I,
        ),
        "below",
        r"-\g<n>",
    ),
    (
        re.compile(
            rf"(?P<lead>\b(?:overdrawn|in the red) by (?:about )?)(?={_CURRENCY}? ?\d)|(?P<zh>(?:透支|欠费|欠款)(?:了|金额为?)?)(?=\d)",
            re.I,
        ),
        "",
        lambda m: f"{m['lead'] or m['zh']}-",
    ),
    (
        re.compile(rf"(?<![\w.,-])(?P<sum>{_CURRENCY}? ?\d[\d,.]* ?{_CURRENCY}?)(?= (?:overdrawn|in the red)\b)"),
        "r",
        _below,
    ),
    (re.compile(r"(?:\bp\.\s?a\b\.?(?=[\s,;)]|$)|\bper annum\b)", re.I), "p", "per year"),
    (re.compile(r" ?\bpcm\b"), "pcm", " per month"),
    (
        re.compile(
            r"(?P<before>(?:\d|%|[$€£¥]|\b[A-Z]{3}) ?)(?P<units>(?:/ ?(?:month|mo|mth|year|yr|week|wk|day|night|hour|hr|h|min|minute|person|user|seat|kg|kWh|GB)\b(?![./]\w*\d) ?)+)"
        ),
        "/",
        lambda m: (
            m["before"].rstrip()
            + re.sub(r"/ ?(\w+)( ?)", lambda u: f" per {_PER_EN.get(u[1], u[1])}{u[2]}", m["units"])
        ),
    ),
    (re.compile(r"(?<=[元块%次])/(?P<unit>小时|季度|[月年天日周晚])(?!\d)"), "/", lambda m: _PER_ZH[m["unit"]]),
    (re.compile(r"\binterest rate\b"), "%", "interest"),
    # coins
    (re.compile(r"(?<![\w.£$€-])(?P<n>\d{1,2}) ?p(?![\w.]*\w)(?!\.m)"), "p", "\\g<n> pence"),
    (re.compile(r"(?<=\d) ?¢"), "¢", " cents"),
    # Chinese money
    (re.compile(r"(?<=[元圆角万亿千百])[整正](?![\u4e00-\u9fff]|数)"), "", ""),
    (
        re.compile(
            r"(?<![\d.,])(?P<whole>\d{1,4})(?P<scale>[万千])(?P<next>\d)(?![\d.,:：]|[百千万亿个种次页月日号天点%])"
        ),
        "",
        _myriads,
    ),
    (re.compile(r"(?<=\d元)(?P<n>\d)毛"), "毛", "\\g<n>角"),
    # every half year
    (re.compile(r"每(?:隔)?半年"), "半年", "每6个月"),
    (re.compile(r"每(?:隔)?半个?月"), "月", "每0.5个月"),
    (re.compile(r"每(?:隔)?半个?小时"), "小时", "每30分钟"),
    (
        re.compile(r"(?:号码?)?(?:末尾|最后|末|后)(?:四|4)位(?:数字?|号码)?(?=是|为|[:：]|\d)|尾数(?=是|为|[:：]|\d)"),
        "",
        "尾号",
    ),
    (
        re.compile(r"(?:,? ?(?:the|with the|whose|and) )?last (?:four|4) digits(?: are| is|:)?(?= \d{4}\b)", re.I),
        "digits",
        " ending in",
    ),
    # zones and times of the net
    (re.compile(r"\b(?:GMT|Greenwich Mean Time|Coordinated Universal Time|Universal Time)\b(?!\w)"), "", "UTC"),
    (re.compile(r"格林尼治(?:标准)?时间|世界(?:标准|协调)时间?|协调世界时"), "", "UTC"),
    (
        re.compile(r"(?P<day>\b\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d(?::\d\d)?)(?P<zone>Z)?"),
        "T",
        lambda m: f"{m['day']} {m['time']}{' UTC' if m['zone'] else ''}",
    ),
    # words of a state
    (
        re.compile(
            r"\b(?P<what>batter(?:y|ies)(?: of [a-z ]{1,20})?) (?P<be>is|are|was|were|has|went|goes|'s) (?:completely |totally |quite |now )?(?:flat|dead|drained|discharged|run down|out of (?:charge|power|juice))\b",
            re.I,
        ),
        "batter",
        lambda m: f"{m['what']} {'is' if m['be'] == 'has' else m['be']} empty",
    ),
    (re.compile(r"\b(?:flat|dead|drained|discharged) (?=batter(?:y|ies)\b)", re.I), "batter", "empty "),
    (
        re.compile(r"(?P<what>电池|手机|遥控器|设备)(?:已经?)?(?:没电|耗尽|空|电量耗尽|没有电)了?(?![量气间格])"),
        "",
        "\\g<what>没电了",
    ),
)


_AREAS_EN = ((re.compile(r"(?<=\d) ?m2(?!\w)"), " square metres"), (re.compile(r"(?<=\d) ?m3(?!\w)"), " cubic metres"))
_AREAS_ZH = (
    (re.compile(r"(?<=\d) ?m2(?![A-Za-z0-9])"), "平方米"),
    (re.compile(r"(?<=\d) ?m3(?![A-Za-z0-9])"), "立方米"),
)
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")


def without_typography(text: str) -> str:
    """Signs of fractions as decimals or words, and digits that thin or firm spaces group as one number."""
    text = _GROUPED_THIN.sub(lambda match: _THIN.sub("", match[0]), text)
    return _FRACTION_SIGN.sub(_signed, text)


def _signed(match: re.Match[str]) -> str:
    over, under = _FRACTION_SIGNS[match["sign"]]
    following = match.string[match.end() : match.end() + 1]
    share = _share(match, over, under)
    lead = "" if match["whole"] else match[0][: match.start("sign") - match.start()]
    return f"{lead}{share}{' ' if following.isascii() and following.isalpha() else ''}"


def in_one_writing(plain: str) -> str:
    """A normalised text, its values written in one way."""
    plain = _FINANCIAL_RUN.sub(lambda match: match[0].translate(_TO_ORDINARY), plain)
    for pattern, needed, instead in _RULES:
        if needed in plain:
            plain = pattern.sub(instead, plain)
    if "m2" in plain or "m3" in plain:
        for pattern, unit in _AREAS_ZH if _IDEOGRAPH.search(plain) else _AREAS_EN:
            plain = pattern.sub(unit, plain)
    return plain
