"""A transport status where a business answer belongs: 503 told as "unavailable", a time-out told as "declined"."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.case import Finding
from harness.fidelity.reading.pair import Pair

NAME = "transport"
_STATUS = re.compile(
    r"\b(?:http|status|error|code)\s*(?:code\s*)?[:=#]?\s*[45]\d\d\b|\b(?:500|502|503|504|429|404|408)\b(?=\W*(?:error|bad|service|gateway|not found|"
    r"too many|internal|timeout|unavailable|$|\)))|"
    r"\b(?:service unavailable|bad gateway|gateway time-?out|internal server error|connection (?:refused|reset|error|failed|timed out)|"
    r"timed? ?out|upstream|econn\w+|deadline exceeded|rate limit(?:ed)?|null pointer|stack ?trace|traceback|exception|socket|no response from)\b|"
    r"超时|连接(?:失败|错误|被拒绝|中断|异常)|网络(?:错误|异常|故障)|服务(?:器)?(?:不可用|错误|异常|无响应)|接口(?:错误|异常|超时|报错)|返回错误|错误码|状态码",
    re.IGNORECASE,
)


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
    match = _STATUS.search(both.case.candidate)
    if not match or _STATUS.search(both.case.reference):
        return []
    return [Finding(check=NAME, severity=0.9, reason=f"“{match[0]}” is a state of the transport, not an answer")]
