"""Recognise an answer that says honestly that it is none."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.fidelity.case import Case
from harness.fidelity.reading import acts_en, acts_zh
from harness.fidelity.reading.acts import Act, Clause, asks, clauses, topic
from harness.fidelity.reading.fact import Fact, Kind, NearValues, same
from harness.fidelity.reading.failures import failure, lookup_failed
from harness.fidelity.reading.pair import alike, says
from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.stance import Stance, opening
from harness.fidelity.reading.text import CJK, Word, read

REPEATED = 0.5  # share of what the reference tells from which a clause tells it, too
STRONG = frozenset([Act.UNKNOWING, Act.SYSTEM])  # these make an abstention of an answer that tells nothing else
WEAK = frozenset(
    [Act.RETRY, Act.QUEUE, Act.HANDOVER, Act.FOLLOW_UP]
)  # these, where every clause does something of the kind
_BUSINESS = re.compile(  # a state of the user's business
    r"\b(?:your|the|this|that|an?|all|these|those)\s+(?:\w+\s+){0,2}?(?:order|payment|refund|card|item|product|booking|reservation|flight|parcel|package|ticket|account|invoice|"
    r"subscription|delivery|shipment|return|policy|coupon|room|seat|transaction|transfer|application|claim|loan|medicine|store|shop|office|train|meeting)s?\b"
    r"(?! (?:\w+ ){0,2}?(?:data|date|information|details|status|lookup|system|number|search)\b)[^.!?,;]{0,25}\b(?:was|were|is|are|has been|have been|had|could|can|does|did|will|has|have|failed|expired|bounced|arrived|declined|got|went|shipped|closed)\b",
    re.IGNORECASE,
)
_BUSINESS_ZH = re.compile(
    r"(?:您的|该|此|这个?|本)?(?:订单|付款|支付|退款|银行卡|商品|产品|预订|预约|航班|包裹|快递|车票|机票|账户|账号|发票|会员|优惠券|房间|交易|转账|申请|贷款|门店|库存|列车|会议|款项|保单|理赔|报名|证件|学籍|成绩|合同|工单|挂号|积分|余额|套餐|课程|名额)"
    r"[^。！,，!]{0,6}(?:已被?|被|不|未|没有?|无法|缺货|售罄|失败|取消|拒绝|过期|失效|关闭|暂停|下架|暂无|无)"
    r"|[您你](?:本人)?(?:目前|至今|之前)?(?:尚未|还没有?|没有?|并未|并没有|未曾|从未|未)(?:在[^，。,]{1,6})?(?:成功)?(?:提交|申请|办理|办过|缴纳|缴费|支付|付款|预约|预订|下单|登记|绑定|开通|注册|签署|购买|报名|参保|投保|激活|认证|实名|充值|完成|通过|达到|满足|符合|欠)"
)  # fmt: skip
_LOOKED_UP = re.compile(  # what is not done with something when it is only not told: nobody "retrieves" an order in a shop
    r"retrieved|loaded|displayed|looked up|fetched|shown|determined|found out|obtained|queried|computed|ascertained|获取|查询|加载|读取|检索|调取|拉取|查找"
)
_WONDERED = re.compile(  # what is not known is a question of its own
    r"\b(?:established|determined|confirmed|verified|ascertained|clarified|worked out|found out|said|told|known|clear|certain)\b (?:\w+ )?(?:where|when|whether|who|how|which|what|why|if)\b",
    re.IGNORECASE,
)
_SPOKEN_BY_US = re.compile(
    r"\b(?:i|we|me|us|our|assistant|bot|system|systems)\b|我|系统|助手|客服|这边|暂时|目前|查", re.IGNORECASE
)
_SPEAKS = re.compile(
    r"\b(?:i|we|me|us|our|assistant|bot|system|systems)\b|我|系统|助手|客服|这边|暂时|目前", re.IGNORECASE
)
_FOUND_NOTHING = re.compile(
    r"\b(?:not|no|never)\b[^.!?]{0,25}\b(?:exist|on (?:file|record)|records? (?:of|for|with|under)|matching|such)\b|\b(?:not find|not found|not locate|no)\b (?:(?:an?|any|such|the|your) )?(?:\w+ )?(?:orders?|bookings?|accounts?|passports?|reservations?|customers?|tickets?|records?|entr(?:y|ies)|polic(?:y|ies)|parcels?|copies)\b|(?:不存在|查无|没有该|无此|没有此|没有这个)"
    r"|(?:(?:没有?|并未|未能?|并没有)(?:查询|查|找|搜索|搜|检索|发现)到?(?:到|有)?|(?<!暂时)(?<!目前)(?:系统|库|记录|名单|名下|档案)(?:里|中|内|上)?(?:查|找|搜)不到)(?:任何|相关|符合)?(?:[您你](?:本人)?的|该|此|这[个笔份条张]?)[^，。；,;!?]{0,10}(?:订单|申请|预约|预订|包裹|快递|账户|账号|保单|报名|交易|转账|付款|缴费|退款|记录|合同|工单|会员|挂号|病历|学籍|车票|机票|航班|房间|优惠券|发票)(?![^，。；,;!?]{0,4}(?:信息|数据|状态|进度|详情|结果|情况|资料|时间|金额|编号))",
    re.IGNORECASE,
)
_THEY_RETURN = re.compile(  # somebody who is awaited comes again
    r"\b(?:courier|driver|carrier|postman|technician|engineer|plumber|electrician|cleaner|nurse|doctor|parcel|package|delivery|train|bus|crew)\b(?: \w+)? (?:will|is going to|comes?|calls?|returns?|tries)\b(?! (?:call|ring|phone|write|contact|get|be in touch))",
    re.IGNORECASE,
)
_BIDS = re.compile(  # bids the reader to ask somebody else, and nothing more
    r"^\W*(?:(?:please|kindly|sorry|but|and|so|then|therefore|just|simply|you (?:may|might|could) (?:want|wish|like) to|it is best to|we (?:recommend|advise|suggest)(?: that)? you(?: to)?)\W+)*(?:contact|consult|ask|call|phone|ring|speak (?:to|with)|talk to|check with|turn to|get in touch with|reach out to|email|e-mail|write to|refer to|enquire|inquire)\b"
    r"|^\W*(?:请|烦请|麻烦|建议|还请|可以?|敬请)?(?:您|你)?(?:自行|直接|及时|尽快|先|另行)?(?:联系|咨询|询问|致电|拨打|请教|问问?)",
    re.IGNORECASE,
)
_EMPTY_SEARCH = re.compile(  # a look-up that came back empty
    r"\b(?:no|not any|zero)\b (?:\w+ )?(?:results?|records?|data|entr(?:y|ies)|match(?:es)?|hits?|readings?|values?|information|files?|documents?)\b(?![^.!?]*\b(?:orders?|bookings?|accounts?|reservations?|parcels?|tickets?|polic(?:y|ies))\b)"
    r"|\bnothing (?:came (?:up|back)|turned up|was (?:found|returned))\b|\b(?:search|look-?up|query)\b[^.!?]{0,20}\b(?:empty|nothing|no)\b|(?:没有?|未|无)(?:查|找|搜)?(?:到|询到)?(?:任何|相关|对应|匹配|[您你该此这][^，。；,;!?]{0,8})?的?[^，。；,;!?]{0,3}(?:结果|记录|数据)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:http|status)\W*[45]\d\d\b|\b[45]\d\d\W{1,3}(?:service|gateway|internal|bad|too many|not found)|\b[45]\d\d\W*$",
    re.I,
)
_TRANSPORT = re.compile(  # a mere state of the transport, told without a word to the reader
    r"\btimed? ?out\b|\btimeout\b|\bconnection (?:refused|reset|failed|error)|\bbad gateway\b|\binternal server error\b|超时|连接(?:失败|错误|被拒绝)|错误码|状态码",
    re.IGNORECASE,
)
_COURTEOUS = re.compile(
    r"\b(?:sorry|apolog\w+|unfortunately|afraid|please|try|later|again|retry|i|we|our|answer)\b|请(?!求)|抱歉|对不起|稍后|稍候|重试|不好意思|我|您",
    re.IGNORECASE,
)
_ANSWERS = re.compile(  # what a clause beside an abstention may not do: say yes or no, allow or bid, suppose
    r"^\W*(?:yes|no)\b(?=\W)|\byou (?:can|may|must|need|should|have to|are|do not|could|might|will(?! (?:hear|be (?:contacted|notified|informed|called|told)|get a|receive)))\b|\b(?:think|believe|probably|perhaps|maybe|presumably|likely|seems?|appears?|should be|might be|may be|must be|no need)\b"
    r"|^(?:是的|可以|不可以|不行|能|不能|对)\W|[您你](?:可以|能|必须|需要|应该|要|不能|不用|不必)|大概|应该|可能是|估计|好像|似乎|也许|八成|想必|无需|不必",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^\W*(?:(?:and|but)\s+)?(?:if|when|whenever|unless|in case|should|once|where|as long as)\b|如果|若|假如|要是|一旦|倘若|除非",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(  # a fault that may come, and what is to be done then
    r"^\W*(?:if|when|whenever|in case|should|once)\b|^\W*(?:如果?|若|当(?![前天日下])|遇到?|万一|一旦|要是|假如)|(?:异常|故障|错误|繁忙|中断|失败|超时|不稳定|断开|出错)(?:时|的话|的时候|后)(?!间|刻)",
    re.IGNORECASE,
)
_UNABLE = re.compile(
    r"\b(?:unable to|not able to|can not) (?!\w+ (?:you|that|this)\b)[a-z]+|(?:无法|不能|没法)(?!回答|确认|查|提供)[\u4e00-\u9fff]"
)
_STOPPED = re.compile(
    r"(?P<what>[\u4e00-\u9fff\d]{2,8})服务(?:已|今日|今天|目前|暂时)*(?:暂停|中断|停止|取消|停运|关闭)"
)
_PUT_OFF = re.compile(
    r"\b(?:try|again|later|back|contact|not|unable|sorry)\b|稍后|稍候|再试|重试|无法|不能|抱歉|联系|等待", re.IGNORECASE
)
_ENVELOPE = re.compile(  # fields of an answer that tell of the answering, not of the business
    r"status|state|error\w*|err|code|message|msg|detail|details|reason|note|notes|hint|info|retry\w*|degraded|fallback|ok|success|available|trace\w*|request_?id|timestamp|source|type|title|explanation|comment|warning|queue\w*|"
    r"eta\w*|wait\w*|ticket\w*|contact|support|confidence|状态|消息|信息|提示|说明|原因|错误\w*|代码|重试\w*|降级|备注|编号|工单\w*|详情|结果|成功",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"(?:\w+_)*(?:unavailable|error|failed|failure|degraded|timeout|busy|down|unknown|abstained?|no_answer|unanswered|not_available|overloaded|queued|pending|retry|maintenance|fallback|unable|offline|service_unavailable)(?:_\w+)*|失败|错误|不可用|暂不可用|繁忙|降级|未知|异常|超时|维护中?|无法回答|排队中",
    re.IGNORECASE,
)


_SENDING = WEAK | {Act.REFERRAL}
_GUESS = re.compile(
    r"\b(?:about|around|roughly|approximately|probably|perhaps|maybe|think|believe|guess|should|likely|usually|normally|generally|typically|up to|at least|at most)\b|大概|大约|约|左右|好像|应该|估计|可能|似乎|一般|通常|也许|最多|最少|至少",
    re.IGNORECASE,
)
_TO_US = re.compile(  # what is asked, and who answers here
    r"\b(?:questions?|requests?|quer(?:y|ies)|enquir\w+|inquir\w+|messages?|chats?|answers?|repl(?:y|ies)|support|customer (?:service|care)|service (?:desk|team)|help ?desk|hotline|our (?:\w+ )?(?:team|staff|colleagues?|agents?|office|desk)|colleagues?|agents?|human|representatives?|advisers?|advisors?|later|again in|moment|soon|shortly)\b"
    r"|咨询|请求|问题|提问|留言|客服|人工|专员|同事|工作人员|稍后|稍候|稍等|热线|回复|答复|再试|重试",
    re.IGNORECASE,
)
_QUEUED = re.compile(  # a state of the user's business that is told as if he waited for an answer
    r"\b(?:your|the|this) (?:\w+ )??(?P<thing>order|payment|refund|booking|reservation|parcel|package|delivery|shipment|return|application|claim|loan|transfer|card|appointment|registration|subscription|cancellation|visa|permit|repair|complaint)s?(?: (?:request|application|order|claim))?"
    r"\b(?! (?:\w+ )?(?:questions?|enquir\w+|inquir\w+|quer(?:y|ies)|data|details?|status|information|messages?)\b)(?: (?:itself|still|now|currently))* (?:is|are|was|has been|waits|remains|will be)\b(?! (?:being )?(?:looked|checked|forwarded|passed))",
    re.IGNORECASE,
)
_QUEUED_ZH = re.compile(
    r"(?P<thing>订单|付款|支付|退款|预订|预约|包裹|快递|申请|理赔|贷款|转账|报名|挂号|证件|保单|款项|签证|维修|退货|换货|投诉)(?!(?:的)?(?:咨询|问题|请求|查询|信息|状态|进度|详情|数据|结果|情况|资料))(?:目前|现在|仍然?|还|已经?)*(?:正在?|在|尚在|进入)?(?:排队|队列|处理|审核|等待|办理|受理|审批)"
)


class Abstention(NamedTuple):
    """How an answer abstains, or does not."""

    cue: str  # the words that say so; "" where nothing does
    pure: bool  # nothing else is claimed
    unknowing: bool = False  # whether it says that something is not known, not only that the service does not work
    fields: bool = False  # whether it is a JSON object
    answers: bool = False  # whether it tells that something asked for was not done, or is not there: no abstention


NONE = Abstention("", pure=False)


def abstention(case: Case) -> Abstention:
    """Whether the candidate declares itself no answer."""
    values = _object(case.candidate)
    return _in_words(case.candidate, case) if values is None else _in_fields(values, case)._replace(fields=True)


@remembered
def admission(text: str) -> str:
    """The words with which `text` says that it does not know, or cannot be told now; "" where none does.

    What would be unknown under a condition ("if we cannot tell, you pay nothing") is no admission.
    """
    parts = clauses(text)
    silent = all(
        part.act is not None and not read(part.text).facts for part in parts
    )  # a server's fault that is the answer is no admission
    found = (c.cue for c in parts if (c.act is Act.UNKNOWING and not c.loose) or (c.act is Act.SYSTEM and silent))
    return "" if any(_CONDITION.search(part.text) for part in parts) else next(found, "")


def cue(text: str) -> str:
    """The words with which `text` says that it is no answer; "" where it does not."""
    return next((c.cue for c in clauses(text) if c.act in STRONG or c.act in WEAK), "")


def _in_words(candidate: str, case: Case) -> Abstention:
    if (_TRANSPORT.search(candidate) or _CODE.search(candidate)) and not _COURTEOUS.search(candidate):
        return NONE
    read_as = clauses(candidate)
    both = _sides(case.reference, case.prompt, case.lang)
    if any(failure(part.bare or part.text, case.reference) for part in read_as):
        return Abstention("", pure=False, answers=True)
    if all(part.act not in STRONG and part.act not in WEAK for part in read_as):
        if _answers_a_referral(read_as, case.reference) or any(_turns_away(part, both) for part in read_as):
            return Abstention("", pure=False, answers=True)
        return _referred(read_as, both, case.reference)
    if _contradicts(read_as, both, case.reference):
        return Abstention("", pure=False, answers=True)
    parts = _causes([_genuine(part, both) for part in read_as])
    strong = [part for part in parts if part.act in STRONG]
    chosen = strong or [part for part in parts if part.act in WEAK]
    if not chosen:
        return NONE
    pure = not any(_tells(part, both, beside=bool(strong)) for part in parts)
    if not strong and _says_yes_or_no(candidate) and not any(_SPEAKS.search(part.text) for part in chosen):
        return Abstention(chosen[0].cue, pure=False, answers=True)
    unknowing = any(part.act is Act.UNKNOWING for part in strong)
    return Abstention(chosen[0].cue, pure=pure, unknowing=unknowing)


def _says_yes_or_no(text: str) -> bool:
    """Whether an answer begins with a yes or a no."""
    first = opening(text)
    return first is not None and first.stance in (Stance.YES, Stance.NO)


def _causes(parts: list[Clause]) -> list[Clause]:
    """The clauses; "no results were found" is the cause where somebody says that he therefore cannot tell."""
    if not any(p.act is Act.UNKNOWING and not p.loose and _SPEAKS.search(p.text) for p in parts):
        return parts
    return [p._replace(act=Act.POLITE, cue="", own="") if p.act is None and _is_cause(p.bare) else p for p in parts]


def _is_cause(text: str) -> bool:
    """Whether a clause tells why there is no answer, or when to ask again: neither is one."""
    return bool(_EMPTY_SEARCH.search(text) or _ASK_AGAIN.search(text)) or lookup_failed(text)


_ASK_AGAIN = re.compile(
    r"\b(?:ask|try|enquire|inquire|check|come back|get back)\b[^.;!?]{0,30}\b(?:again|once more|back|later|in (?:an?|half|a quarter|\w+) \w+)\b"
    r"|再(?:来|过来)?(?:问|试|查|查询|联系|找)(?:我|我们)?(?:一?[次下遍试问])?(?:吧)?[。！!]?$",
    re.IGNORECASE,
)


class Sides(NamedTuple):
    """What an answer is held against."""

    content: Sequence[Word]  # content words of the reference
    told: Sequence[Word]  # of those, the ones that are not in the question
    asked: Sequence[Word]  # content words of the question
    words: Sequence[Word]  # all words of the reference


@remembered
def _sides(text: str, prompt: str, lang: str | None) -> Sides:
    asked, reference = read(prompt, lang), read(text, lang)
    told = [w for w in reference.content if not says(asked, w)]
    return Sides(reference.content, told, asked.content, reference.words)


def _contradicts(parts: Sequence[Clause], both: Sides, reference: str) -> bool:
    """Whether a clause gives another value or state than the reference, in spite of words of abstaining elsewhere or in it."""
    if any(_in_business(part, reference) for part in parts if part.act in WEAK):
        return True
    if any(part.act in STRONG for part in parts):
        return any(_another_value(part, both) for part in parts if part.act in (None, Act.UNKNOWING))
    return _answers_a_referral(parts, reference)


def _another_value(part: Clause, both: Sides) -> bool:
    """Whether a clause gives what the reference tells another value, not one of the question: "about ten days"."""
    ours = [word.fact for word in both.content if word.fact]
    kinds = {(fact.kind, fact.unit) for fact in ours if fact.kind not in (Kind.NUMBER, Kind.IDENTIFIER)}
    known = NearValues([*ours, *(word.fact for word in both.asked if word.fact)])
    others = [f for f in read(part.bare).facts if (f.kind, f.unit) in kinds and not known.says(f)]
    return bool(others) and (bool(_GUESS.search(part.bare)) or _shared(part.bare, both.content) >= 1)


def _turns_away(part: Clause, both: Sides) -> bool:
    """Whether a clause tells that something is not done at the time the reference names: "unable to welcome you on Mondays"."""
    return bool(_UNABLE.search(part.bare)) and any(_spoken_of(fact, both) for fact in read(part.bare).facts)


def _in_business(part: Clause, reference: str) -> bool:
    """Whether it is the user's business that is put off, and not the question: 您的退款正在排队处理."""
    found = (_QUEUED_ZH if CJK.search(part.bare) else _QUEUED).search(part.bare)
    return found is not None and found["thing"].casefold() in reference.casefold()


def _answers_a_referral(parts: Sequence[Clause], reference: str) -> bool:
    """Whether reference and answer both send the reader somewhere, or put him off, so that they are compared as any answers.

    Who is handed to ourselves, with what he asked, has got no answer.
    """
    theirs = {part.act for part in clauses(reference)} & _SENDING
    theirs |= {Act.REFERRAL for part in clauses(reference) if _BIDS.search(part.text)}
    ours = [part for part in parts if part.act in theirs or (Act.REFERRAL in theirs and _BIDS.search(part.text))]
    return any(read(part.text).facts or not _TO_US.search(part.text) for part in ours)


def _referred(parts: Sequence[Clause], both: Sides, reference: str) -> Abstention:
    """For clauses that only bid the reader to ask somebody else, where that is not what the reference does."""
    refers = [part for part in parts if part.act is Act.REFERRAL and _BIDS.search(part.text)]
    others = [part for part in parts if part.act is not Act.POLITE and part not in refers]
    if not refers or others or any(part.act in (Act.REFERRAL, Act.HANDOVER) for part in clauses(reference)):
        return NONE
    if any(_genuine(part, both).act is None for part in refers):
        return NONE
    return Abstention(refers[0].cue, pure=True)


def _genuine(part: Clause, both: Sides) -> Clause:
    """The clause without its act, where that act is what the reference is about: the hotline asked for is "not available"."""
    if part.act is Act.SYSTEM and _SUPPOSED.search(part.bare) and not _PUT_OFF.search(part.bare):
        return part._replace(act=None, cue="", own="", loose=False)
    if (
        part.act is Act.SYSTEM
        and (stopped := _STOPPED.search(part.bare))
        and _shared(stopped["what"], both.content) >= 1
    ):
        return part._replace(act=None, cue="", own="", loose=False)
    if part.act in STRONG:
        business = (_BUSINESS_ZH if CJK.search(part.bare) else _BUSINESS).search(part.bare)
        theirs = bool(business) and not _SPOKEN_BY_US.search(part.bare) and not topic(part.bare)
        theirs = theirs and not _LOOKED_UP.fullmatch(part.own) and not _WONDERED.search(part.bare)
        theirs = theirs or bool(_FOUND_NOTHING.search(part.bare))
        theirs = theirs or (part.loose and _answers_instead(part.bare, both))
        ours = part.act is Act.UNKNOWING and _SPEAKS.search(part.text)
        if theirs or (part.own and not ours and _shared(part.own, both.content)):
            return part._replace(act=None, cue="", own="", loose=False)
    elif part.own and (
        _repeats(part.own, both.told)
        or _measures(part.own, both)
        or (part.act is Act.RETRY and _THEY_RETURN.search(part.own))
    ):
        return part._replace(act=None, cue="", own="", loose=False)
    return part


def _answers_instead(text: str, both: Sides) -> bool:
    """Whether a clause of somebody who denies is an answer: in the reference somebody speaks for himself, too, or it gives a value."""
    spoken = any(table.OURSELVES.fullmatch(word.text) for table in (acts_en, acts_zh) for word in both.words)
    own = any(table.OURSELVES.search(text) for table in (acts_en, acts_zh))
    if not own and _shared(text, both.content) > 1:
        return True
    return spoken or bool(read(text).facts) or bool(_ANSWERS.search(text)) or _repeats(text, both.told)


def _weight(word: Word) -> float:
    """A Chinese character that is no known word counts half."""
    return 0.5 if len(word.text) == 1 and CJK.match(word.text) else 1.0


def _shared(text: str, told: Sequence[Word]) -> float:
    """How many of the words that the reference tells `text` says, too."""
    said = [word for word in read(text).words if not word.mark]
    return sum(_weight(word) for word in told if any(alike(word, other) for other in said))


def _repeats(text: str, told: Sequence[Word]) -> bool:
    """Whether `text` says most of what the reference tells: "the complaint was forwarded to Tom" is an answer."""
    said = read(text).words
    shared = sum(_weight(w) for w in told if any(w.lemma == o.lemma or (w.fact and alike(w, o)) for o in said))
    return shared > 1 or shared > REPEATED * sum(map(_weight, told))


def _measures(text: str, both: Sides) -> bool:
    """Whether a clause that puts off gives a value to what was asked: "please wait 5 minutes before you add the milk"."""
    facts = read(text).facts
    kinds = {word.fact.kind for word in both.content if word.fact} - {Kind.NUMBER, Kind.IDENTIFIER}
    if any(word.fact and same(word.fact, fact) for word in both.told for fact in facts):
        return True
    if not any(fact.kind in kinds for fact in facts):
        return False
    said = {word.lemma for word in read(text).words if not word.mark}
    return _shared(text, both.asked) >= 1 if both.asked else any(w.lemma in said for w in both.told if not w.fact)


def _tells(part: Clause, both: Sides, *, beside: bool) -> bool:
    """Whether a clause answers. `beside`: another one says that there is no answer."""
    if part.act is not None:
        return False
    short = len(re.findall(r"[\u4e00-\u9fff]|\w+", part.bare)) <= (3 if CJK.search(part.bare) else 2)
    foreign = [f for f in read(part.bare).facts if not any(w.fact and same(w.fact, f) for w in both.asked)]
    if foreign and not (beside and asks(part.bare) and all(_spoken_of(f, both) for f in foreign)):
        return True
    if topic(part.bare):
        return False
    if not beside:
        return not short
    return bool(_ANSWERS.search(part.bare)) or _repeats(part.bare, both.told) or _states(part.bare)


def _spoken_of(fact: Fact, both: Sides) -> bool:
    """Whether the reference has the value, too, as the question has: the number of a house."""
    return any(w.fact and same(w.fact, fact) for w in both.content)


def _states(text: str) -> bool:
    """Whether a clause tells a state of the user's business."""
    return bool((_BUSINESS_ZH if CJK.search(text) else _BUSINESS).search(text)) or bool(_FOUND_NOTHING.search(text))


def _object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _in_fields(values: dict[str, Any], case: Case) -> Abstention:
    """For a JSON object: what it holds is empty, tells of the answering, or abstains in words."""
    wanted = _object(case.reference) or {}
    both = _sides(case.reference, case.prompt, case.lang)
    found = NONE
    for key, value in _leaves(values):
        if value is None or value is False or value in ("", [], {}):
            continue
        said = _in_words(value, case) if isinstance(value, str) else NONE
        failed = isinstance(value, str) and _FAILED.fullmatch(value.strip()) is not None
        envelope = _ENVELOPE.fullmatch(key) is not None and key not in wanted
        if not (said.pure or (envelope and (failed or not isinstance(value, str) or _harmless(value, both)))):
            return Abstention(found.cue, pure=False)
        if said.pure or failed:
            found = Abstention(said.cue or str(value), pure=True, unknowing=found.unknowing or said.unknowing)
    return found


def _leaves(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value)
        else:
            yield key, value


def _harmless(text: str, both: Sides) -> bool:
    """A mere name or number, or clauses that tell nothing."""
    return " " not in text.strip() or not any(_tells(_genuine(part, both), both, beside=True) for part in clauses(text))
