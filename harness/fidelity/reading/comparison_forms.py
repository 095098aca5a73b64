"""The forms of a comparison: "A is faster than B", "as big as", "of the two", "the cheapest", "west of", "borrows from", 比, 不如, 最."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import Word, content_words, read

LESS = frozenset(["less", "fewer", "worse", "least"])
_VALUES = frozenset({Kind.NUMBER, Kind.MONEY, Kind.PERCENT, Kind.DURATION, Kind.MEASURE})
_NO_ADJECTIVE = r"(?!(?:after|over|under|other|another|number|never|ever|whether|together|either|neither|however|per|order|customer|water|paper|letter|later on|offer|computer|printer|charger|user|member|rather|sooner or)\b)"
_HOW = rf"more|less|fewer|better|worse|sooner|rather|{_NO_ADJECTIVE}\w{{2,}}er"
_THAN = re.compile(
    rf"(?P<one>[^.;!?]*?)\b(?P<how>{_HOW})\b(?P<mid>[^.;!?]*?)\bthan\b(?P<two>[^.;:!?,]+)",
    re.IGNORECASE,
)
_AS_AS = re.compile(
    r"(?P<one>[^.;!?]*?)\b(?:as|so) (?!(?:soon|well|long|far|of|such|if|per|to)\b)(?P<how>[a-z]+)\b(?P<mid>[^.;!?,]{0,40}?) as\b(?P<two>[^.;:!?,]+)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?:\b(?:compared (?:with|to)|in comparison (?:with|to)|next to|as against|set against) (?P<two>[^.;:!?,]+),(?P<one>[^.;!?]+))"
    r"|(?:(?P<one_first>[^.;!?]+?),? (?:compared (?:with|to)|in comparison (?:with|to)|as against) (?P<two_last>[^.;:!?,]+))",
    re.IGNORECASE,
)
_OUTDOES = re.compile(
    r"(?P<one>[^.;!?]*?)\b(?:(?P<more>beats?|beaten|outperform(?:s|ed)?|outsells?|outsold|exceed(?:s|ed)?|surpass(?:es|ed)?|outnumber(?:s|ed)?|outweigh(?:s|ed)?|outshines?|towers over|towered over|tops|topped)"
    r"|(?P<less>trails? behind|trailed behind|lags? behind|lagged behind|falls? short of|fell short of))(?P<by> by)? (?P<two>[^.;:!?,]+)",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?P<one>[^.;!?]*?)\b(?:the|our|its|their|your)\b(?P<how> most \w+| least \w+| best| worst| (?!(?:latest|interest|request|guest|test|forest|honest|west|rest|harvest|contest|protest|nearest|modest|digest|arrest|chest)\b)\w{3,}est)\b(?P<mid>[^.;!?]*)",
    re.IGNORECASE,
)
_OF_THE_TWO = re.compile(
    rf"(?P<before>[^.;!?]*?)(?:\bthe (?P<how>{_HOW})\b(?P<mid>[^.;!?]{{0,20}}?) of the (?:two|pair)\b|\bof the (?:two|pair)\b,?(?P<after>[^.;!?]*?)\b(?P<how_last>{_HOW})\b(?P<mid_last>[^.;!?]*))",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^\W*(?:no|none|nothing|nobody|no one|neither|there (?:is|are) no(?:thing|ne)?)\b|(?:of|among)[^,]+, (?:none|nothing)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|no)\s*(?:\w+\s+)?$|\b(?:not|never|no)\b", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:other|others|rest|else|any|all|every|everything|everyone|anything|anyone|remaining)\b|其他|其余|另外|别的|任何|所有|都",
    re.IGNORECASE,
)

_GRADES = "高低大小多少快慢早晚好差贵长短重轻远近强弱深浅冷热宽窄厚薄久新旧沉省便严忙吵静"
_THAN_ZH = re.compile(
    r"(?P<one>[^。；！？，;!?,]*?)(?<![相对百同环占])比(?![赛如例较率重价分]|方说)(?P<two>[^。；！？，;!?,]{1,12}?)(?P<how>更|还要?|要|都|["
    + _GRADES
    + r"](?![铁校学楼云号店城庆递车户型款房杯包区院]))(?P<mid>[^。；！？，;!?,]*)"
)
_BESIDE_ZH = re.compile(
    r"(?:[和跟与同较](?P<two>[^。；！？，;!?,]{1,12}?)(?:相比|比起来|比较起来|比)|(?:相比|比起|相较于|对比)(?P<two_last>[^。；！？，;!?,]{1,12}))[，,](?P<one>[^。；！？;!?]+)"
)
_NOT_UP_TO_ZH = re.compile(
    r"(?P<one>[^。；！？，;!?,]+?)(?:(?P<not>没有|没)|不如|不及|比不上|赶不上)(?P<two>[^。；！？，;!?,]{1,10}?)(?:(?:那么|这么|那样|这样|来得)?(?P<how>["
    + _GRADES
    + r"]|便宜|省[电钱时]|方便|安静|暖和|划算)|)(?=[。；！？，;!?,了]|$)"
)
_BEYOND_ZH = re.compile(
    r"(?P<one>[^。；！？，;!?,]+?)(?<![不没])(?P<how>[高低多少大小早晚优快慢]于|超过|胜过|好过|输给|不敌)(?P<two>[^。；！？，;!?,]{1,12})"
)
_EQUAL_ZH = re.compile(
    r"(?P<one>[^。；！？，;!?,]*?)[和跟与同](?P<two>[^。；！？，;!?,]{1,10}?)(?:一样|同样|相同|相等|持平|一般)(?P<how>["
    + _GRADES
    + r"]?)"
)
_MOST_ZH = re.compile(r"(?P<one>[^。；！？，;!?,]*?)最(?P<how>[" + _GRADES + r"])(?P<mid>[^。；！？，;!?,]*)")
_NOBODY_ZH = re.compile(r"(?:没有?|无)(?:谁|人|哪|什么|任何|一[个家款种座])?[^。；！？，;!?,]*$")


_PLACED = re.compile(
    r"(?P<one>[^.,;!?]*?)\b(?:on|to|in|at)? ?(?:the )?(?P<how>north|south|east|west|left|right)(?:ern|wards?)?(?:[- ]hand)?(?: (?:side|end))? of (?P<two>[^.,;!?]+)",
    re.IGNORECASE,
)
_PLACED_ZH = re.compile(
    r"(?:从(?P<seen>[^。；！？，;!?,]{1,10}?)(?:看|往|出发)[^。；！？，;!?,]{0,3}[，,])?(?P<one>[^。；！？，;!?,]*?)(?:位于|坐落在|在)(?(seen)它|(?P<two>[^。；！？，;!?,]{2,12}?))(?:的|以)(?:正)?(?P<how>[东南西北左右])(?=[面边侧方。，,]|\d|[一二三四五六七八九十百千])"
)
_GOT = r"(?:rents?|rented|hires?|hired|borrows?|borrowed|leases?|leased|buys?|bought)"
_GAVE = r"(?:rents? out|rented out|hires? out|hired out|lends?|lent|leases? out|leased out|sells?|sold|hands? over|handed over)"
_HANDED = (
    (re.compile(rf"(?P<one>[^.,;!?]+?)\b{_GOT}\b[^.,;!?]*?\bfrom (?P<two>[^.,;!?]+)", re.IGNORECASE), True),
    (re.compile(rf"(?P<one>[^.,;!?]+?)\b{_GAVE}\b[^.,;!?]*?\bto (?P<two>[^.,;!?]+)", re.IGNORECASE), False),
)
_HANDED_ZH = (
    (  # 租客转租必须得到房东的同意
        re.compile(
            r"(?P<one>[^。；！？，;!?,]+?)(?:必须|须|需要?|要|应当?)?先?(?:经过?|得到|取得|获得|征得)(?P<two>[^。；！？，;!?,]{2,6}?)的?(?:书面|口头|事先|明确|一致)*(?:同意|许可|批准|授权|准许)"
        ),
        True,
    ),
    (
        re.compile(
            r"(?P<one>[^。；！？，;!?,向从]+?)(?:向|从|跟|找)(?P<two>[^。；！？，;!?,]{2,10}?)(?:那里|那儿|处)?(?:借|租|买|购)(?!给)"
        ),
        True,
    ),
    (
        re.compile(
            r"(?P<one>[^。；！？，;!?,]+?)(?:把[^。；！？，;!?,]+?)?(?:借|租|卖)给了?(?P<two>[^。；！？，;!?,]{2,6})"
        ),
        False,
    ),
)


class Parts(NamedTuple):
    """What is compared with what, as it is written: "`one` is `how` `mid` than `two`"."""

    one: str
    two: str
    how: str
    mid: str


class Comparison(NamedTuple):
    """`one` has more of `how` than `two`, or less where `how` says less."""

    one: tuple[Word, ...]
    two: tuple[Word, ...]
    how: frozenset[str]
    all_others: bool = False  # `two` is all the rest: a superlative
    equal: bool = False
    span: tuple[int, int] = (0, 0)  # characters


def _than(plain: str, lang: str) -> Comparison | None:
    found = "than" in plain.casefold() and _THAN.search(plain)
    if not found:
        return None
    one = " ".join(
        (found["one"], found["how"], found["mid"])
    )  # "the river goes further": "river" looks like a comparative
    whole = _made(Parts(one, found["two"], found["how"], found["mid"]), lang, found.span())
    if whole is None:
        return None
    if _NOBODY.search(found["one"]):
        return whole._replace(one=whole.two, two=(), all_others=True)
    if _NOT.search(found["one"]):
        return whole._replace(one=whole.two, two=whole.one)
    return whole


def _as_as(plain: str, lang: str) -> Comparison | None:
    found = _AS_AS.search(plain)
    whole = found and _made(Parts(found["one"], found["two"], found["how"], found["mid"]), lang, found.span())
    if not found or whole is None:
        return None
    if _NOBODY.search(found["one"]):
        return whole._replace(one=whole.two, two=(), all_others=True)
    if _NOT.search(found["one"]):
        return whole._replace(one=whole.two, two=whole.one)
    if re.search(r"\bhalf\s*$", found["one"]):
        return whole._replace(one=whole.two, two=whole.one)
    return whole._replace(equal=not re.search(r"\b(?:twice|times|double)\s*$", found["one"]))


def _beside(plain: str, lang: str) -> Comparison | None:
    found = _BESIDE.search(plain)
    if found is None:
        return None
    one, two = found["one"] or found["one_first"], found["two"] or found["two_last"]
    return _made(Parts(one, two, "", one), lang, found.span())


def _outdoes(plain: str, lang: str) -> Comparison | None:
    found = _OUTDOES.search(plain)
    whole = found and _made(
        Parts(found["one"], found["two"], "less" if found["less"] else "more", ""), lang, found.span()
    )
    if found and whole and found["by"]:
        return whole._replace(one=whole.two, two=whole.one)
    return whole or None


def _of_the_two(plain: str, lang: str) -> Comparison | None:
    found = _OF_THE_TWO.search(plain)
    if found is None:
        return None
    one = found["before"] + " " + (found["after"] or "")
    how, mid = found["how"] or found["how_last"], found["mid"] or found["mid_last"] or ""
    return _made(Parts(one, "", how, mid), lang, found.span(), all_others=True)


def _most(plain: str, lang: str) -> Comparison | None:
    found = _MOST.search(plain)
    if found is None:
        return None
    one = found["one"] if _things(found["one"], lang) else found["mid"]
    how = found["how"].strip()
    return _made(Parts(one, "", how, ""), lang, found.span(), all_others=True)


def _than_zh(plain: str, lang: str) -> Comparison | None:
    found = "比" in plain and _THAN_ZH.search(plain)
    if not found:
        return None
    whole = _made(Parts(found["one"], found["two"], found["how"], found["mid"]), lang, found.span())
    if whole is None:
        return None
    if _NOBODY_ZH.search(found["one"]):
        return whole._replace(one=whole.two, two=(), all_others=True)
    if re.search(r"[不没]$", found["one"]):
        return whole._replace(one=whole.two, two=whole.one)
    return whole


_FURTHER_ZH = re.compile(r"[，,；;][^。；！？，;!?,比]{0,8}?(?:更|还|要)[要更]?(?P<how>[" + _GRADES + r"]|便宜|划算)")


def further(plain: str, lang: str, first: Comparison) -> Iterator[Comparison]:
    """What is told of the same two things in the next clauses: 高铁比大巴快, 但更贵."""
    if lang == "zh":
        for found in _FURTHER_ZH.finditer(plain, first.span[1] - 1):
            yield first._replace(how=frozenset({found["how"]}))


def _beside_zh(plain: str, lang: str) -> Comparison | None:
    found = _BESIDE_ZH.search(plain)
    return (
        _made(Parts(found["one"], found["two"] or found["two_last"], "", found["one"]), lang, found.span())
        if found
        else None
    )


def _not_up_to_zh(plain: str, lang: str) -> Comparison | None:
    found = _NOT_UP_TO_ZH.search(plain)
    if found is None or (found["not"] and not found["how"]):
        return None
    whole = _made(Parts(found["two"], found["one"], found["how"] or "好", ""), lang, found.span())
    return whole if whole and whole.one and whole.two else None


def _beyond_zh(plain: str, lang: str) -> Comparison | None:
    found = _BEYOND_ZH.search(plain)
    return _made(Parts(found["one"], found["two"], found["how"], ""), lang, found.span()) if found else None


def _equal_zh(plain: str, lang: str) -> Comparison | None:
    found = _EQUAL_ZH.search(plain)
    whole = found and _made(Parts(found["one"], found["two"], found["how"], ""), lang, found.span())
    return whole._replace(equal=True) if whole else None


def _most_zh(plain: str, lang: str) -> Comparison | None:
    found = _MOST_ZH.search(plain)
    if found is None or (not found["mid"].startswith("的") and read(found["mid"], lang).facts):
        return None  # 最长可贷三十年 bounds a value, and ranks nothing
    one = found["one"] if _things(found["one"], lang) else found["mid"]
    return _made(Parts(one, "", found["how"], ""), lang, found.span(), all_others=True)


def _placed(plain: str, lang: str) -> Comparison | None:
    found = (_PLACED_ZH if lang == "zh" else _PLACED).search(plain)
    if found is None:
        return None
    given = found.groupdict()
    two = given["two"] or given.get("seen") or ""
    return _made(Parts(given["one"], two, given["how"][:1] if lang == "zh" else given["how"], ""), lang, found.span())


def _handed(plain: str, lang: str) -> Comparison | None:
    """Who gives is `one`, who gets is `two`."""
    for pattern, gets in _HANDED_ZH if lang == "zh" else _HANDED:
        found = pattern.search(plain)
        if found is not None:
            one, two = (found["two"], found["one"]) if gets else (found["one"], found["two"])
            return _made(Parts(one, two, "lend", ""), lang, found.span())
    return None


ENGLISH = (_than, _as_as, _of_the_two, _beside, _outdoes, _most, _placed, _handed)
CHINESE = (_beside_zh, _than_zh, _beyond_zh, _equal_zh, _not_up_to_zh, _most_zh, _placed, _handed)


def _made(parts: Parts, lang: str, span: tuple[int, int], *, all_others: bool = False) -> Comparison | None:
    one, two, how, mid = parts
    ones, twos = _things(one, lang), _things(two, lang)
    if (not twos and not all_others) or any(w.fact and w.fact.kind in _VALUES for w in twos[:1]):
        return None
    if all_others and not ones:
        return None
    told = read(f"{how}{mid}" if lang == "zh" else f"{how} {mid}", lang).words
    names = {w.lemma for w in told} | {w.text.casefold() for w in told}
    own = tuple(w for w in ones if not any(w.lemma == other.lemma for other in twos))
    others = tuple(w for w in twos if not any(w.lemma == other.lemma for other in ones))
    if not all_others and not others:
        return None
    if _OTHERS.search(one) and not all_others:  # "the others are slower": it is the quickest
        return Comparison(others, (), frozenset(names ^ {"less"}), True, False, span)
    rest = all_others or bool(_OTHERS.search(two))
    return Comparison(own, others, frozenset(names), rest, False, span)


def _things(part: str, lang: str) -> list[Word]:
    """Content words, and the letters that things are named by: A款."""
    letters = [w for w in read(part.strip(), lang).words if w.text.isascii() and len(w.text) == 1 and w.text.isupper()]
    return [*content_words(part, lang), *(w for w in letters if w.function and (lang == "zh" or w.text != "A"))]
