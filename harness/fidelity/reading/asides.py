"""What an honest answer may leave out, or put in: a reason, a purpose, a description in passing, courtesy."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

from harness.fidelity.reading.fact import Fact, Kind
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_WHY = re.compile(
    r"\b(?:why|what for|what purpose|how come|reason|cause[sd]?|because)\b|为什么|为何|为啥|原因|怎么会|干嘛|凭什么|理由",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:^|[.;!?,]\s*|\s)(?:because(?: of)?|due to|owing to|on account of|as a result of|thanks to|so that|in order to)\b[^.,;:!?]+,?"
    r"|(?:^|[.;!?]\s*)to (?!be\b)[a-z]+\b[^.,;:!?]{3,60},"
    r"|(?:^|(?<=[，。；！？,;!?]))(?:因为?|由于|为了?(?=[^，。；,;]{2,})|鉴于)[^，。；,;]{2,24}[，,]"
    r"|(?:^|(?<=[，。；！？,;!?]))受[^，。；,;]{2,12}影响[，,]",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r",\s*which\b[^.,;:!?]+,|,\s*an? (?:[a-z-]+ ){1,3}one,|(?<=唯一的)(?:[黑白红黄蓝绿灰橙紫]色)|(?<=\bonly )(?:black|white|red|yellow|blue|green|grey|gray|orange|purple|silver|golden)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:^|(?<=[.!?;]\s))(?:of course|unfortunately|regrettably|sadly|(?:i am|i'm|we are|we're) (?:very )?(?:sorry|afraid)|sorry|certainly|sure|absolutely|gladly|with pleasure|good news|great news|no problem|good question|great question|happy to help|thanks? [^.!?:]*|hello[^.!?,:]{0,20}|hi(?: there)?|dear \w+)\s*[:!.,]"
    r"|(?:^|(?<=[.!?;]\s))(?:have a (?:nice|good|great|lovely|pleasant) \w+|enjoy your (?:day|stay|visit|meal|trip|evening)|take care|best (?:regards|wishes)|kind regards|see you(?: soon)?|you(?:'re| are) welcome|let (?:us|me) know if [^.!?]*|(?:please )?feel free to (?:ask|contact|reach)[^.!?]*|is there anything else[^.!?]*|we (?:wish|hope)[^.!?]*|thank you[^.!?]*|we look forward to (?:seeing|welcoming|serving) you[^.!?]*|hope (?:this|that) helps)[.!?]?"
    r"|(?:感谢|谢谢)(?:您|你)?(?:的)?(?:耐心|理解|支持|配合|咨询|来电|关注|等[候待]|信任)*(?:等[候待])?[。！!]?|祝(?:您|你)[^，。！,!]{1,10}[。！!]?|(?:很)?(?:乐意|高兴)为(?:您|你)(?:服务|解答)|(?:您|你)好[，,!！]?|亲爱的[^，。！,!]{1,6}[，,]?|如有(?:其他)?(?:疑问|问题)[^。！!]{0,16}[。！!]?|欢迎(?:再次)?(?:光临|咨询|来电)[。！!]?|(?:好的|没问题|没错|是的|对的|当然)(?:可以)?[，,。！!]|(?:很|非常|十分)?(?:遗憾|抱歉|不好意思|对不起)(?:地)?(?:通知您|告诉您)?[，,。！!]|请(?:您)?(?:注意)?(?:查收|知悉)[。！!]?",
    re.IGNORECASE,
)
_BINDING = re.compile(
    r"\b(?:must|only|never|not|no|have to|has to|need|needs|required?|forbidden|unless|except|danger\w*|allerg\w*|first|free)\b|必须|只|不|勿|须|禁|免|先|除",
    re.IGNORECASE,
)


@remembered
def spare_spans(text: Text, prompt: str) -> tuple[tuple[int, int], ...]:
    """Stretches (start, end) of a text that tell a reason, a purpose or courtesy; none that was asked for or binds anybody."""
    return tuple(_spans(text.plain, text.facts, prompt))


def _spans(plain: str, facts: tuple[Fact, ...], prompt: str) -> Iterator[tuple[int, int]]:
    asked = bool(_WHY.search(prompt))
    for pattern in (_REASON, _PASSING, _COURTESY):
        for match in pattern.finditer(plain):
            binding = pattern is _PASSING and _BINDING.search(match[0])
            told = any(match.start() <= f.start < match.end() and f.kind is not Kind.RATE for f in facts)
            if not binding and not told and not (asked and pattern is _REASON):
                yield match.start(), match.end()
