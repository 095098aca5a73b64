"""Say the same in other words: what a judge must not punish. English and Chinese, pure."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.fidelity.perturb_lies import Perturbed
from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import normalised, read

_SYNONYMS = (
    ("refund", "reimbursement"), ("parcel", "package"), ("customers", "clients"), ("begins", "starts"), ("starts", "begins"),
    ("must", "has to"), ("purchase", "buy"), ("cannot", "can't"), ("is not", "isn't"), ("are not", "aren't"), ("will not", "won't"),
    ("do not", "don't"), ("does not", "doesn't"), ("within", "in no more than"), ("at least", "no less than"), ("allowed", "permitted"),
    ("free of charge", "at no cost"), ("employees", "staff"), ("delivered", "shipped"), ("about", "roughly"), ("every", "each"),
    ("退款", "退钱"), ("需要", "须"), ("所有", "全部"), ("客户", "顾客"), ("会议", "例会"), ("开始", "启动"), ("上午", "早上"),
    ("立即", "马上"), ("大约", "约"), ("可以", "能"), ("必须", "务必"), ("免费", "不收费"), ("订单", "单子"), ("除了", "除"), ("如果", "若"),
)  # fmt: skip
_ONES = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_ZH_ONES = "零一二三四五六七八九十"
_PARTICIPLES = MappingProxyType(
    {"approved": "approved", "wrote": "written", "paid": "paid", "signed": "signed", "sent": "sent", "reviewed": "reviewed", "made": "made"}
)  # fmt: skip
_ACTIVE = re.compile(r"^([A-Z]\w+) (approved|wrote|paid|signed|sent|reviewed|made) (the \w+)\.$")
_TWO = re.compile(r"^(.{8,}?), (?:and|but) (.{8,})\.$")
_ZH_TWO = re.compile(r"^([^,，]{4,}),([^,，]{4,})。$")
_ORDER_MATTERS = re.compile(
    r"\b(?:then|after|before|not|only|except|he|she|it|they|which|who)\b|先|再|然后|否则|其|它|不|除|之后|每", re.I
)


def paraphrases(text: str, lang: str | None = None) -> list[Perturbed]:
    """Every rewording that applies to `text`, none equal to it."""
    plain = normalised(text)
    lang = read(text, lang).lang
    made = {
        "synonym": _synonym(text), "contraction": plain, "number words": _numbers(text, lang), "passive": _passive(text),
        "clauses": _clauses(plain, lang), "time": _time(plain), "money": _money(plain), "courtesy": _courtesy(text, lang),
    }  # fmt: skip
    return [Perturbed(kind, other) for kind, other in made.items() if other and other != text]


def _synonym(text: str) -> str:
    for word, other in _SYNONYMS:
        pattern = rf"\b{word}\b" if word.isascii() else word
        if re.search(pattern, text):
            return re.sub(pattern, other, text, count=1)
    return ""


def _numbers(text: str, lang: str) -> str:
    """A small count in words."""
    for fact in read(text, lang).facts:
        digits = re.match(r"(\d+)(?![\d.,:/-])", fact.text)
        if fact.kind in (Kind.DURATION, Kind.MEASURE) and digits and 2 <= int(digits[1]) <= 10:
            word = _ZH_ONES[int(digits[1])] if lang == "zh" else _ONES[int(digits[1])]
            return normalised(text).replace(fact.text, fact.text.replace(digits[1], word, 1), 1)
    return ""


def _passive(text: str) -> str:
    match = _ACTIVE.match(text)
    return f"{match[3].capitalize()} was {_PARTICIPLES[match[2]]} by {match[1]}." if match else ""


def _clauses(plain: str, lang: str) -> str:
    """Two independent clauses the other way round."""
    match = (_ZH_TWO if lang == "zh" else _TWO).match(plain)
    if not match or _ORDER_MATTERS.search(plain):
        return ""
    if lang == "zh":
        return f"{match[2]},{match[1]}。"
    return f"{match[2][:1].upper()}{match[2][1:]}, and {match[1][:1].lower() if match[1][:2] != 'I ' else 'I'}{match[1][1:]}."


def _time(plain: str) -> str:
    """A clock time after noon with p.m., or the other way round."""
    match = re.search(r"\b(1[3-9]|2[0-3]):([0-5]\d)\b", plain)
    if not match or re.search(r"[\u4e00-\u9fff]", plain):
        return ""
    return plain[: match.start()] + f"{int(match[1]) - 12}:{match[2]} pm" + plain[match.end() :]


def _money(plain: str) -> str:
    match = re.search(r"(?<![\d.,])(\d+(?:,\d{3})*(?:\.\d+)?) (USD|EUR|GBP)\b", plain)
    symbols: Mapping[str, str] = {"USD": "$", "EUR": "€", "GBP": "£"}
    return plain[: match.start()] + symbols[match[2]] + match[1] + plain[match.end() :] if match else ""


def _courtesy(text: str, lang: str) -> str:
    if text.lstrip().startswith(("{", "[")):
        return ""
    return f"您好,{text}" if lang == "zh" else f"Thank you for asking. {text}"
