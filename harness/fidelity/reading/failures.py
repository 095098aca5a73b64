"""A clause that tells of the user's business that it was not done, or is not there: no failed look-up, so an answer."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.acts import Act, clauses
from harness.fidelity.reading.lexicon import lexicon
from harness.fidelity.reading.text import CJK, Text, read

_THINGS = (
    r"(?:orders?|payments?|refunds?|cards?|bookings?|reservations?|flights?|parcels?|packages?|accounts?|subscriptions?|deliver(?:y|ies)|shipments?|returns?|transactions?|transfers?|applications?|claims?|loans?|"
    r"purchases?|withdrawals?|deposits?|cancellations?|exchanges?|registrations?|upgrades?|tickets?|memberships?|polic(?:y|ies))"
)
_ASIDE = r"(?! (?:\w+ ){0,2}?(?:requests?|questions?|quer(?:y|ies)|enquir\w+|inquir\w+|data|dates?|information|info|details?|status|look-?ups?|history|numbers?|records?|search|system|page|service)\b)"
_ACT_FAILED = re.compile(  # what was to be done with the user's business, and was not: no failed look-up
    r"\b(?:(?:could|can|did|was|were|have|has|had)(?: \w+)? not(?: been)?(?: able to)?|unable to|failed to)(?: \w+ly)? (?:process|complete|accept|approve|take|charge|execute|finali[sz]e|place|book|ship|send|deliver|dispatch|cancel|refund|"
    rf"renew|transfer|pay|register|issue|grant|honou?r|authori[sz]e|settle|make|release)\b (?:your|the|this|that)\b (?:\w+ ){{0,2}}?(?P<thing>{_THINGS})\b{_ASIDE}",
    re.IGNORECASE,
)
_NONE_THERE = re.compile(
    rf"\b(?:do|does|did) not (?:have|hold|see) (?:an?|any|such an?|the|your)\b (?:\w+ ){{0,2}}?(?P<thing>{_THINGS})\b{_ASIDE}",
    re.IGNORECASE,
)
_THINGS_ZH = r"(?P<thing>付款|支付|退款|订单|款项|包裹|快递|预订|预约|贷款|申请|理赔|转账|交易|报名|充值|提现|会员|车票|机票|账户|保单)"
_ASIDE_ZH = (
    r"(?![^，。；,;!?]{0,4}(?:信息|数据|状态|进度|详情|结果|情况|资料|时间|金额|编号|请求|问题|咨询|系统|功能|服务))"
)
_ACT_FAILED_ZH = re.compile(
    rf"(?:无法|未能|没能|没法|不能)(?:为您|成功|正常)*(?:处理|受理|办理|完成|接受|批准|通过|发出|寄出|退还|支付|扣除|取消|提交|开通)(?:[您你]的|该|此|这[个笔份条张]?)?{_THINGS_ZH}{_ASIDE_ZH}"
    r"|(?P<before>付款|支付|退款|订单|款项|包裹|预订|预约|贷款|理赔|转账|交易|报名|充值|提现)(?:暂时|目前|现在|今天|暂)?(?:无法|未能|没能|没法|不能)(?:成功|正常)?(?:处理|受理|办理|完成|接受|批准|通过|发出|寄出|退还|支付|到账|提交)(?![^，。；,;!?]{0,2}(?:请求|咨询|问题|查询))"
)

_RULE = re.compile(  # what is never done, or not under a condition
    r"\b(?:before|until|unless|without|after|if|when|only|outside|except|once|where|while|than|to)\b(?! (?:us|me|process|complete|accept|approve|ship|send|deliver|book|make|take|charge|refund|transfer|pay|cancel|renew|register|issue|grant|release|settle)\b)|(?<!目)前|才|除非|只|如果|若|超过|过了|以后|的话|(?<![暂及按同准即])时(?!间|候)|没有.*(?:就|则|不能)",
    re.IGNORECASE,
)


_FAILED = re.compile(  # whatever it is that was not done
    r"\b(?P<phrase>(?P<past>(?:could|was|were|have|has|had|did)(?: \w+)? not(?: \w+ly)?(?: been)?(?: (?:able|manage|managed) to)?|(?:was|were|have been|has been) unable to|failed to)|(?:am |are |is )?unable to|(?:am|are|is) not able to|can not)"
    r"(?: (?:\w+ly|yet|even|also))*(?P<passive> be| get)? (?P<verb>[a-z]+)\b(?P<rest>[^.!?;]*)",
    re.IGNORECASE,
)
_FAILED_ZH = re.compile(
    r"(?P<before>[^，。；！？,;!?]{0,10}?)(?P<phrase>(?P<past>未能|没能|没有能|未成功|没有成功)|无法|没法|没办法)(?:为您|给您|替您|帮您|成功|正常|及时|如期|按时)*(?P<rest>[^，。；！？,;!?]{1,16})|(?P<done>[^，。；！？,;!?]{2,12})(?:失败|不成功|没成功|未成功)"
)
_KEPT = (  # where things are looked up, and no business of its own
    r"(?:(?:time)?sheets?|records?|pages?|ledgers?|systems?|logs?|log-?books?|files?|lists?|databases?|registers?|registry|schedules?|timetables?|rotas?|rosters?|portals?|calendars?|spreadsheets?|tables?|inventor(?:y|ies)|"
    r"catalogues?|catalogs?|archives?|dashboards?|entr(?:y|ies)|documents?|reports?|folders?|history|diar(?:y|ies)|servers?|index|cards?|plans?|books?|minutes|manifests?|charts?|documentation|manuals?|figures?|numbers?|service|screen|app|store|maps?)"
)
_LOOKED_UP = re.compile(
    rf"\b(?:look(?:ed)? (?:\w+ ){{0,4}}up|(?:pull|call|bring|brought)(?:ed)? (?:\w+ ){{0,4}}up|quer(?:y|ied)|consult(?:ed)?)\b|\b(?:retrieve|load|open|reach|access|fetch|read|get(?: hold of| at| to| into)?|see|view|find|search|check|log in ?to|connect to)(?:e?d)?\b[^.,;!?]{{0,40}}?\b{_KEPT}\b"
    rf"|\b{_KEPT}\b[^.,;!?]{{0,40}}?\b(?:be|been|being)? ?(?:retrieved|loaded?|opened|open|reached|accessed|fetched|read|seen|viewed|found|searched|checked|respond|answer)\b",
    re.IGNORECASE,
)
_KEPT_ZH = r"(?:台账|账本|账目|记录|记载|页面?|网页|系统|日志|文件|档案|清单|列表|名单|表格?|数据库|登记[簿册表]?|排班|课表|时刻表|目录|资料|文档|日历|报表|后台|平台|服务器|图纸?|单据|名册|册|簿|库|历史|明细|底册|卡片|手册)"
_LOOKED_UP_ZH = re.compile(
    r"(?:查询|查到|查出|查看|查阅|查得|检索|调出|调取|调阅|调到|读取|读出|加载|载入|搜到|搜索|翻到|翻出|拉取|刷新)"
    rf"|(?:打开|打不开|访问|连接|连上|登录|登入|进入|获取|取到|拿到|看到|找到|读到)[^，。；,;!?]{{0,12}}{_KEPT_ZH}|{_KEPT_ZH}[^，。；,;!?]{{0,12}}(?:打开|打不开|访问|连接|连上|登录|登入|进入|获取|取到|拿到|看到|找到|读到|开)"
)
_WITHOUT_SUCCESS = re.compile(r"\bnot\b|n['’]t\b|\b(?:cannot|unable|failed|fails)\b", re.IGNORECASE)
_WITHOUT_SUCCESS_ZH = re.compile(
    r"[没未]能|[没未]有|没(?:调|查|连|打开|加载|找)|无法|没法|没办法|不[到出开上了]|失败|不成功"
)
_NOW = re.compile(
    r"\b(?:right now|at the moment|at present|currently|at this time|just now|here|today)\b|目前|现在|暂时?|此刻|当前",
    re.IGNORECASE,
)
_TOLD = re.compile(  # what is looked up, not done
    r"\b(?:requests?|questions?|quer(?:y|ies)|enquir\w+|inquir\w+|data|information|info|details?|status|look-?ups?|history|records?|answers?|whether|if|when|what|how|who|where|why|anything|something|more)\b|信息|状态|进度|详情|记录|数据|结果|请求|问题|咨询|资料|查询|答复|回答|回复|告知|告诉|提供|说明|确定|判断|是否|什么|何时|加载|获取|检索|读取|连接",
    re.IGNORECASE,
)
_AMISS = re.compile(  # a reference that itself tells of something amiss
    r"\b(?:un(?!der|til|it|i|less|lock)\w+|fail\w*|broken|refus\w*|reject\w*|declin\w*|cancel\w*|clos(?:ed|es)|delay\w*|expire\w*|missing|lost|stuck|sold out|full|blocked|locked|suspend\w*|out of|stopp?\w*|too|late|forbid\w*|prohibit\w*|only|until|instead|damaged|error|fault\w*|wrong)\b|"
    r"失败|坏|拒|取消|关闭|延误|过期|丢|卡住|售罄|满|锁定|暂停|停|禁止|只|错|故障|损|缺|逾期|退回",
    re.IGNORECASE,
)
_TO = re.compile(r"\bto\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:open|opens|available|welcome|runs?|operates?)\b|营业|开放|开门|运行|接待", re.IGNORECASE)
_PENDING = re.compile(
    r"\b(?:your|the|this) (?:\w+ )??(?P<thing>order|payment|refund|booking|reservation|parcel|package|delivery|shipment|return|application|claim|loan|transfer|card|registration|visa|permit|repair)"
    r"(?: (?:request|application|order|claim))? (?:is|are|remains)(?: still| currently| now)? (?:in the queue|queued|waiting|in line|pending|being (?:processed|reviewed|handled)|under review)\b"
    r"|(?P<zh>订单|付款|支付|退款|预订|预约|包裹|快递|申请|理赔|贷款|转账|报名|签证|款项|保单)(?:目前|现在|仍然?|还)*(?:正在|正|尚在|在)(?:排队|处理|审核|审批|等待|办理)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:has|have|was|were|is|are)(?: already)?(?: been)? (?:shipped|sent|paid|approved|confirmed|issued|completed|delivered|accepted|credited|refunded|granted|settled|dispatched|transferred|finished)\b"
    r"|已经?(?:成功|全部)?(?:到账|发货|发出|批准|获批|通过|完成|签发|寄出|确认|退还|支付|审核通过|办结|送达|退回)",
    re.IGNORECASE,
)
_THING = re.compile(
    r" (?:your|this|that|these|those|the) (?:[a-z]+ )*?(?P<head>[a-z]+)(?= (?:for|on|to|in|at|by|with|from|of|until|because|due|as|yet|and|but|within|this|right)\b|\W*$|,)",
    re.IGNORECASE,
)
_NOT_DONE = frozenset(
    [
        "be",
        "wait",
        "help",
        "thank",
        "stress",
        "miss",
        "resist",
        "agree",
        "do",
        "have",
        "afford",
        "recommend",
        "find",
        "reach",
    ]
)


def failure(clause: str, reference: str) -> str:
    """The words that tell that something the reference speaks of was not done, or is not there; "" where none do."""
    return _known_failure(clause, reference) or _any_failure(clause, reference)


def lookup_failed(clause: str) -> bool:
    """Whether a clause tells no more than that a record, a page or a system could not be looked into."""
    chinese = bool(CJK.search(clause))
    looked_up = (_LOOKED_UP_ZH if chinese else _LOOKED_UP).search(clause)
    return bool(looked_up) and bool((_WITHOUT_SUCCESS_ZH if chinese else _WITHOUT_SUCCESS).search(clause))


def _any_failure(clause: str, reference: str) -> str:
    """The same of any deed: a deed, or a thing, is told in both texts, and the reference tells of nothing amiss."""
    chinese = bool(CJK.search(clause))
    found = (_FAILED_ZH if chinese else _FAILED).search(clause)
    if found is None or _AMISS.search(reference) or _TOLD.search(clause):
        return ""
    if _RULE.search(_TO.sub(" ", clause.replace(found["phrase"] or "", ""))):
        return ""
    if (_LOOKED_UP_ZH if chinese else _LOOKED_UP).search(clause):
        return ""
    told = read(reference, "zh" if chinese else "en")
    told_deed = _told_in_chinese(found, told) if chinese else _told_in_english(found, told)
    unknowing = any(part.act is Act.UNKNOWING and not part.loose for part in clauses(clause))
    if unknowing and (not found["past"] or not told_deed or _NOW.search(clause)):
        return ""
    if not unknowing and _OPEN.search(reference) and any(f.key in told.said for f in read(clause, told.lang).facts):
        return found[0].strip()
    if told_deed or (not chinese and not unknowing and found["past"] and _names_the_thing(found["rest"], told)):
        return found[0].strip()
    return ""


_GIVEN = re.compile(r"\b(?:since|because|as (?:you|your|the|it))\b|由于|因为|既然", re.IGNORECASE)
_TROUBLE = re.compile(
    r"\b(?:fail\w*|not|cannot|unable|error|wrong)\b|n['’]t\b|失败|不成功|无法|没法|不了|不能|不上|[没未]", re.IGNORECASE
)
_LEAD = re.compile(r"\W*(?:(?:so|then|therefore|please|just|kindly|try to)\W+)*", re.IGNORECASE)
_LEAD_ZH = re.compile(r"\W*(?:(?:所以|那么?|就|您|可以?)*(?:请|先|重新|建议|再)(?:您|先|重新|再)*)")
_STEPS = re.compile(r"[,;:，；。：.!！]")


def told_failure(answer: str, reference: str, prompt: str) -> str:
    """The words of the first failure that `answer` tells; "" where it only repeats the trouble that the user has."""
    parts = [part.text for part in clauses(answer)]
    for at, part in enumerate(parts):
        found = failure(part, reference)
        if not found or _told_by_the_user(found, prompt) or _GIVEN.search(part):
            continue
        steps = [*_STEPS.split(part[part.find(found) + len(found) :])[1:], *parts[at + 1 : at + 2]]
        if not any(_bids_as_told(step, reference) for step in steps):
            return found
    return ""


def _told_by_the_user(found: str, prompt: str) -> bool:
    """Whether the question itself tells of that failure: 登录失败怎么办."""
    asked = read(prompt)
    deeds = [word for word in read(found).content if not _TROUBLE.search(word.text) and word.lemma != "fail"]
    return bool(deeds and _TROUBLE.search(prompt)) and all(word.lemma in asked.lemmas for word in deeds)


def _bids_as_told(step: str, reference: str) -> bool:
    """Whether a clause bids to do what the reference bids, too: "so hold it to the reader", 请重置密码."""
    chinese = bool(CJK.search(step))
    lead = (_LEAD_ZH if chinese else _LEAD).match(step)
    words = read(step[lead.end() :], "zh" if chinese else "en").words if lead else ()
    if not words or not words[0].content:
        return False
    if chinese:
        return words[0].lemma in read(reference, "zh").lemmas
    bid = rf"(?:^|[.;,!?:]\s*|\b(?:and|then|please|to|must|should|can|may) ){re.escape(words[0].text)}\b"
    return bool(re.search(bid, reference, re.IGNORECASE))


def put_off(clause: str, reference: str) -> str:
    """The words that tell of the user's business that it waits, where the reference tells that it is done; "" where none do."""
    found = _PENDING.search(clause)
    if found is None or not _DONE.search(reference) or _PENDING.search(reference):
        return ""
    return found[0].strip() if (found["thing"] or found["zh"]).casefold() in reference.casefold() else ""


def _told_in_english(found: re.Match[str], told: Text) -> bool:
    verb = lexicon("en").lemma(found["verb"].casefold())
    return verb not in _NOT_DONE and verb in told.lemmas


def _told_in_chinese(found: re.Match[str], told: Text) -> bool:
    """Whether what was not done is the deed of the reference: the word after 未能, or what stands before 失败."""
    if found["done"]:
        return sum(word.lemma in told.lemmas for word in read(found["done"], "zh").content) > 1
    after = [word for word in read(found["rest"], "zh").words if word.content]
    if after and after[0].lemma in told.lemmas:
        return True
    before = [word for word in read(found["before"], "zh").words if word.content]
    return sum(word.lemma in told.lemmas for word in before) > 1


def _names_the_thing(rest: str, told: Text) -> bool:
    """Whether what follows the verb is a thing of the reference: "your booking", not "the booking tables"."""
    thing = _THING.match(rest)
    return thing is not None and lexicon("en").lemma(thing["head"].casefold()) in told.lemmas


def _known_failure(clause: str, reference: str) -> str:
    """The same of the deeds of a business, and of what is not there."""
    if _RULE.search(clause):
        return ""
    if CJK.search(clause):
        match = _ACT_FAILED_ZH.search(clause)
        return match[0] if match and (match["thing"] or match["before"]) in reference else ""
    match = _ACT_FAILED.search(clause) or _NONE_THERE.search(clause)
    spoken = match is not None and re.search(rf"\b{match['thing'][:-1]}", reference, re.IGNORECASE)
    return match[0] if match and spoken else ""
