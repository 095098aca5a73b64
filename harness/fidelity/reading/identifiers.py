"""Find codes: order numbers, tickets, flights, versions, addresses of mail, web and net, telephone numbers."""

import re
from collections.abc import Iterator

from harness.fidelity.reading.fact import Fact, Kind

_EDGE = r"(?<![A-Za-z0-9])"
CODES = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?=[hw#]))(?:"  # where one can begin: most places fail at once
    rf"(?P<mail>{_EDGE}[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<url>(?:https?://|www\.)[^\s，。；、）)\"'<>]+[^\s，。；、）)\"'<>.,;:!?])"
    rf"|(?P<domain>{_EDGE}(?:[a-z0-9-]+\.)+(?:com|org|net|io|cn|co|edu|gov|example|dev|ai)(?:/[\w./-]*\w)?)(?![A-Za-z0-9])"
    rf"|(?P<ip>{_EDGE}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+)?(?![A-Za-z0-9]))"
    rf"|(?P<version>{_EDGE}[vV]?\d+\.\d+\.\d+(?:[-.]?[A-Za-z0-9_]+)?|{_EDGE}[vV]\d+(?:\.\d+)*)(?![A-Za-z0-9])"
    rf"|(?P<hash>#\s?[A-Za-z]*-?\d[\w-]*)"
    rf"|(?P<phone>{_EDGE}\+?\d{{1,4}}(?:[-\s]\d{{2,4}}){{2,4}}(?![A-Za-z0-9-])|{_EDGE}\d{{3,4}}-\d{{3,8}}(?:-\d{{3,4}})?(?![A-Za-z0-9-]))"
    rf"|(?P<code>{_EDGE}(?=[A-Za-z0-9_/-]*\d)(?=[A-Za-z0-9_/-]*[A-Za-z])[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+)*(?![A-Za-z0-9]))"
    rf"|(?P<long>{_EDGE}\d{{6,}}(?![A-Za-z0-9.,])|{_EDGE}\d{{10,}}(?![A-Za-z0-9]|[.,]\d)))"
)
NUMBERED = re.compile(
    r"(?:\b(?:order|ticket|invoice|case|room|gate|flight|line|platform|seat|table|booking|reservation|policy|account|"
    r"bus|route|floor|building|dock|bay|terminal|track|desk|counter|ext\.?|extension|no\.?|number|po|sku|pin|code|port|"
    r"error|version|ios|android|windows|building|unit|apt|lane|door|zone|level|step|chapter|page|section|item)\s*(?:no\.?|number|id)?\s*[:#]?\s*"
    r"|\b(?:order|ticket|invoice|case|booking|reservation|policy|account|tracking|reference|confirmation|member(?:ship)?|customer|"
    r"client|user|card|serial|parcel|shipment|contract|claim|passport|licen[cs]e|registration|student|employee|staff|phone|telephone|mobile|"
    r"fax|transaction|payment|receipt|meter|part|model|voucher|pin)\s(?:no\.?|number|id|code|ref(?:erence)?)\s*(?:is|was|[:#=])?\s*#?"
    r"|(?:订单号?|单号|编号|工单|发票|房间|会议室|登机口|航班|座位|站台|账号|电话|热线|车次|型号|版本|端口|楼|号)\s*[:：]?\s*"
    r"|(?:(?:订|运|快递|物流|工|保|流水|序列|查询|账|帐|卡|会员|客户|用户|学|工|证件|身份证|护照|手机|电话|合同|发票|交易|车牌|挂号|预约|取件|验证)(?:单)?[号码]码?|单号|编号|号码)\s*(?:是|为|[:：])\s*)"
    r"(?P<id>\d[\d-]*)(?![\d.,]*\s?(?:%|[a-z]|天|日|元|小时|分钟|个|件|月|年|点|号线|折|万|千|[,.]\d))", re.IGNORECASE,
)  # fmt: skip
_MEASURED = re.compile(
    r"\d[\d.,]*(?:st|nd|rd|th|s|k|m|mm|cm|km|kg|g|mg|lb|lbs|oz|ml|l|h|hr|hrs|min|mins|ms|sec|am|pm|mb|gb|tb|kb|mbps|gbps|bn|mn|"
    r"w|kw|kwh|mah|v|hz|ppm|ppb|bps?|mhz|ghz|x|usd|eur|gbp|cny|rmb|days?|weeks?|hours?|minutes?|months?|years?|px|d|c|f)"
    r"(?:-[a-z]+)*|\d+-(?:days?|weeks?|hours?|minutes?|months?|years?|point|star|page|seat|person|bed|inch|foot|digit|character|step|euro|dollar|pound|yuan|yen|percent|degree|mile|kilometre|kilometer|metre|meter|litre|liter|gram|kilo|kilogram|ton|tonne|volt|watt|gigabyte|megabyte)s?(?:-\w+)*"
    r"|q[1-4]|\d{1,2}/\d{1,2}(?:/\d{2,4})?",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[\d@]|://|www\.|\.[a-z]")  # without any of these there is no code
_FIGURE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}.*|\d+-\d+|(?:19|20)\d\d")


def identifiers(text: str) -> Iterator[Fact]:
    """Codes of a text, in any language."""
    if not _SIGN.search(text):
        return
    for match in CODES.finditer(text):
        found = match[0]
        if match["code"] and (
            _MEASURED.fullmatch(found)
            or (
                re.fullmatch(r"\d+(?:-\d+)?[A-Za-z]{1,2}(?:-\w+)?", found) is not None
                and _MEASURED.match(found) is not None
                and len(found) < 6
                and found[-1].islower()
            )
        ):
            continue
        if (
            match["phone"]
            and re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}(?:\s\d+)*|\d{1,4}\s\d{2,4}\s?.*|\d{1,3}-\d{1,3}", found)
            and not found.startswith("+")
        ):
            continue
        yield _code(found, match.start(), match.end())
    for match in NUMBERED.finditer(text):
        yield _code(match["id"], match.start("id"), match.end("id"))


def _code(found: str, start: int, end: int) -> Fact:
    plain = found.casefold().rstrip("/")
    value = plain if "@" in plain or "." in plain else re.sub(r"[\s#_/()-]", "", plain)
    value = re.sub(r"^(?:https?://)?(?:www\.)?", "", value)
    return Fact(kind=Kind.IDENTIFIER, value=value.removeprefix("+") or plain, start=start, end=end, text=found)
