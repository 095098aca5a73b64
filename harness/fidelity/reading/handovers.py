"""Who does what to whom, in verbs that can be told from both sides: sue, give, lend, sell, teach, employ, work for."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text


class Handover(NamedTuple):
    """A deed with both of its parties, in small letters and without articles."""

    deed: str
    doer: str
    other: str  # to whom it is done, or who gets it


_P = r"(?:the |a |an |our |your |my |his |her |their )?(?P<{0}>(?!(?:will|has|had|have|is|are|was|were|been|not|be|to|by|from|also|who|that|which|and|or|the|a|an)\b)[a-z][a-z-]*(?:'s [a-z-]+)?)"
_A, _B = _P.format("a"), _P.format("b")
_AUX = r"(?:(?:will|has|have|had|is|was|are|were|been|being|be|has been|have been|just|already|then|also) )*"
_BE = r"(?:(?:will|has|have|had|already|just|also) )*(?:is|was|are|were|been|being|be|gets?|got) (?:already |just |also )?"
_TO, _FROM = "to", "from"
_VERBS = (  # deed, active forms, participle
    ("sue", "sues?|sued|suing|prosecutes?|prosecuted", "sued|prosecuted"),
    ("hit", "hits?|rammed|struck", "hit|rammed|struck"),
    ("employ", "employs?|employed|hires?|hired", "employed|hired"),
    ("dismiss", "fires?|fired|dismiss(?:es|ed)?|sacked", "fired|dismissed|sacked"),
    ("teach", "teaches|teach|taught|trains?|trained|tutors?|tutored", "taught|trained|tutored"),
    ("acquire", "acquires?|acquired|takes over|took over|bought", "acquired|taken over|bought"),
    ("invite", "invites?|invited", "invited"),
    ("beat", "beats?|defeats?|defeated", "beaten|defeated"),
    ("report", "reports?|reported|denounced", "reported|denounced"),
    ("owe", "owes?|owed", "owed"),
)
_GIVING = (  # deed, active, participle, the other side
    ("give", "gives?|gave|given|hands?|handed|passes|passed", "given|handed|passed", "receives?|received|gets?|got"),
    ("lend", "lends?|lent|loans?|loaned", "lent|loaned", "borrows?|borrowed"),
    ("sell", "sells?|sold", "sold", "buys?|bought|purchases?|purchased"),
    ("rent", "rents? out|rented out|lets?|leases?|leased", "let|leased|rented out", "rents?|rented"),
    ("send", "sends?|sent|mails?|mailed", "sent|mailed", "receives?|received|gets?|got"),
    ("show", "shows?|showed|shown", "shown", "(?!)"),
    ("pay", "pays?|paid", "paid", "(?!)"),
    ("teach", "teaches|taught", "taught", "learns?|learned|learnt"),
)
_THING = r"(?:the|a|an|his|her|their|our|its|some|this|that|back) (?:[a-z-]+ ){0,2}?[a-z-]+"


def _patterns() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    """(deed, pattern with the parties a and b, whether a is the doer)."""
    for deed, active, passive in _VERBS:
        yield deed, re.compile(rf"\b{_A} {_AUX}(?:{active}) {_B}\b"), True
        yield deed, re.compile(rf"\b{_A} {_BE}(?:{passive}) by {_B}\b"), False
    yield (
        "sue",
        re.compile(
            rf"\b{_A} {_AUX}(?:takes?|took|taken|taking|brings?|brought|hauled) {_B} (?:to|before|into) (?:the )?court\b"
        ),
        True,
    )
    yield "sue", re.compile(rf"\b{_A} {_BE}(?:taken|brought|hauled) (?:to|before|into) (?:the )?court by {_B}\b"), False
    yield (
        "sue",
        re.compile(
            rf"\b{_A} {_AUX}(?:files?|filed|brings?|brought) (?:a |an )?(?:lawsuit|suit|action|legal action|case) against {_B}\b"
        ),
        True,
    )
    yield "employ", re.compile(rf"\b{_A} {_AUX}(?:works?|worked|working) for {_B}\b"), False
    for deed, active, passive, got in _GIVING:
        yield (
            deed,
            re.compile(rf"\b{_A} {_AUX}(?:{active}) {_B} {_THING}\b(?! to (?:the|a|an|his|her|their|our|its) )"),
            True,
        )
        yield deed, re.compile(rf"\b{_A} {_AUX}(?:{active}) (?:back )?{_THING} to {_B}\b"), True
        yield deed, re.compile(rf"\b{_A} {_BE}(?:{passive}) {_THING} by {_B}\b"), False
        yield deed, re.compile(rf"\b(?:{passive}) to {_B} by {_A}\b"), True
        yield deed, re.compile(rf"\b(?:{passive}) by {_A} to {_B}\b"), True
        yield deed, re.compile(rf"\b{_A} {_AUX}(?:{got}) (?:{_THING}|[a-z]+) from {_B}\b"), False


_EN = tuple(_patterns())
_N = r"(?P<{0}>[^，。；！？,;!?由被把将给向对让从了的和跟]{{1,8}}?)"
_X, _Y = _N.format("a"), _N.format("b")
_HEAD = r"(?:^|(?<=[，。；！？,;!?]))(?:昨天|今天|去年|最近|后来|当时)?"
_TAIL = r"(?=[，。；！？,;!?的]|$)"
_DONE_ZH = r"(?:已经?|刚刚?|曾|正在|会|将|要|又|也|正式)*"
_VERBS_ZH = (
    ("sue", "起诉|控告|状告", "起诉|控告|告上了?法庭|告到了?法院|告了"),
    ("employ", "雇用|雇佣|聘用|聘请", "雇用|雇佣|聘用|聘请"),
    ("dismiss", "解雇|辞退|开除", "解雇|辞退|开除"),
    ("acquire", "收购|并购|买下", "收购|并购|买下"),
    ("beat", "击败|打败|战胜", "击败|打败"),
    ("complain", "投诉|举报", "投诉|举报"),
    ("praise", "表扬|夸奖", "表扬|夸奖"),
    ("scold", "批评|训斥", "批评|训斥"),
    ("invite", "邀请", "邀请"),
    ("hit", "撞|打|追尾", "撞|打|追尾"),
    ("interview", "采访|面试", "采访|面试"),
)
_GIVING_ZH = (  # deed, to, from
    ("lend", "借", "借"),
    ("rent", "租|出租", "租|承租"),
    ("sell", "卖", "买|购买|采购"),
    ("give", "交|递|转交|送|发", "收到|拿到|领到|领"),
    ("teach", "教", "学"),
)


def _patterns_zh() -> Iterator[tuple[str, re.Pattern[str], bool]]:
    for deed, active, turned in _VERBS_ZH:
        yield deed, re.compile(rf"{_HEAD}{_X}{_DONE_ZH}(?:{active})了?{_Y}{_TAIL}"), True
        yield deed, re.compile(rf"{_HEAD}{_X}{_DONE_ZH}[把将]{_Y}(?:{turned})"), True
        yield deed, re.compile(rf"{_HEAD}{_X}{_DONE_ZH}被{_Y}给?(?:{turned})"), False
    for deed, given, got in _GIVING_ZH:
        yield (
            deed,
            re.compile(
                rf"{_HEAD}{_X}{_DONE_ZH}(?:[把将][^，。；,;]{{1,10}}?)?(?:{given})给了?{_Y}(?=[，。；！？,;!?的一]|$)"
            ),
            True,
        )
        yield deed, re.compile(rf"{_HEAD}{_X}{_DONE_ZH}[向从跟]{_Y}(?:那里|那儿|处|手里|手中)?(?:{got})"), False
        yield deed, re.compile(rf"{_HEAD}{_X}{_DONE_ZH}(?:{got})自{_Y}{_TAIL}"), False


_ZH = tuple(_patterns_zh())
_OPEN = re.compile(r"\b(?:not|never|no|if|unless|may|can|could|would|should)\b|[不没未]|如果|若|可以|能")


@remembered
def handovers(text: Text) -> frozenset[Handover]:
    """What a text tells flatly of; nothing where it denies or only supposes something."""
    plain = text.plain if text.lang == "zh" else text.plain.lower()
    if _OPEN.search(plain):
        return frozenset()
    return frozenset(_found(plain, _ZH if text.lang == "zh" else _EN))


def _found(plain: str, patterns: tuple[tuple[str, re.Pattern[str], bool], ...]) -> Iterator[Handover]:
    for deed, pattern, straight in patterns:
        for found in pattern.finditer(plain):
            one, two = (re.sub(r"^(?:那|这)[个家位名]?", "", found[name]) for name in ("a", "b"))
            yield Handover(deed, one, two) if straight else Handover(deed, two, one)


def turned_handover(one: Text, other: Text) -> tuple[Handover, Handover] | None:
    """A deed whose two parties changed places; None where there is none, or the other text tells the first as well."""
    here, there = handovers(one), handovers(other)
    for deed in sorted(here):
        turned = Handover(deed.deed, deed.other, deed.doer)
        if deed.doer != deed.other and turned in there and turned not in here and deed not in there:
            return deed, turned
    return None
