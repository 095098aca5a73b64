"""Say the same in other words: what a judge must not punish. English and Chinese, pure, by patterns of its own."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.fidelity.perturb_text import Perturbed, language_of
from harness.fidelity.perturb_words import SMALL

_SYNONYMS = (
    (r"\b(the|a|your|full|any|no) refund\b", r"\1 reimbursement"), (r"\b([Pp])arcel\b", r"\1ackage"), (r"\bcustomers\b", "clients"),
    (r"\bbegins\b", "starts"), (r"\bstarts\b", "begins"), (r"\b(you|we|they|guests|members|customers) must\b(?! not)", r"\1 have to"),
    (r"\b(everyone|it|parcel|order|child|guest|patient) must\b(?! not)", r"\1 has to"), (r"\bto purchase\b", "to buy"),
    (r"\bcannot\b", "can't"), (r"\bis not\b", "isn't"), (r"\bare not\b", "aren't"), (r"\bwill not\b", "won't"), (r"\bdo not\b", "don't"),
    (r"\bdoes not\b", "doesn't"), (r"\bwithin (?=\w+ (?:working |business )?(?:days|hours|weeks|months|minutes)\b)", "in no more than "), (r"\bat least\b", "no less than"),
    (r"\ballowed\b", "permitted"), (r"\bfree of charge\b", "at no cost"), (r"\bemployees\b", "staff"), (r"\babout (?=\d)", "roughly "),
    (r"\bevery (?!other|few|two|three|\d)", "each "), (r"\bhelp\b(?= you)", "assist"), (r"\bgets? back to you\b", "replies to you"),
    ("退款(?!额|率|单|申请|政策)", "退钱"), ("(?<![有不])需要(?!的|时)", "须"), ("所有(?!权|者)", "全部"), ("客户(?!端|经理|服务)", "顾客"),
    (r"周(?=[一二三四五六]|日(?!期))(?!一至|一到)", "星期"), ("立即", "马上"), (r"大约(?=\d)", "约"), ("(?<![不所])可以", "能"), ("(?<!不)必须", "一定要"),
    ("免费(?=[一-龥])", "不收费"), ("订单", "单子"), ("除了", "除"), ("如果", "若"), (r"(?<=\d)小时", "个小时"),
)  # fmt: skip
_CONTRACTED = (
    ("can't", "cannot"),
    ("won't", "will not"),
    ("n't", " not"),
    ("'ll", " will"),
    ("'re", " are"),
    ("'ve", " have"),
)
_UNITS = (
    "days|weeks|months|years|hours|minutes|working days|business days|people|guests|rooms|bags|times|seats|pages|items"
)
_COUNT = re.compile(rf"(?<![\w.,:/#-])([2-9])(?= (?:{_UNITS})\b)")
_COUNT_ZH = re.compile(r"(?<![\d.,:/%-])([2-9])(?=天|个|小时|分钟|周(?!年)|次|人|位|件|张|层|名)")
_ZH_ONES = "零一两三四五六七八九"
_PARTICIPLES = MappingProxyType(
    {"approved": "approved", "wrote": "written", "paid": "paid", "signed": "signed", "sent": "sent", "reviewed": "reviewed", "made": "made"}
)  # fmt: skip
_ACTIVE = re.compile(r"^([A-Z]\w+) (approved|wrote|paid|signed|sent|reviewed|made) (the \w+)\.$")
_STARTS = "The|A|An|We|You|Your|Our|All|Any|Each|Every|Adults|Children|Guests|Members|Customers"
_TWO = re.compile(rf"^((?:{_STARTS}) .{{8,}}?), (?:and|but) ((?:{_STARTS.lower()}) .{{8,}})\.$")
_ZH_TWO = re.compile(
    r"^([^,，;；。、]{4,})[,，]((?!需|须|请|可|并|但|也|将|会|均|且|则|就|不|以|应|最|共|每|有|为|预)[^,，;；。、]{4,})。$"
)
_ORDER_MATTERS = re.compile(
    r"\b(?:then|after|before|not|only|except|he|she|it|they|which|who|this|that|these|so|if|when|because|unless|since|"
    r"until|while|also|too|otherwise|instead|their|its|them)\b|n't\b|先|再|然后|否则|其|它|不|除|之后|每|如|若|因|所以|但|才|并|也|还|请|当|时|由",
    re.IGNORECASE,
)


def paraphrases(text: str, lang: str | None = None) -> list[Perturbed]:
    """Every rewording that applies to `text`, none equal to it."""
    lang = language_of(text, lang)
    made = {
        "synonym": _synonym(text), "contraction": _written_out(text), "number words": _numbers(text, lang),
        "passive": _passive(text), "clauses": _clauses(text, lang), "time": _time(text), "money": _money(text),
        "courtesy": _courtesy(text, lang),
    }  # fmt: skip
    return [Perturbed(kind, other) for kind, other in made.items() if other and other != text]


def _synonym(text: str) -> str:
    return next((re.sub(word, other, text, count=1) for word, other in _SYNONYMS if re.search(word, text)), "")


def _written_out(text: str) -> str:
    for short, whole in _CONTRACTED:
        text = text.replace(short, whole)
    return text


def _numbers(text: str, lang: str) -> str:
    """A small count in words."""
    if lang == "zh":
        return _COUNT_ZH.sub(lambda match: _ZH_ONES[int(match[1])], text, count=1)
    return _COUNT.sub(lambda match: SMALL[int(match[1]) - 2], text, count=1)


def _passive(text: str) -> str:
    match = _ACTIVE.match(text)
    return f"{match[3].capitalize()} was {_PARTICIPLES[match[2]]} by {match[1]}." if match else ""


def _clauses(text: str, lang: str) -> str:
    """Two independent clauses the other way round."""
    match = (_ZH_TWO if lang == "zh" else _TWO).match(text)
    if not match or _ORDER_MATTERS.search(text):
        return ""
    if lang == "zh":
        return f"{match[2]},{match[1]}。"
    return f"{match[2][:1].upper()}{match[2][1:]}, and {match[1][:1].lower()}{match[1][1:]}."


def _time(text: str) -> str:
    """A clock time after noon with p.m."""
    match = re.search(r"(?<![\d:])(1[3-9]|2[0-3]):([0-5]\d)\b(?! ?[ap]\.?m)", text)
    if not match or re.search(r"[\u4e00-\u9fff]", text):
        return ""
    return text[: match.start()] + f"{int(match[1]) - 12}:{match[2]} pm" + text[match.end() :]


def _money(text: str) -> str:
    match = re.search(r"(?<![\d.,])(\d+(?:,\d{3})*(?:\.\d+)?) (USD|EUR|GBP)\b", text)
    symbols: Mapping[str, str] = {"USD": "$", "EUR": "€", "GBP": "£"}
    return text[: match.start()] + symbols[match[2]] + match[1] + text[match.end() :] if match else ""


def _courtesy(text: str, lang: str) -> str:
    if text.lstrip().startswith(("{", "[")):
        return ""
    return f"您好,{text}" if lang == "zh" else f"Thank you for asking. {text}"
