"""What a clause does: admit not to know, tell of a service that fails, put off, hand over, refer to others, be polite, or tell."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from harness.fidelity.reading import acts_en, acts_zh, talk
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import CJK, normalised
from harness.fidelity.reading.topics import bare, restated


class Act(Enum):
    """Kinds of clauses that give no answer."""

    UNKNOWING = "unknowing"  # cannot say, does not know, declines
    SYSTEM = "system"  # what answers is busy, down, degraded
    RETRY = "retry"
    QUEUE = "queue"
    HANDOVER = "handover"
    FOLLOW_UP = "follow-up"
    REFERRAL = "referral"  # who or what may know instead
    POLITE = "polite"  # courtesy, a number of a ticket, nothing done


class Clause(NamedTuple):
    """A clause and what it does."""

    text: str
    act: Act | None  # None: it may tell something
    cue: str  # the words that do it
    own: str  # of those, the ones that a reference about the same would share
    loose: bool = False  # read from little: somebody who speaks for himself, and denies
    bare: str = ""  # the text without the topics of questions that it names


_CUT_EN = re.compile(
    r"(?<=[.!?;])(?<!\b[nN]o\.)(?<!\b[rR]ef\.)\s+|(?<=\b[nN]o\.)\s+(?!#?[\w-]*\d)|(?<=:)\s+(?=[A-Za-z]+\s)|\n+|\s*[—]\s*|\s-\s|(?:,\s*|\s+)(?=(?:but|however|though|although|hence|therefore|because(?! of)|yet)\b)|,\s*(?=(?:so|and|which|who|please|or|as|since|i|we|you|it|there|then)\b)"
    r"|\s+(?=(?:and|so) (?:i|we|you|it|the|a|an|please|will|can|our|your|someone|would|try|ask|that|this)\b)|(?<=\bsorry),?\s+(?=(?:i|we|the|that|this|our|no|can)\b)"
)
_CUT_ZH = re.compile(r"(?<=[。！？；，,!?;])\s*|(?<=[:：])(?!\d)\s*|\n+")
_WORDED = re.compile(r"\w")
_SORRY = r"(?:sorry|apolog\w+|unfortunately|regret\w*|afraid)"
_POLITE = re.compile(
    rf"^\W*(?:(?:and|but|so)\s+)?(?:(?:please )?(?:accept )?(?:(?:i|we|our|my|i'm)\s+)?(?:am |are |is |very |so |really |deeply |sincer\w+ |do |must )*{_SORRY}(?:\W*|,? (?:for|about|to say|if|that this|not to)\b[^.!?]{{0,50}})|thank(?:s| you)[^.!?,:;]*(?:,\s*\w+(?: \w+){{0,2}})?|your (?:message|question|request|call|patience)\b[^.!?]{{0,12}}\b(?:important|appreciated|valued|matters)[^.!?]*|"
    r"please (?:bear|accept|be patient|forgive|excuse|understand)[^.!?]*|(?:hello|hi|dear|oops|hmm|hm|well|oh|ah|okay|good (?:morning|day|afternoon|evening|question))\b[^.!?]{0,20}|we appreciate[^.!?]*|we value[^.!?]*|we hope[^.!?]*|"
    r"(?:非常|十分|很|深表|万分|实在|真)?(?:抱歉|对不起|遗憾|歉意|不好意思)[^。！，,!]*|感谢[^。！!]*|谢谢[^。！!]*|您好|你好|亲|请(?:您)?(?:见谅|谅解|耐心|理解|包涵|放心)[^。！!]*|敬请[^。！!]*|(?:给|为)您[^。！，,!]{0,4}(?:带来|添)[^。！!]*|哎呀|哦|嗯|唉|呃)\W*$",
    re.IGNORECASE,
)
_COURTEOUS = re.compile(
    r"sorry|apolog|unfortunately|regret|thank|hello|\b(?:hi|dear|oops|well|please)\b|appreciate|hope|happy|glad|pleased|question|request|here (?:is|are)|以下是|很高兴|您的问题|咨询|抱歉|对不起|遗憾|不好意思|感谢|谢谢|您好|你好|见谅|谅解|敬请|亲",
    re.IGNORECASE,
)
_NOTHING_DONE = re.compile(
    r"\b(?:nothing|no (?:action|change|booking|charge|payment|data|changes|actions))(?: \w+){0,3} (?:has been|have been|was|were|is|will be) (?:changed|charged|done|decided|booked|sent|ordered|lost|taken|made)|没有(?:任何|做任何|执行任何)?(?:变动|改动|更改|变化|扣款|操作)|没有执行",
    re.IGNORECASE,
)
_FILED = re.compile(  # what the question itself was filed under
    r"\b(?:ticket|case|reference|request|enquiry|inquiry|error|incident|tracking|support)\b(?: \w+){0,3}?\W*(?:number|no\.?|id|code)?\W*(?:is\W*)?[#\w-]*\d|\berror\b[^.!?]{0,12}$|(?:工单|受理|咨询|反馈|查询|错误|事件|流水)(?:编?号|号码|码|代码)|工单[^，。,]{0,4}[A-Za-z\d-]{3,}|^\W*#\s?[\w-]*\d[\w-]*\W*$|^\W*(?:您的)?(?:编号|单号|查询号|排队号|序号|登记号|取号)[是为]?\W*[A-Za-z\d-]+\W*$",
    re.IGNORECASE,
)
_TECHNICAL = re.compile(
    r"returned|answered with|gave|respond|timed out|degraded|overloaded|unreachable|reachable|error|loading|crashed|trouble|connect|capacity|加载|返回|响应|连接|接口",
    re.I,
)
_VAGUE_HEADS = frozenset(
    [
        "service",
        "services",
        "line",
        "lines",
        "hotline",
        "site",
        "portal",
        "platform",
        "page",
        "pages",
        "app",
        "support",
        "system",
        "systems",
        "display",
        "function",
        "functions",
        "tool",
        "tools",
        "feature",
        "features",
        "network",
        "provider",
        "engine",
        "website",
        "网络",
        "信息",
        "页面",
        "网页",
        "网站",
        "平台",
        "线路",
        "功能",
        "通道",
        "语音",
        "应用",
        "程序",
    ]
)
_UNASKED = re.compile(
    r"(?:是否|有没有|能否|可否|是不是|会不会|能不能|要不要|该不该|多久|多少|为什么|怎么|哪|几|什么|如何|何时|何地|何处|何人)"
)
_TOPIC = re.compile(
    r"^\W*(?:(?:and|but|so)\s+)?(?:as for|regarding|concerning|about|with regard to|as to|for (?:\w+ )*questions?|whether|on (?:the|your) (?:question|matter|subject)|when it comes to|because of|due to|owing to|in (?:view|light) of|关于|对于|至于|针对|由于|因为?|鉴于|为了)",
    re.IGNORECASE,
)  # fmt: skip


@remembered
def clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of `text`, each with what it does."""
    plain = normalised(text)
    cut = _CUT_ZH if CJK.search(plain) else _CUT_EN
    return tuple(_clause(part) for part in cut.split(plain) if part and _WORDED.search(part))


def courtesies(text: str) -> tuple[tuple[int, int], ...]:
    """Where clauses of mere courtesy stand in the normalised text, as (start, end)."""
    if not _COURTEOUS.search(text):
        return ()
    plain, at = normalised(text), 0
    found = [*talk.openings(plain)]
    for clause in clauses(text):
        at = plain.find(clause.text, at)
        if clause.act is Act.POLITE:
            found.append((at, at + len(clause.text)))
        at += len(clause.text)
    return tuple(found)


def asks(clause: str) -> bool:
    """Whether a Chinese clause only names what is asked: 三号楼何时恢复."""
    return bool(_UNASKED.search(clause))


def topic(clause: str) -> bool:
    """Whether a clause only says what is spoken of: "as for the fee", 几点关门."""
    return bool(_TOPIC.match(clause) or _UNASKED.search(clause))


@remembered
def _clause(text: str) -> Clause:
    chinese = bool(CJK.search(text))
    plain = bare(text)
    if restated(plain):
        return Clause(text, Act.POLITE, "", "", bare="")
    found = next(_found(plain, chinese=chinese), Clause(plain, None, "", ""))
    if found.act is None and plain.rstrip().endswith("?"):
        return Clause(text, Act.POLITE, "", "", bare="")  # who asks states nothing
    return found._replace(text=text, bare=plain)


def _found(text: str, *, chinese: bool) -> Iterator[Clause]:
    tables = acts_zh if chinese else acts_en
    for pattern in tables.UNKNOWING:
        if match := pattern.search(text):
            yield Clause(text, Act.UNKNOWING, match[0].strip(), match.groupdict().get("done", ""))
    for pattern in tables.SYSTEM:
        if match := pattern.search(text):
            yield Clause(text, Act.SYSTEM, match[0].strip(), _own(match))
    if _POLITE.match(text):
        yield Clause(text, Act.POLITE, "", text)
    for pattern in tables.LOOSELY:
        if match := pattern.search(text):
            yield Clause(text, Act.UNKNOWING, match[0].strip(), "", loose=True)
    for act in (Act.HANDOVER, Act.FOLLOW_UP, Act.QUEUE, Act.RETRY, Act.REFERRAL):
        match = getattr(tables, act.name).search(text)
        if match and not (act is Act.HANDOVER and not chinese and acts_en.passes_a_thing(text, match)):
            yield Clause(text, act, match[0].strip(), text)
    if _NOTHING_DONE.search(text) or _FILED.search(text):
        yield Clause(text, Act.POLITE, "", text)


def _own(match: re.Match[str]) -> str:
    """What fails and how; with what stands before it, where that may be what the answer is about: "the ferry service is suspended"."""
    named = match.groupdict()
    if named.get("staff"):
        return named["staff"]  # whatever they deal with
    if "head" not in named:
        return match[0]
    vague = named["head"].casefold() in _VAGUE_HEADS and not _TECHNICAL.search(
        match["head"] + match[0].split(match["head"], 1)[1]
    )
    return f"{named['before'] if vague else ''} {named['head']}"
