"""What must not be torn apart: a negation and what it negates, an instruction's verb and its object. EN and ZH."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Characters [start, end) of a text."""

    start: int
    end: int


class Anchor(NamedTuple):
    """The core of an instruction: "translate" + "the notice into French"."""

    verb: str
    object: str
    span: Span


# A prompt is anybody's text: no pattern here and in the files beside may read a character more than a few times.
# So a run is possessive, begins where none of its own kind stands before it, or has a bound.
MOST_SCOPE_CHARS = 160  # a clause that runs on longer than this negates nothing more

_NEGATION = re.compile(
    r"\b(?:not|never|none|nobody|nothing|neither|nor|without|cannot|except|unless|excluding|barring|no(?!\.\s?\d))\b"
    r"|\b\w+n['’]t\b"
    r"|\b(?:forbid|forbids|forbidden|prohibit|prohibits|prohibited|ban|bans|banned|barred|illegal|unlawful|disallowed"
    r"|impossible|unable|refuse[sd]?|refusing|refrain|avoid(?:s|ed|ing)?|deny|denies|denied|hardly|rarely|seldom|barely"
    r"|scarcely|exclude[sd]?|other than|apart from|aside from|save for|(?:do|does|did|is|are|would|should)nt)\b"
    r"|不|没有?|无(?!论)|未(?!来)|(?<![特区级个识分性])别(?!人|的|处)|勿|莫|非(?!常)|禁|除了|除非|除外|之外|以外|拒绝|谢绝|杜绝"
    r"|避免|防止|切忌|毋|甭",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,;:](?=\s(?!(?:or|nor|and)\b)|$)|[.!?](?=\s|$)|[，；：。！？]|\n\s*\n")

_VERBS_EN = (
    "add|analyse|analyze|answer|assume|avoid|calculate|cite|classify|compare|complete|compute|consider|convert|correct|"
    "count|create|decide|define|describe|determine|do|don['’]t|draft|ensure|estimate|evaluate|exclude|explain|extract|"
    "fill|find|fix|focus|format|generate|give|identify|ignore|include|keep|label|leave|let|limit|list|mention|name|"
    "never|output|paraphrase|pick|print|produce|provide|quote|rank|reply|report|respond|return|rewrite|say|select|show|"
    "sort|state|suggest|summarise|summarize|tell|translate|use|verify|write"
)
_VERBS_ZH = (
    "总结|概括|归纳|翻译|列出|列举|回答|解释|说明|分析|比较|对比|计算|提取|抽取|生成|写|改写|输出|返回|给出|判断|分类|"
    "描述|指出|告诉|引用|使用|用|按|根据|不要|不得|必须|请勿|忽略|保留|检查|修改|纠正|推荐|查找|确认|统计|填写|评价|排序"
)
_MOST_LEADS = 12  # words before the verb that only lead up to it; they may stand on lines of their own
_IMPERATIVE_EN = re.compile(
    r"(?:^|(?<=[.!?:;]\s)|(?<=\n))[ \t]*+(?:[-*•]\s++|\d++[.)]\s++)?"
    r"(?:(?:please|then|finally|first|next|now|also|always|only|you (?:must|should)|(?:could|can|would) you)\s++)"
    rf"{{0,{_MOST_LEADS}}}+"
    rf"(?P<verb>{_VERBS_EN})\b(?P<object>[^\n.!?;。！？；]*)",
    re.IGNORECASE,
)
_IMPERATIVE_ZH = re.compile(
    r"(?:^|(?<=[。！？；，、：\n ]))(?:请你?|麻烦|帮我|务必|然后|最后|首先|只|仅)*(?:把|将)?"
    rf"(?P<verb>{_VERBS_ZH})(?P<object>[^\n。！？；，]*)"
)
_QUESTION = re.compile(
    r"[?？]\s*+(?:[\"'”’」)）]++\s*+)?$"
    r"|^\s*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|may|will)\b[^.!]*$"
    r"|吗|呢\s*$|什么|多少|怎么|如何|为什么|哪[个些里位]?|是否|能否|可否|几[个天元点时]",
    re.IGNORECASE,
)


def negation_scopes(text: str) -> list[Span]:
    """From each negating word to the end of its clause; overlapping scopes are one. In order, disjoint."""
    scopes: list[Span] = []
    for cue in _NEGATION.finditer(text):
        if scopes and cue.end() <= scopes[-1].end:
            continue
        most = min(len(text), cue.end() + MOST_SCOPE_CHARS)
        stop = _CLAUSE_END.search(text, cue.end(), most)
        end = stop.start() if stop else most
        scopes.append(Span(cue.start(), max(end, cue.end())))
    return scopes


def denies(text: str) -> bool:
    """Whether it holds a negation."""
    return _NEGATION.search(text) is not None


def intent_anchors(text: str) -> list[Anchor]:
    """The instructions of a text, in order."""
    found = [
        Anchor(match["verb"].lower(), match["object"].strip(), Span(match.start("verb"), match.end()))
        for pattern in (_IMPERATIVE_EN, _IMPERATIVE_ZH)
        for match in pattern.finditer(text)
    ]
    return sorted(found, key=lambda anchor: anchor.span)


def is_instruction(sentence: str) -> bool:
    """Whether a sentence asks for something: an imperative or a question."""
    return bool(_QUESTION.search(sentence) or _IMPERATIVE_EN.search(sentence) or _IMPERATIVE_ZH.search(sentence))


def merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters as disjoint spans in order."""
    disjoint: list[Span] = []
    for span in sorted(spans):
        if disjoint and span.start < disjoint[-1].end:
            disjoint[-1] = Span(disjoint[-1].start, max(disjoint[-1].end, span.end))
        elif span.end > span.start:
            disjoint.append(span)
    return disjoint


class Protected:
    """Spans that no cut may enter."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = merged(spans)
        self._starts = [span.start for span in self.spans]

    def forbids(self, position: int) -> bool:
        """Whether a cut at `position` would be inside a span; its two ends are free."""
        before = bisect_right(self._starts, position) - 1
        return before >= 0 and self.spans[before].start < position < self.spans[before].end

    def within(self, start: int, end: int) -> list[Span]:
        """The spans that share characters with [start, end)."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = bisect_left(self._starts, end)
        return [span for span in self.spans[first:last] if span.end > start]
