"""An answer cut in mid-sentence, in the middle of a list, or inside brackets, quotes and code."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.plain_yes import answers_as_told
from harness.fidelity.reading.text import CJK, normalised

NAME = "truncation"
TAIL = 200  # characters at the end that are looked at
_END = frozenset(".!?。！？…)）]】}”\"'’`*")
_OPEN_ENDED = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "to",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "and",
        "or",
        "but",
        "nor",
        "if",
        "when",
        "while",
        "because",
        "since",
        "until",
        "unless",
        "although",
        "than",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "has",
        "have",
        "had",
        "will",
        "would",
        "can",
        "could",
        "may",
        "must",
        "should",
        "not",
        "that",
        "which",
        "who",
        "whose",
        "this",
        "these",
        "your",
        "our",
        "their",
        "its",
        "about",
        "between",
        "within",
        "during",
        "only",
        "except",
        "including",
        "per",
        "via",
        "into",
        "no",
        "any",
        "every",
        "each",
        "very",
        "so",
        "both",
        "either",
    ]
)
_OPEN_ENDED_ZH = ("的", "和", "与", "及", "或", "在", "从", "到", "把", "被", "将", "是", "为", "但", "而", "因为", "如果", "请", "需", "需要", "可以", "必须", "不", "对", "由", "以及", "并", "则")  # fmt: skip
_WHOLE = frozenset(["no", "any", "every", "this", "that", "必须", "需要", "不需要", "可以", "不可以", "不", "对", "不对", "是", "不是"])  # alone, an answer  # fmt: skip
_WHO = r"(?:you|we|i|they|he|she|it)"
_STRANDED = r"(?:with|in|on|at|for|from|to|of|by|about|into|via)"
_OBJECT = r"(?:it|them|you|him|her|(?:the|your|this|that|a|an) (?:\w+ )?\w+)"
_WHOLE_EN = re.compile(  # sentences that end with a little word
    rf"\b(?!(?:if|when|while|so|because|and|but|as|once|until|unless|before|after|than|or|since|though|although|where|yes|no|then|please|drop|leave|put|bring|place|send|take|turn|keep|hand|fill)\b)[a-z]+ (?:{_WHO}|(?:the|your|our) \w+) (?:(?:are|is|was|were|have|has|had|will|can|may|want|need|wish|to|just|already|first|originally|\w+ly) )*\w+ (?:\w+ ){{0,2}}?{_STRANDED}$"
    rf"|\b(?:that|which|who|whom|what|where) {_WHO} (?:are|is|was|were) {_STRANDED}$|\b(?:one|room|house|place|country|city|line|plan|seat|group|area|building|state|region|zone|app|menu|page) {_WHO} (?:are|is|was|were) {_STRANDED}$"
    rf"|\b(?:turn|switch|keep)(?:s|ed|ing)?(?: {_OBJECT})? (?:on|in)$|\b(?:plug|log|sign|check|hand|fill|let)(?:s|ed|ing|ged|ging)?(?: {_OBJECT})? in$"
    r"|\b(?:put|leave|bring|drop)(?: (?:it|them|him|her))? (?:on|in)$|\b(?:log|sign|come|hold|carry|stay|move|go|get|try)(?:s|ed|ing|ged|ging)?(?: (?:it|them))? (?:on|in)$"
    r"|\b(?:be|been|being|is|are|was|were|get|gets|got|not) (?:\w+ly )?(?:paid for|dealt with|looked into|cared for|accounted for|signed for|asked for|applied for|relied on|spoken to|agreed to|tampered with|allowed in|let in|logged in|signed in|checked in|plugged in|called for|worked on|switched on|turned on|moved in|passed by)$"
    rf"|^(?:yes|no|sure|of course|correct)\W+(?:{_WHO}|there|that|this) (?:can|may|is|are|do|does|will|has|have|did|was|were|must|should|could)(?: not)?$"
    r"|^(?:what|who|where|which)\b.* (?:for|from|with|to|about)$",
    re.IGNORECASE,
)
_CLAUSE_ZH = re.compile(r"[，。；！？,;!?：:]")
_WHOLE_ZH = re.compile(
    r"(?:是|都|也|不|很|挺|还是|还)[^在把从到和与及将给被为的]{0,10}[^您你我他她本该其这那在把从到和与个家里内中上下前后位名种的]的"
    r"|^(?:[^的]{0,10}(?:可以|能|会|行|要|支持|允许|需要|没问题))[^在把从到和与将给被为的您你我他]{0,4}的|^(?:是|对|行|好|有|没有|会|能|有效|免费|正常|包邮|现成|真)的"
    r"|(?:不|都|也|就|才)(?:需要|可以|必须|是|对|需|在|行|能)|[天周前后内早晚即就刚已会能才没]到|[不都也还没]在|(?:什么|哪里|哪儿)都(?:需要|可以)",
)
_CUT_ZH = re.compile(  # a span, or the time of something, of which the end is missing: 从周一到, 时间是每天的
    r"(?:[从是为]|自(?![提取己动行])).*到$|是.*(?:每个?(?:[天日周月年晚]|星期|季度|工作日)|[今明昨后前][天日晚]|[上下中]午|[\d一二三四五六七八九十]+[点日号]|(?:周|星期)[一二三四五六日天末]|[上下本]个?[周月])的$"
)
_PAIRS = (("(", ")"), ("（", "）"), ("[", "]"), ("{", "}"), ("“", "”"), ("「", "」"))


def check(both: Pair) -> list[Finding]:
    text, reference = both.case.candidate.rstrip(), both.case.reference.rstrip()
    if not text or answers_as_told(both.case):
        return []
    found = []
    last = re.findall(r"[A-Za-z']+|\S", text)[-1:]
    ends_open = (
        bool(last)
        and (last[0].lower() in _OPEN_ENDED or last[0] in ",，、;；:：-–—(（/+=")
        and last[0] not in reference[-1:]
    )
    if ends_open and both.candidate.lang == "en":
        ends_open = not (last[0].isupper() and len(last[0]) == 1)
    if not ends_open and both.candidate.lang == "zh":
        ends_open = text.endswith(_OPEN_ENDED_ZH) and not reference.endswith(text[-2:])
    if ends_open and text.casefold() not in _WHOLE and not _is_whole(text):
        found.append(Finding(check=NAME, severity=1.0, reason=f"the answer stops at “{text[-24:]}”"))
    for left, right in _PAIRS:
        if text.count(left) > text.count(right) and reference.count(left) == reference.count(right):
            found.append(Finding(check=NAME, severity=0.8, reason=f"“{left}” is opened and never closed"))
    if text.count("```") % 2:
        found.append(Finding(check=NAME, severity=0.9, reason="a block of code is opened and never closed"))
    cut = _prefix(text, reference) or _continued(both)
    if not found and cut:
        found.append(Finding(check=NAME, severity=0.9, reason=f"the answer breaks off before “{cut[:40]}”"))
    if not found and text[-1] not in _END and reference[-1:] in ".。!?！？":
        found.append(Finding(check=NAME, severity=0.25, reason="the last sentence has no end"))
    return found


def _is_whole(text: str) -> bool:
    """Whether the last clause ends as a whole sentence may: "the card you booked with", 可以退的."""
    if CJK.search(text[-1:]):
        clause = _CLAUSE_ZH.split(text)[-1].strip()
        if _CUT_ZH.search(clause):
            return False
        return any(found.end() == len(clause) for found in _WHOLE_ZH.finditer(clause))
    return bool(_WHOLE_EN.search(re.split(r"[.!?;,:]\s|\n", text[-TAIL:])[-1].strip()))


def _continued(both: Pair) -> str:
    """The word that follows in the reference, where the answer stops without a mark in the middle of a name for a thing."""
    words = both.candidate.words
    at = both.partner[-1] if words and not words[-1].mark and words[-1].content else None
    following = both.reference.words[at + 1 :] if at is not None else ()
    if not following or both.case.reference.rstrip()[-1:] not in _END:
        return ""
    named = following[0].content and following[0].clause == both.reference.words[at or 0].clause
    said = {w.lemma for w in words}
    return following[0].text if named and following[0].lemma not in said and following[0].text.isascii() else ""


def _prefix(text: str, reference: str) -> str:
    """What of the reference follows, where the answer is its beginning and no more."""
    text, reference = normalised(text), normalised(reference)
    bare = text.rstrip(".。!！ …,")
    if len(bare) >= 4 and reference.casefold().startswith(bare.casefold()):
        rest = reference[len(bare) :].strip(" .。!！…")
        told = len(rest) > 2 or (CJK.search(rest) and not (len(rest) == 1 and _is_whole(bare)))
        return rest if told else ""
    return ""
