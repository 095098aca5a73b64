"""A transport status where a business answer belongs: 503 told as "unavailable", a time-out told as "declined"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair

NAME = "transport"
_STATUS = re.compile(  # speaks for itself
    r"\b(?:http|status|error)\W{0,3}(?:code\W{0,4})?[45]\d\d\b|(?<![^\W_] )\bcode\W{1,4}(?:500|502|503|504|429|408)\b|^\W*(?:500|502|503|504|429|404|408)\W*$|"
    r"\b(?:500|502|503|504|429|404|408)\b(?=\W*(?:error|bad (?:gateway|request)|service unavailable|gateway time-?out|time-?out|timed out|not found|too many requests|internal server|request time-?out|temporarily unavailable|unavailable|超时|错误|异常))|"
    r"\b(?:return\w*|answer\w* with|respond\w*(?: with)?|replied with|threw|raised|status) (?:an? |the |status |code |http )*(?:500|502|503|504|429|404|408)\b|(?:返回|响应|报)(?:了|码|出)?\s?(?:500|502|503|504|429|404|408)(?!\d)|"
    r"\b(?:service unavailable|bad gateway|gateway time-?out|internal server error|connection (?:refused|reset|error|failed|timed out)|econn\w+|etimedout|deadline exceeded|rate limit exceeded|"
    r"null ?pointer(?: ?exception)?|stack ?trace|traceback|exception (?:in (?:thread|line|module|the (?:service|worker|code))|at line|while|was (?:thrown|raised)|(?:has )?occurred|thrown|raised)|(?:unhandled|uncaught|runtime|io) exception|\w{3,}exception|"
    r"socket (?:error|closed|hang ?up|timeout|timed out|exception))\b|连接(?:失败|错误|被拒绝|中断|异常)|服务(?:器)?(?:不可用|错误|异常|无响应|超时)|接口(?:错误|异常|超时|报错)|返回错误|错误码|状态码",
    re.IGNORECASE,
)
_WORD = re.compile(  # tells of the transport where its clause does
    r"\b(?:timed? ?out|time-out|upstream|rate limit(?:ed)?|exception|no response from)\b|超时|网络(?:错误|异常|故障)",
    re.IGNORECASE,
)
_ABOUT = re.compile(  # what a clause speaks of that tells of the transport
    r"\b(?:services?|servers?|https?|status|backends?|gateway|api|endpoints?|upstream|proxy|database|db|requests?|quer(?:y|ies)|calls?|connections?|network|responses?|replies|reply|error|errors|failed|failure|failures|"
    r"look-?ups?|systems?|tools?|models?|worker|pod|host|cluster|client|code|assistant|marked|shown|therefore|hence|means|so)\b|服务器?(?!费|员|区|台|中心)|接口|系统|请求|网关|后端|查询|调用|响应|数据库|上游|错误|报错|失败|连接|访问|加载|网络|说明|表明|意味|因此|所以",
    re.IGNORECASE,
)
_SETTING = re.compile(  # a limit of time that is told, a rule, a case that may come
    r"\btime-?outs?\b(?: (?:is|are|of|was|to|set)\b|\W{0,3}\d)|\b(?:set|sets|raise|raised|increase\w*|lower\w*|default|change\w*|extend\w*|configure\w*)\b[^.!?]{0,30}\btime-?out|\b(?:if|when|whenever|once|after|in case|unless)\b|"
    r"\b(?:no|without|with the|the only|every) exceptions?\b|\bexception of\b|超时(?:时间|设置|上限|值|设)|(?:如|若|当|遇|凡|一旦|万一)[^，。；,;!?]{0,12}(?:超时|网络)|(?:超时|异常|故障|错误)(?:时|后|的话|就|则|会|将|未|每|[（(]?\d)",
    re.IGNORECASE,
)
_CALLED = re.compile(  # a call that was made, so no rule: "the request timed out after 30 seconds"
    r"\b(?:requests?|calls?|quer(?:y|ies)|look-?ups?|upstream|gateway|backend|api|connection|database|service|server)\b(?: (?!that|which)\w+){0,2}? timed out\b|\btimed out when \w+ing\b|"
    r"(?:请求|查询|调用|接口|连接)超时[后时]?(?:未|没有?)(?:能|有)?(?:返回|响应|结果|应答)",
    re.IGNORECASE,
)
_RULE = re.compile(r"\b(?:if|whenever|in case|unless|once)\b|(?:如|若|当|遇|凡|一旦|万一)", re.IGNORECASE)
_CLAUSES = re.compile(r"[.!?;,](?=\s|$)|[。！？；，]|\n+")
_BARE_WORDS = 2  # a clause of so few words is nothing but the state

_DONE = re.compile(  # a receipt for the request in the place of its answer
    r"^\W*(?:(?:your |the )?(?:request|operation|query|submission)(?: (?:was|has been|is))?(?: (?:processed|completed|submitted|executed|handled))?(?: successful(?:ly)?)?|success(?:ful(?:ly)?)?|ok(?:ay)?|done|200(?: ok)?|http 200(?: ok)?"
    r"|(?:操作|提交|请求|处理|查询|执行|您的请求)(?:已经?)?(?:成功|完成|处理完毕|成功处理|处理成功)(?:了)?)\W*$",
    re.IGNORECASE,
)


def check(both: Pair) -> list[Finding]:
    receipt = _DONE.search(both.case.candidate)
    if receipt and not _DONE.search(both.case.reference) and len(both.reference.content) > 1:
        reason = f"“{receipt[0].strip()}” says that the request came through, and answers nothing"
        return [Finding(check=NAME, severity=1.0, reason=reason, certain=True)]
    told = _told(both.case.candidate)
    if not told or _told(both.case.reference):
        return []
    return [Finding(check=NAME, severity=0.9, reason=f"“{told}” is a state of the transport, not an answer")]


def _told(text: str) -> str:
    """The words with which `text` tells of a state of the transport; "" where a timeout or an exception is the business."""
    if known := _STATUS.search(text):
        return known[0]
    return next((word[0] for clause in _CLAUSES.split(text) if (word := _WORD.search(clause)) and _tells(clause)), "")


def _tells(clause: str) -> bool:
    if _CALLED.search(clause) and not _RULE.search(clause):
        return True
    if _SETTING.search(clause):
        return False
    rest = _WORD.sub(" ", clause)
    bare = len(re.findall(r"[\u4e00-\u9fff]|\w+", rest)) < _BARE_WORDS and not rest.strip(" .!。！").isdecimal()
    return bool(_ABOUT.search(rest)) or bare
