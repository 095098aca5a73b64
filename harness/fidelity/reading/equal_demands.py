"""A denial that the other text says as a demand: "not unless you come" by "you have to come", 缺一不可 by 都要."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.denials_en import BARE_NEED
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.pair import alike, says
from harness.fidelity.reading.polarity import Denial, affix_base, polarity
from harness.fidelity.reading.text import Text


def needed(_denial: Denial, own: Text, other: Text) -> bool:
    """ "not unless you come yourself" is "you have to come yourself", 除非经理同意否则不能 is 必须经经理同意."""
    if own.said.isdisjoint(_UNLESS) or polarity(other).denials or other.said.isdisjoint(BARE_NEED):
        return False
    condition = [w for at in _unless_clauses(own) for w in own.words if w.clause == at and w.content]
    supposed = any(own.words[d.at].clause in _unless_clauses(own) for d in polarity(own).denials)
    told = sum(says(other, w) for w in condition)
    return not supposed and 2 * told >= len(condition) > 0


def _unless_clauses(text: Text) -> set[int]:
    return {w.clause for w in text.words if w.lemma in _UNLESS or w.text in _UNLESS}


_UNLESS = frozenset(["unless", "except if", "除非"])


def excepted(denial: Denial, own: Text, other: Text) -> bool:
    """ "except on Sundays" is "unless it is Sunday"."""
    if own.words[denial.at].lemma not in _SET_APART or other.said.isdisjoint(_UNLESS):
        return False
    clauses = _unless_clauses(other)
    return any(alike(own.words[i], w) for i in denial.reach for w in other.content if w.clause in clauses)


_SET_APART = frozenset(["except", "except for", "with the exception of", "excepted", "but for"])


def nobody_else(denial: Denial, own: Text, other: Text) -> bool:
    """ "nobody else may" is in "in person" and in 只有本人."""
    clause = [w for w in own.words if w.clause == own.words[denial.at].clause]
    forms = {form for w in clause for form in (w.lemma, w.text.casefold())}
    joined = "".join(w.text for w in clause)
    others = not forms.isdisjoint(_OTHERS) or _OTHERS_ZH.search(joined) or _ELSE.search(own.plain)
    return bool(others and _IN_PERSON.search(other.plain) and not polarity(other).denials)


_OTHERS = frozenset(["others", "别人", "他人", "旁人", "外人", "家人", "亲友", "第三人"])
_OTHERS_ZH = re.compile(r"其他人|其它人|其余人|任何人都|代")
_ELSE = re.compile(r"\b(?:no one|nobody|no other person|not anyone|not anybody) else\b", re.IGNORECASE)
_IN_PERSON = re.compile(
    r"\b(?:in person|personally|(?:them|your|him|her|it)sel(?:f|ves)|only|sole|solely|one and only)\b|本人|亲自|亲身|自己|只有|只能|仅限",
    re.IGNORECASE,
)


def other_means(denial: Denial, own: Text, other: Text) -> bool:
    """ "cash is not accepted" is in "by card only": two means of one kind, one of them the only one in both texts."""
    clause = [w for w in own.words if w.clause == own.words[denial.at].clause]
    for means in _MEANS:
        barred = {w.lemma for w in clause} & means
        left = {w.lemma for w in other.words} & means
        if barred and left and not barred & left and _ONLY.search(other.plain):
            return True
    return False


_ONLY = re.compile(r"\b(?:only|exclusively|solely|sole)\b|只|仅", re.IGNORECASE)
_MEANS = tuple(
    frozenset(names.split("|"))
    for names in (
        "cash|card|cheque|check|transfer|invoice|coin|coins|paypal|banknote|banknotes|voucher|现金|刷卡|支票|转账|微信|支付宝|银行卡",
        "phone|telephone|e-mail|email|mail|post|letter|fax|app|website|counter|text|电话|邮件|邮寄|网上|窗口|柜台|传真|短信",
        "bike|bicycle|car|bus|train|foot|tram|ferry|taxi",
    )
)


def or_else(denial: Denial, own: Text, other: Text) -> bool:
    """ "do X, or Y will not happen" is "Y only happens once X", 先X才能Y."""
    at = own.words[denial.at].start
    begin = max((m.end() for m in _STOP.finditer(own.plain, 0, at)), default=0)
    threatened = _THREAT.search(own.plain, begin, at)
    if threatened is None or polarity(other).denials:
        return False
    words = [w for w in own.words if w.content and begin <= w.start < threatened.start()]
    undone = {affix_base(other.words[i].text.casefold()) for i in polarity(other).undone}
    if any(lexicon(own.lang).lemma(base) in (w.lemma, w.text.casefold()) for base in undone for w in words):
        return True  # "get it stamped, or she will turn it down": "she will not take it unstamped"
    if not _ONLY_THEN.search(other.plain):
        return False
    told = sum(says(other, w) for w in words)
    return 2 * told >= len(words) > 0


_STOP = re.compile(r"[.;!?。；！？](?!\s*(?:otherwise|or else|否则|不然)\b)", re.IGNORECASE)
_THREAT = re.compile(r"\b(?:or(?: else)?|otherwise)\b|否则|不然|要不然", re.IGNORECASE)
_ONLY_THEN = re.compile(
    r"\bonly\b[^.;!?]{0,80}\b(?:once|when|if|after|with)\b|\b(?:once|when|if|after)\b[^.;!?]{0,80}\bonly\b|\bonly then\b|才[能会可行给算有生]|[^刚]才(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)


def all_of_them(denial: Denial, own: Text, other: Text) -> bool:
    """缺一不可 is 两样都要, "one signature is not enough" is "both have to sign": nothing of what is needed may lack."""
    sentence = _sentence(denial, own)
    if not _ONE_LACKS.search(sentence):
        return False
    return bool(_ONE_LACKS.search(other.plain) or (_ALL.search(other.plain) and not polarity(other).denials))


def _sentence(denial: Denial, text: Text) -> str:
    at = text.words[denial.at].start
    begin = max((m.end() for m in _STOPS.finditer(text.plain, 0, at)), default=0)
    end = next((m.start() for m in _STOPS.finditer(text.plain, at)), len(text.plain))
    return text.plain[begin:end]


_STOPS = re.compile(r"[.;!?。；！？]")
_ONE_LACKS = re.compile(
    r"缺一不[可行]|(?:缺|少)(?:了|掉)?(?:任何|哪|任意)?一?(?:个|方|样|份|把|项|人|张|种|件|位)?[^，。；]{0,6}[，,]?[^，。；]{0,6}(?:不行|不可|不能|无效|白搭|没用|不了|不成)"
    r"|\b(?:one|a single|just one|only one)\b[^.;!?]{0,80}\b(?:not|never)\b (?:be )?(?:do|enough|sufficient|suffice|count|open|work)\b"
    r"|\bnot\b[^.;!?]{0,80}\b(?:with|by) (?:only |just )?(?:one|a single)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:both|each|every|all|two|pair)\b|双方|两(?:样|个|把|份|人|者|方)|都要|都得|都须|都必须|均须|均需|缺一|必须齐全|齐全",
    re.IGNORECASE,
)


def not_needed(denial: Denial, own: Text, other: Text) -> bool:
    """不必换票 and 用不着换票: either text says once that something is not needed, of a thing that the other leaves out."""
    if not _NO_NEED.match(own.words[denial.at].text + _next(denial, own)):
        return False
    here, there = (
        [d for d in polarity(text).denials if _NO_NEED.match(text.words[d.at].text + _next(d, text))]
        for text in (own, other)
    )
    if len(here) != 1 or len(there) != 1:
        return False
    if any(alike(own.words[i], other.words[j]) for i in denial.reach for j in there[0].reach):
        return True
    return not any(
        says(text, side.words[d.reach[0]])
        for text, side, d in ((other, own, denial), (own, other, there[0]))
        if d.reach
    )


def _next(denial: Denial, text: Text) -> str:
    return "".join(w.text for w in text.words[denial.at + 1 : denial.at + 2])


_NO_NEED = re.compile(r"不[用必需须]|无[需须]|用不着|犯不[着上]|不着")
