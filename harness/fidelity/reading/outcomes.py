"""States said once by a word and once by their outcome: "sold out" and "every seat is gone", "paid" and a balance of 0."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import Text

_STATES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE))
    for one, other in (
        (
            r"\b(?:is|are|was|were|ran|run|runs|running) out of (?!order|the\b|a\b|our\b|date|town|reach|\d)\w+",
            r"\b(?:neither|none|no|not any|nothing)\b[^.;]{0,40}\b(?:any|left|remain\w*)\b",
        ),
        (
            r"\b(?:s(?:old|ells?) out|out of stock|fully booked|booked (?:up|out|solid)|no (?:\w+ )?(?:seats?|tickets?|rooms?|places?|tables?|copies|stock|more)\b[^.,;]{0,12}(?:left|available)?)|售罄|卖完|售完|断货|缺货|订满|客满|满员|满房|没有?余?票",
            r"\b(?:every|all|last|the)\b[^.;!?]{0,40}\b(?:gone|taken|sold|snapped up|booked|spoken for|full)\b|\bnone (?:is |are )?left\b|\bnot an? (?:single )?\w+ (?:is )?left\b|\bno\b[^.;]{0,16}\bleft\b|\b(?:have|has) (?:run|ran) out\b|卖光|抢光|抢空|卖没|一[张间个件份台本]都?(?:不剩|没有?|没剩)|没(?:有)?(?:票|房|座|货|位)|全(?:部)?(?:卖|订)(?:完|出|满|光)",
        ),
        (
            r"\b(?:used up|use[sd]? (?:it |them )?all|exhausted|run out|ran out|spent|consumed|depleted|reached (?:your|the) (?:limit|allowance))\b|用完|用尽|用光|耗尽|花光|花完|吃完|喝完|没有?了",
            r"\b(?:nothing|none|no \w+|not (?:a|any)[^.;]{0,16}) (?:is |are |remains? |has been )?(?:left|remaining)\b|\b(?:all|every)\b[^.;]{0,20}\b(?:gone|used)\b|(?:一点|丁点|一滴|一分|半点)?(?:儿)?(?:也|都)?(?:不剩|没剩|没了|没有了)|见底|归零|光了|用没了",
        ),
        (
            r"\b(?:cancel\w*|called off|scrapped|axed|call\w* off)\b|取消|停课|停运|停航|停飞|停赛|停办|停演",
            r"\b(?:is|are|will|does|do|has|have)\b(?: \w+)? not\b[^.;]{0,12}\b(?:go|going|run|running|fly|flying|happen|happening|take place|taking place|leave|leaving|depart|departing|sail|sailing|operat\w+|be held|be running|ahead|play|playing)\b|\bno longer\b[^.;]{0,16}\b(?:going|running|flying|happening|taking place|departing)\b|\boff\b"
            r"|不(?:用|必|需要?)(?:再)?(?:来|去|上|到|回)(?:学|校|课|班|单位)?|不(?:上课|开课|发车|开车|起飞|飞|走|办|举行|演|比|开航|开了?)|没(?:有)?(?:课|车|船|航班|比赛|演出)|放假|(?:开|飞|走|办|演|去)不(?:了|成)",
        ),
        (
            r"\b(?:unavailable|out of action|out of service|offline|down|inaccessible|unreachable)\b",
            r"\b(?:neither|not|nor|no|no longer)\b[^.;]{0,50}\b(?:use[d]?|usable|available|access\w*|reach\w*|possible|work\w*|operat\w*|open)\b",
        ),
        (
            r"\b(?:is|are|was|were|be|stay|stays|remain|remains|goes|go) (?:switched |turned |shut |cut )?off\b",
            r"\b(?:no|without) \w+|\b(?:not|without)\b[^.;]{0,30}\b(?:any|available|work\w*|have|on|run\w*)\b",
        ),
        (
            r"\b(?:out of order|broken|not work\w*|does not work|defective|faulty)\b|坏了|故障|失灵|停用",
            r"\b(?:not|no longer)\b[^.;]{0,12}\b(?:use[d]?|usable|work\w*|function\w*|run\w*)\b|(?:用|使|动|转)不了|不(?:能用|好使|好用|工作|转)",
        ),
    )
)


_STOPPED_ZH = re.compile(
    r"(?:停|暂停|中断|终止|暂缓|缓)(?P<what>上线|发布|推出|发放|实施|执行|开放|办理|[诊课售运航办播产水电气网业工驶更供演赛飞映刊药食用卖收发])"
)


def _stopped(one: str, other: str) -> bool:
    """停诊 is 不出诊, 停电 is 没有电: what has stopped is not done any more, or not there."""
    return any(
        re.search(rf"(?:不再?|没有?|无|未|暂不)[^，。；,;!?]{{0,3}}{found['what']}|{found['what']}不(?:了|成)", other)
        for found in _STOPPED_ZH.finditer(one)
    )


@remembered
def same_state(one: Text, other: Text) -> bool:
    """Whether one text names a state that denies something, and the other tells its outcome."""
    if _stopped(one.plain, other.plain) or _stopped(other.plain, one.plain):
        return True
    if _two_names(one.plain, other.plain):
        return True
    return any(
        (name.search(a.plain) and outcome.search(b.plain) and not name.search(b.plain))
        for name, outcome in _STATES
        for a, b in ((one, other), (other, one))
    )


_CALLED_OFF = re.compile(
    r"\b(?:cancel\w*|called off|calls? off|scrapped|axed)\b|取消|停课|停运|停航|停飞|停赛|停办|停演", re.IGNORECASE
)


def _two_names(one: str, other: str) -> bool:
    """停航 is 取消: either text says once that something is called off, by another word."""
    here, there = _CALLED_OFF.findall(one), _CALLED_OFF.findall(other)
    return len(here) == len(there) == 1 and here[0].casefold() != there[0].casefold()


_COSTLESS = re.compile(
    r"免费|不(?:再|另|额外)?(?:收取?|要|产生)(?:任何|您|一分)?(?:额外)?(?:的)?(?:手续)?[费钱](?:用)?|免(?:收|交|缴)?[\u4e00-\u9fff]{0,3}费|免手续|一分钱?(?:都|也)?不(?:用|必|需|要)?[付花收掏出交罚多]?|不(?:用|必|需要?)(?:再|多)?[花付掏出交]一?分?钱|不花钱|分文不[取收]|零(?:费用|手续费|元)|无需(?:付费|缴费|交钱)"
    r"|我们(?:来|会|负责)?(?:出|付|承担|负担|包)(?:全部|所有|这笔|往返|来回|全程)?[\u4e00-\u9fff]{0,3}(?:费|钱)|[费钱](?:用)?(?:都|全)?(?:由|归|算)?我们(?:来|会)?(?:出|付|承担|负担|的)|包邮"
    r"|\b(?:at|on) our (?:own )?(?:expense|cost|tab|account)\b|\b(?:is|are|it is) on us\b|\bwe (?:will |shall |would )?(?:pay|cover|bear|meet|stand) (?:all |for )?(?:the |its |their |your )?(?:\w+ )?(?:postage|shipping|carriage|pick-?up|collection|delivery|return|freight|transport|costs?|expenses?|bill)\b"
    r"|\b(?:for free|free of charge|(?:at )?no (?:extra |additional )?(?:charge|cost|fee)s?|(?:costs?|pays?|charges?|charged)(?: you| us)? nothing|without (?:charge|a fee|any fee)|not (?:pay|cost|charge|be charged)(?: you)? (?:anything|a fee|any fee)|nothing (?:to pay|is charged)|complimentary)\b"
    r"|\bno (?:\w+ )?(?:fees?|charges?|costs?) (?:is|are|will be) (?:charged|due|made|taken)\b",
    re.IGNORECASE,
)


@remembered
def costless(text: Text) -> list[tuple[int, int]]:
    """Where a text says that nothing is charged, as (start, end)."""
    return [found.span() for found in _COSTLESS.finditer(text.plain)]


_NOTHING_LEFT = re.compile(
    r'"(?P<key>(?:amount_?|total_?|open_?|invoice_?)?(?:outstanding|balance|due|owed|owing|unpaid|open|remaining|arrears|debt)(?:_?(?:amount|balance|due|total|to_?pay|sum))?|未付(?:金额|款)?|欠款|余款|待付(?:金额)?)"\s*:\s*"?(?:[$€£¥]\s?)?0(?:\.0+)?(?:\s?(?:元|USD|EUR|GBP))?"?(?=\s*[,}])',
    re.IGNORECASE,
)
_PAID = re.compile(
    r"\b(?:(?:paid|settled|cleared)(?: (?:in full|up|off|completely))?|fully (?:paid|settled))\b|已?(?:付清|结清|缴清|全额支付|支付完毕|还清)",
    re.IGNORECASE,
)


def told_settled(candidate: str, reference: str) -> str:
    """The answer with "outstanding: 0" said in the words of a reference that speaks of payment."""
    if not candidate.lstrip().startswith("{") or not _NOTHING_LEFT.search(candidate):
        return candidate
    paid = _PAID.search(reference)
    if paid is None:
        return candidate
    return _NOTHING_LEFT.sub(f'"status": "{paid[0]}"', candidate)
