"""Whether a quantity is a least or a most: "at least 5", "within 3 days", 不超过, 以上."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from dataclasses import replace
from functools import lru_cache

from harness.fidelity.reading.fact import Fact, Kind

_WINDOW = 44  # characters looked at on either side
_BOUNDED = (Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.MEASURE)
_NOT_ZH = "不|别|勿|未|莫|不要|没|没有|不得|不能|不能够|不可|不应|不应该|不该|不会|不可以|不许|不准|不允许|不宜|不应当|不得以|严禁|禁止|切勿|请勿"
_PLAINLY_ZH = "".join(f"(?<!{word})" for word in _NOT_ZH.split("|"))  # nothing denies what follows
_DOWN = r"(?:below|under|(?:less|fewer|lower|smaller|shorter|younger|lighter|colder|cooler|cheaper|earlier|closer|nearer|slower|narrower) than|short of)"
_UP = r"(?:above|over|beyond|(?:more|larger|bigger|longer|higher|greater|older|heavier|taller|warmer|hotter|dearer|later|farther|further|faster|wider|deeper) than)"
_DENIED = r"(?<![a-z])(?:not|never|no one|nobody|no(?= [a-z]+er than)|neither|nor)\s+(?:be |ever )?(?:let (?:\w+ ){1,4})?(?:\w+ )?(?:be )?"
_NOT_UNDER = re.compile(
    rf"{_DENIED}{_DOWN}\s*(?:the |a |an |of )?$|(?:{_NOT_ZH})(?:能|可|得|应)?(?:少于|低于|小于|不足|不到)\s*$", re.I
)
_NOT_OVER = re.compile(
    rf"{_DENIED}{_UP}\s*(?:the |a |an |of )?$|{_DENIED}exceed(?:ing)?\s*$|(?:{_NOT_ZH})(?:能|可|得|应)?(?:超过|多于|大于|高于|超|大过|高过|长过|重过|多过|重于|长于)\s*$",
    re.I,
)
_MOST_BEFORE = re.compile(
    r"(?<![a-z])(?:not (?:be )?(?:larger|bigger|longer|higher|greater|older|heavier|more) than|(?:smaller|shorter|lower|younger|lighter|colder|cooler|cheaper) than|no more than|not more than|not exceed(?:ing)?|no longer than|no later than|not over|not above|at most|up to|maximum(?: of)?|max\.?|"
    r"(?<!no )(?<!not )(?:less|fewer) than|under|below|within|not yet|limited to|capped at|maximum is|limit (?:is|of)|"
    rf"(?:{_NOT_ZH})(?:能|可|得|应)?(?:超过|多于|大于|高于|超)|最大|(?:最多|至多|最长|最久|最高|最大)[可能容纳坐住带装收携拿买借用要需贷存放保留延续隔等待停]{{0,4}}|最(?:高|长|大|多)[^，。；,;\d一二两三四五六七八九十百]{{1,8}}(?:为|是|到|可达|达)|不高于|不大于|不多于|不足|不到|不满|未满|未到|未达到?|没到|没满|没过|未过|没(?:有)?达到|没(?:有)?超过|没(?:有)?超|达不到|不够|不及|{_PLAINLY_ZH}(?:低于|少于|小于)|上限为?|限)\s*(?:the |a |an |of |the first )?$",
    re.I,
)
_LEAST_BEFORE = re.compile(
    r"(?<![a-z])(?:no less than|not less than|no fewer than|not under|not below|at least|minimum(?: of)?|min\.?|(?<!no )(?<!not )(?<!not be )(?:more|larger|bigger|longer|higher|greater|older|heavier|warmer|hotter|dearer) than|over|above|exceed(?:s|ing)?|"
    r"greater than|upwards of|starting (?:at|from)|beyond|longer than|in excess of|minimum is|"
    rf"最(?:低|短|少|小)[^，。；,;\d一二两三四五六七八九十百]{{1,8}}(?:为|是|要|需)|(?:至少|最少|起码|最短|最低|凑够|凑满|凑齐)[可能要需须得交付买带有间隔等待提前]{{0,4}}|(?:{_NOT_ZH})(?:能|可|得|应)?(?:少于|低于|小于|不足|不到)|超过|高于|大于|多于|已满|满|逾|下限为?)\s*(?:the |a |an |of )?$",
    re.I,
)
_AFTER = re.compile(r"(?:after|only after|later than)\s*(?:the )?$", re.I)
_AFTER_ZH = re.compile(r"^\s*(?:之后|以后|后)")
_MOST_AFTER = re.compile(
    r"^\s*(?:(?:[a-z]+ )?or (?:less|fewer|under|below|lower|younger|earlier)|and under|at most|at the most|tops|maximum|max\b|及?以内|之内|内(?!容|部|存)|及?以下)",
    re.I,
)
_LEAST_AFTER = re.compile(
    r"^\s*(?:(?:[a-z]+ )?or (?:more|above|over|higher|older|longer)|and (?:up|over|above)|at least|minimum|\+|及?以上|一?满(?![意足]))",
    re.I,
)
_ABOUT_BEFORE = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|~|大约|约|大概|将近|近|差不多)\s*$", re.I
)
_ABOUT_AFTER = re.compile(r"^\s*(?:or so|左右|上下)", re.I)


_NO_LATER = re.compile(r"no later than\s*$", re.I)
_BEFOREHAND = re.compile(r"\s*(?:ahead|before|in advance|prior|earlier)\b", re.I)
_EXCESS = re.compile(  # "a kilo and a half over the eight": by how much
    r"(?:\bhalf|\d|\b(?:kilos?|kg|grams?|minutes?|hours?|days?|euros?|pounds?|dollars?|met(?:re|er)s?|cm|percent|points?|people))\s+(?:over|above|below|under)\s*(?:the |a )?$",
    re.I,
)


def with_bound(fact: Fact, plain: str) -> Fact:
    """The fact with its `bound` and `approximate` as the words around it say."""
    if fact.kind not in _BOUNDED:
        return fact
    before, after = plain[max(0, fact.start - _WINDOW) : fact.start], plain[fact.end : fact.end + _WINDOW]
    if _EXCESS.search(before):
        return fact
    bound = _bound(before, after, lasts=fact.kind is Kind.DURATION)
    approximate = bool(_ABOUT_BEFORE.search(before) or _ABOUT_AFTER.search(after))
    return replace(fact, bound=bound, approximate=approximate) if bound or approximate else fact


@lru_cache(maxsize=4096)
def _bound(before: str, after: str, *, lasts: bool) -> int:
    """1 for a least, -1 for a most, 0 for neither, by what stands before and after a value; `lasts`: it is a duration."""
    if (_NO_LATER.search(before) and _BEFOREHAND.match(after)) or _NOT_UNDER.search(before):
        return 1
    if _NOT_OVER.search(before) or _MOST_BEFORE.search(before) or _MOST_AFTER.search(after):
        return -1
    later = lasts and (_AFTER.search(before) or _AFTER_ZH.search(after))
    return 1 if later or _LEAST_BEFORE.search(before) or _LEAST_AFTER.search(after) else 0


_EARLIEST = re.compile(
    r"(?:\b(?:no|not) (?:be )?(?:\w+ )?(?:earlier than|before)|\bfrom|\bstarting|不早于|最早|不得早于|自|从)[^.,;，。；]{0,8}$",
    re.IGNORECASE,
)
_EARLIEST_AFTER = re.compile(
    r"^\s*(?:(?:'s |is )?(?:at )?the earliest\b|onwards?|or (?:later|after))|(?:之前|以前|前)[^，。；、]{0,6}(?:不(?:了|到|来|完|成|出|起|上|下|好|能|可|会|得|准|许|让)|没法|无法|没办法)|^(?:起|之?后才|以后才)",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"(?:\b(?:no|not) (?:be )?(?:\w+ )?(?:later than|after)|\bby|\blatest|\bdeadline[^.,;]{0,16}|\blast (?:day|date|chance)[^.,;]{0,16}|不迟于|不晚于|最迟|最晚|不得晚于|截止|截至)[^.,;，。；]{0,8}$",
    re.IGNORECASE,
)
_LATEST_AFTER = re.compile(
    r"^\s*(?:at the latest|or (?:earlier|sooner|before))|^(?:之前|以前|前(?![台面]))(?![^，。；]{0,8}[不没未无别勿])",
    re.IGNORECASE,
)


_NOT_FROM_THEN = re.compile(
    r"\s*(?:起|开始|之?后|以后)[^，。；、]{0,4}(?:不(?:能|可|得|准|许|让|再)|没法|无法|没办法)"
)  # 八点起不可以进


def edge(fact: Fact, plain: str) -> int:
    """1 where a moment is the earliest, -1 where it is the latest, 0 where neither is said."""
    before, after = plain[max(0, fact.start - _WINDOW) : fact.start], plain[fact.end : fact.end + _WINDOW]
    if _NOT_FROM_THEN.match(after):
        return -1
    earliest = bool(_EARLIEST.search(before) or _EARLIEST_AFTER.search(after))
    latest = bool(_LATEST.search(before) or (_LATEST_AFTER.search(after) and not _EARLIEST_AFTER.search(after)))
    return int(earliest) - int(latest)


def denied_bound(fact: Fact, plain: str) -> bool:
    """Whether a denial makes the bound: "not below 5", 不得超过."""
    before = plain[max(0, fact.start - _WINDOW) : fact.start]
    return bool(_NOT_UNDER.search(before) or _NOT_OVER.search(before))


_REFUSES = re.compile(
    r"\b(?:refus\w+|reject\w*|turned? (?:away|down|back)|declin\w+|fail\w*|den(?:y|ied)|barred|banned|bans?|forbidden|prohibited|(?:shut|closed) to|not (?:be )?(?:take|taken|use|used|accept\w*|allow\w*|admit\w*|permit\w*|process\w*|deliver\w*|valid|enough)|invalid|too (?:short|few|little|small|low|young|light))\b"
    r"|拒绝|不予|不接受|谢绝|不受理|不(?:配|派)?送|不能(?!超|少于|低于|高于|多于|大于|小于|晚于|早于|不)|不让|的话[，,][^，。,]*不了|不卖|不售|无效|不合格|[\u4e00-\u9fff]不(?:出来?|了|到|进去?|成|上)(?=[，。,;；!?]|$|的)",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(r"\b(?:unless|without|until|if not|except)\b|除非|否则|不然|才", re.IGNORECASE)
_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")
_COMMA = re.compile(r"(?<!的话)(?<![的者时])[，,](?!\s*(?:因此|所以|因而|故|为此))")
_UNREACHED = re.compile(
    r"^(?:如果|若|要是|假如)?(?:[\u4e00-\u9fff]{0,4}?)(?:还?没有?|未|不)(?:到|满|足|够|达到?)$"
)  # a condition without a mark of its own
_STOPS = re.compile(r"[.;!?。；！？]")


def refused(fact: Fact, plain: str) -> bool:
    """Whether what lies on that side of the bound is refused: "fewer than 6 digits is rejected" tells of a least."""
    if not fact.bound or denied_bound(fact, plain):
        return False
    begin = max((m.end() for m in _STOPS.finditer(plain, 0, fact.start)), default=0)
    end = next(
        (m.start() for m in _STOPS.finditer(plain, fact.end) if not plain[m.end() : m.end() + 1].isdigit()), len(plain)
    )
    sentence = plain[begin:end]
    if _IDEOGRAPH.search(sentence):  # 三十日内提出，逾期不予受理: within a clause, but for 的话, 的 and 者 at its end
        begin = max((m.end() for m in _COMMA.finditer(plain, begin, fact.start)), default=begin)
        commas = [m.start() for m in _COMMA.finditer(plain, fact.end, end)]
        alone = commas[:1] == [fact.end] and _UNREACHED.search(plain[begin : fact.start])
        end = next(iter(commas[1:] if alone else commas), end)
        sentence = plain[begin:end]
    return bool(_REFUSES.search(sentence)) and not _SUPPOSES.search(sentence)
