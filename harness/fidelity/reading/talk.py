"""Courtesies with which answers begin and end, and that tell nothing: "Thank you for contacting us", 以下是您需要的信息."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

_WORDED = re.compile(r"\w")
_MARKS = r"[,.;:!?，。；：！？、\n—–]|\s-\s"
_SPLIT = re.compile(rf"(?:(?<!\d)(?:{_MARKS})|(?:{_MARKS})(?!\d))+")
_OPENS = re.compile(  # what an answer may open with; the rest of the clause goes with it
    r"^\W*(?:(?:hello|hi|hey|dear \w+|good (?:morning|afternoon|evening|day)|sure|certainly|of course|ok(?:ay)?|and|so)\b\W*)*(?:"
    r"(?:many |a big )?thank(?:s| you)(?: (?:so|very) much)? for (?:your|asking|reaching|contacting|getting|writing|calling|waiting|the)|(?:a |that is a |what a )?(?:great|good|excellent) question|(?:i am |we are |i'm |we're |always |more than )*(?:happy|glad|pleased) to (?:help|assist|answer)|"
    r"(?:(?:see|find) )?here (?:is|are) (?:the|your|a|some) (?:\w+ )?(?:answer|information|details|summary|overview|facts)\b|(?:please )?(?:see|find) (?:the|your) (?:answer|information|details|summary) below|we (?:value|appreciate) your|"
    r"your (?:question|request|message|enquiry|inquiry) (?:is|has been) (?:very )?(?:important|received|processed|noted|valued|appreciated)|"
    r"感谢您的(?:提问|咨询|支持|来电|反馈|耐心|理解|关注|信任)|很高兴(?:能|可以)?为您(?:服务|解答|效劳)|以下是(?:您需要的|您想要的|您要的|相关的?|为您整理的|详细的?)?(?:答案|信息|内容|说明|详情|总结)|"
    r"您的(?:问题|提问|咨询|反馈)(?:对我们)?(?:很重要|非常重要|已收到|已记录))",
    re.IGNORECASE,
)
_GOES_ON = re.compile(  # what may stand beside it and tells no more
    r"^\W*(?:(?:and|so|but)\s+)*(?:hello|hi|hey|dear\b.*|good (?:morning|afternoon|evening|day)|sure|certainly|of course|ok(?:ay)?|yes|"
    r"(?:please )?(?:let (?:me|us) know|feel free|do not hesitate|don't hesitate|reach out|contact us)\b.*|(?:is there |if there is |if you have )?any(?:thing)? (?:else|other|further)\b.*|"
    r"(?:i|we) (?:(?:are|am|will|would|always|really|truly|do|look|hope) )*(?:here (?:to help|for you)|happy|glad|pleased|hope|wish|appreciate|value|take (?:it|this|your)|look(?:ing)? forward|be (?:happy|glad|pleased)|strive|do our best|care|understand)\b.*|"
    r"have a (?:nice|great|good|lovely)\b.*|thank(?:s| you)\b.*|best regards.*|kind regards.*|(?:your|the) (?:\w+ )?team|as (?:requested|follows)|(?:that )?you (?:asked|requested|need|needed|wanted)\b.*|below|"
    r"您好|你好|亲|请问.{0,12}|(?:祝|愿)您.*|(?:如|若)(?:果)?(?:您)?(?:还)?有.{0,8}(?:问题|疑问|需要).*|(?:欢迎|请)(?:您)?(?:随时|继续)(?:联系|咨询|提问).*|我们(?:将|会)?(?:竭诚|尽力|努力|一直|始终).*|谢谢.*|感谢.*|还有什么.*|(?:非常|十分)?(?:乐意|荣幸|高兴).*)\W*$",
    re.IGNORECASE,
)  # fmt: skip


def opens(clause: str) -> bool:
    """Whether a clause is a courtesy with which answers begin."""
    return bool(_OPENS.match(clause))


def openings(text: str) -> Iterator[tuple[int, int]]:
    """Where the courtesies stand with which `text` begins, as (start, end), each up to the first mark."""
    start = 0
    for mark in [*_SPLIT.finditer(text), None]:
        end = mark.start() if mark else len(text)
        if _WORDED.search(text, start, end):
            if not opens(text[start:end]):
                return
            yield start, end
        start = mark.end() if mark else end


def empty(text: str) -> bool:
    """Whether a text is such a courtesy, and nothing but more of such talk follows."""
    parts = [part for part in _SPLIT.split(text) if _WORDED.search(part)]
    return any(map(opens, parts)) and all(opens(part) or _GOES_ON.match(part) for part in parts)
