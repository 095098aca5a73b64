"""A clause that tells of the user's business that it was not done, or is not there: no failed look-up, so an answer."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re

from harness.fidelity.reading.text import CJK

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
    r"\b(?:before|until|unless|without|after|if|when|only|outside|except|once|where|while|than|to)\b(?! (?:us|me|process|complete|accept|approve|ship|send|deliver|book|make|take|charge|refund|transfer|pay|cancel|renew|register|issue|grant|release|settle)\b)|(?<!目)前|才|除非|只|如果|若|超过|以后|的话|(?<![暂及按同准即])时(?!间|候)|没有.*(?:就|则|不能)",
    re.IGNORECASE,
)


def failure(clause: str, reference: str) -> str:
    """The words that tell that something the reference speaks of was not done, or is not there; "" where none do."""
    if _RULE.search(clause):
        return ""
    if CJK.search(clause):
        match = _ACT_FAILED_ZH.search(clause)
        return match[0] if match and (match["thing"] or match["before"]) in reference else ""
    match = _ACT_FAILED.search(clause) or _NONE_THERE.search(clause)
    spoken = match is not None and re.search(rf"\b{match['thing'][:-1]}", reference, re.IGNORECASE)
    return match[0] if match and spoken else ""
