"""Text that is no answer at all: empty, repeating itself, noise, or the question handed back."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections import Counter
from itertools import pairwise

from harness.fidelity.case import Finding
from harness.fidelity.reading import talk
from harness.fidelity.reading.pair import Pair
from harness.fidelity.reading.plain_yes import answers_as_told
from harness.fidelity.reading.polarity import RHETORICAL
from harness.fidelity.reading.text import Text, normalised

NAME = "degenerate"
_LOOP = re.compile(r"(.{2,40}?)\1{3,}", re.DOTALL)
_HOLLOW = re.compile(
    r"\W*(?:n/?a|none|null|nil|undefined|nan|unknown|tbd|todo|ok|okay|yes|no|sure|done|placeholder|lorem ipsum.*|"
    r"\[?(?:your |insert |the )?(?:answer|text|response)(?: here)?\]?|string|\[object object\]|无|暂无|未知|待定|好的|是的|空)\W*",
    re.IGNORECASE,
)
_SLOT = re.compile(
    r"\{\{?\s*[\w.]+\s*\}?\}|<\s*[A-Za-z_]{3,}\s*>|\[(?:name|date|amount|number|order|city|insert[^\]]{0,80}|your[^\]]{0,80})\]",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"^\W*(?:this|that|it|the question|your question|the request|your request) (?:is|was) (?:all |a question )?(?:about|concerning|regarding)\b|^\W*(?:您的问题|您问的|这个问题|这)(?:是|属于)?(?:关于|有关)",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:usual|standard|normal|necessary|required|appropriate|relevant|responsible|suitable|competent|described|corresponding|proper) (?:steps?|procedures?|process(?:es)?|documents?|channels?|"
    r"measures?|departments?|persons?|teams?|contacts?|instructions?|conditions?|details|guidelines?|rules|options|fees?)|\b(?:certain|various|some|several|different|a number of|a few) (?:documents?|conditions?|steps?|events?|"
    r"things|factors|rules|options|cases|requirements|restrictions|fees|items|details)|\bdepend(?:s|ing)? on (?:the |your |a |an |several |many |various |a number of )?(?:individual |specific |particular |given |many |different |other )?(?:cases?|circumstances?|situations?|factors?|conditions?|things|needs?|details?|types?|sizes?|amount|weather|season|model|provider|bank|country|region|location|product|plan|item|order|contract|how|what|where|when|which|whether|who|polic(?:y|ies)|time|demand|availability)\b|\bfollow the\b|\bas needed\b|\bmore (?:information|details)\b|"
    r"\b(?:our|the) (?:website|terms|policy|guidelines|documentation)\b|\bin due course\b|\b(?:in|within) (?:a few|several|some) (?:days|weeks|hours|minutes|months)\b|(?<!as )\b(?:soon|shortly)\b(?! (?:as|after|before)\b)|\bas soon as (?:possible|we can)\b|\bmany (?:factors|ways|options)\b|\bit varies\b|\b(?:everything|all) (?:is|looks) (?:fine|good|in order)\b|"
    r"\b(?:fully|completely|entirely) answers?\b|\b(?:complete|full|whole) answer\b|\b(?:right|best|proper|correct|ideal) (?:time|way|place|amount|moment|person|one|choice) (?:for|to|is)\b|\bthat is right for\b|"
    r"以上(?:就)?是(?:完整|全部)?的?(?:答案|回答|内容)|最?合适的(?:时候|时间|方式|地方|地点|价格|方法|人)|"
    r"(?:相关|一定|某些|必要|具体|有关|相应|规定)的?(?:流程|步骤|规定|材料|文件|条件|情况|手续|要求|程序|信息|政策|费用|部门)|根据(?:实际|具体|相关)?(?:情况|规定)|视情况|因人而异|近期|不久|过几天|几天[内后]|多种(?:方式|因素)|尽快(?:处理|安排)|一切正常|以实际为准",
    re.IGNORECASE,
)


def check(both: Pair) -> list[Finding]:
    text = both.case.candidate.strip()
    if not text:
        return [Finding(check=NAME, severity=1.0, reason="the answer is empty")]
    if answers_as_told(both.case):
        return []
    if _HOLLOW.fullmatch(text) and not _HOLLOW.fullmatch(both.case.reference.strip()):
        return [Finding(check=NAME, severity=1.0, reason=f"“{text[:40]}” says nothing")]
    found = []
    loop = _LOOP.search(text[:4000])
    if loop and not _LOOP.search(both.case.reference) and re.search(r"\w", loop[1]):
        found.append(
            Finding(check=NAME, severity=1.0, reason=f"the text repeats “{loop[1].strip()[:40]}” over and over")
        )
    slot = _SLOT.search(normalised(text))  # without the tags of a page
    if slot and not _SLOT.search(both.case.reference) and "{" not in both.case.reference:
        found.append(Finding(check=NAME, severity=1.0, reason=f"the placeholder “{slot[0]}” was not filled"))
    if talk.empty(text) and not talk.empty(both.case.reference.strip()):
        found.append(Finding(check=NAME, severity=1.0, reason="the answer is courtesy without substance"))
    if not re.search(r"\w", text) and re.search(r"\w", both.case.reference):
        found.append(Finding(check=NAME, severity=1.0, reason="the answer holds no words"))
    elif _repetitive(both.candidate) and not _repetitive(both.reference):
        found.append(Finding(check=NAME, severity=0.9, reason="the same few words make up the text"))
    if _TOPIC.search(text) and not _TOPIC.search(both.case.reference):
        found.append(Finding(check=NAME, severity=0.9, reason="the answer only names its subject"))
    vague = _VAGUE.search(text) if both.missing and both.recall < 0.7 else None
    if vague and not _VAGUE.search(both.case.reference):
        reason = f"“{vague[0]}” stands for what the reference tells"
        found.append(Finding(check=NAME, severity=0.9, reason=reason))
    question = both.case.prompt.strip().rstrip("?？").casefold()
    if len(question) > 8 and question in text.casefold() and len(text) < len(question) * 1.3:
        found.append(Finding(check=NAME, severity=0.9, reason="the answer only repeats the question"))
    rhetorical = any(word.text in RHETORICAL for word in both.candidate.words)
    if text.endswith(("?", "？")) and not rhetorical and not both.case.reference.rstrip().endswith(("?", "？")):
        found.append(Finding(check=NAME, severity=0.6, reason="the answer is a question"))
    return found


def _repetitive(text: Text) -> bool:
    words = [word.lemma for word in text.words if not word.mark]
    if len(words) < 12:
        return False
    top = Counter(pairwise(words)).most_common(1)[0][1]
    return len(set(words)) / len(words) < 0.3 or top > max(3, len(words) // 6)
