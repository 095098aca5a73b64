"""Whether a text denies the very words of a claim: "you do not get a full refund", 不能全额退款."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

_BEFORE = re.compile(  # a denial, and nothing behind it that something else could be denied of
    r"\b(?:not|no|never|nor|cannot|without)\b(?! only\b)(?: (?:get|gets|got|receive|received|have|be|been|entitled|eligible|qualify|due|owed|offer|offered|give|given|grant|granted|provide|provided|issue|issued|"
    r"pay|paid|any|an?|the|your|you|to|for|such|of|even|claim|expect|make|include|included|guarantee|guaranteed|promise|allow|allowed|able|possible|yet|get|us|we|i|it|there|is|are|kind|sort|form|give|hold|covered|by))*\s*[\"'“]?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^[\"'”]?\s*(?:is|are|was|were|will|would|can|could|may)\s+(?:\w+ly\s+)?(?:not|never|no longer)\s+(?:be\s+)?(?:\w+ly\s+)?(?:possible|available|given|granted|offered|paid|made|issued|provided|allowed|permitted|included|due|an option|foreseen|accepted|part|claimed|done|arranged|approved|guaranteed|what)\b"
    r"|^[\"'”]?\s*does not (?:apply|exist)\b|^[\"'”]?\s*(?:is|are) (?:excluded|ruled out|impossible|out of the question|unavailable|refused|denied)\b",
    re.IGNORECASE,
)
_BEFORE_ZH = re.compile(
    "(?:(?<![得能])不(?![但仅只光])|没有?|无法|未|并非|禁止|无权|拒绝|谢绝|别|勿)(?:能够?|可以?|会|给予?|予|提供|享受|获得|得到|申请|支持|办理|任何|进行|再|为您|您|是|有|承诺|保证|包括|包含|属于|接受|得|要)*[“‘\"']?$"
)
_AFTER_ZH = re.compile(
    "^[”’\"']?(?:的|是|都|也|暂|目前|现在)*(?:不可能|不可以|不行|不支持|不予|不提供|不适用|不存在|不允许|不能(?:办理|提供|申请|享受)|无法(?:办理|提供|申请|享受|实现)|没有)"
)


def denied(text: str, wording: str) -> bool:
    """Whether `text` says `wording` and denies it wherever it does. `text`: with contractions written out."""
    places = [match.span() for match in re.finditer(re.escape(wording.strip()), text, re.IGNORECASE)]
    return bool(places) and all(_denied_at(text, *place) for place in places)


def _denied_at(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 80) : start], text[end : end + 60]
    return any(p.search(before) for p in (_BEFORE, _BEFORE_ZH)) or any(p.match(after) for p in (_AFTER, _AFTER_ZH))
