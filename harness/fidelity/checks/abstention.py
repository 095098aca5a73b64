"""Recognise an answer that says honestly that it is none."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.fidelity.case import Case
from harness.fidelity.reading.pair import alike
from harness.fidelity.reading.text import CJK, Word, read

REPEATED = 0.6  # share of what the reference tells from which an answer that says it is no abstention
_SORRY = r"(?:sorry|apolog\w+|unfortunately|regret\w*)"
_TASK = (
    r"(?:answer|help|assist|respond|reply|process|handle|retrieve|access|look (?:that|this|it|up)|look up|check|provide|complete|confirm|verify|"
    r"determine|fetch|reach|load|generate|tell|say|give|get|pull up|serve|connect|find out|comment|discuss|share|advise|do that|do this)"
)
_OURS = (
    r"(?:service|system|systems|assistant|server|servers|bot|chatbot|agent|agents|site|website|platform|model|engine|ai|answer|answers|response|responses|"
    r"information|line|lines|support|help desk|lookup|search|chat|api|backend|function|feature|data|database|details)"
)
_LATER = r"(?:right now|at the moment|at this (?:time|moment|point)|currently|just now|for now|temporarily|momentarily|presently|yet|today)"
_SELF = r"(?:i|we|our \w+(?: \w+)?|this (?:assistant|service|chat|bot|tool)|the (?:assistant|system|service|bot|tool|search|lookup))"
_WANTING = (  # what stands in for an answer that somebody could not give
    r"(?:can ?not|can't|couldn't|could not|unable|not able|having trouble|have trouble|struggling|failing|failed|not equipped|not in a position|no access|do not have access|don't have access|"
    r"beyond|outside|not (?:sure|certain)|don't know|do not know|haven't (?:got|found)|didn't (?:get|find|manage))"
)
_EN = [
    r"\b(?:i|we)\s+(?:can't|can ?not|couldn't|could not|am unable to|are unable to|won't be able to|am not able to|are not able to)\s+\w+\s+(?:this|that|it|these|those|your (?:question|request|message))\b",
    r"\b(?:could not|cannot|can't|couldn't) be (?:determined|found out|resolved|worked out)\b|\b(?:insufficient|not enough) (?:information|data|details)\b",
    rf"\b{_SELF}\b[^.!?]{{0,30}}\b{_WANTING}\b[^.!?]{{0,40}}\b(?:answer|question|information|this one|details?|look|find out|tell|say)\b",
    r"\b(?:question|request|answer|reply|enquiry|inquiry|query|message)\b[^.!?]{0,30}\b(?:(?:have|has|need|must|will|'ll) (?:to )?wait|unanswered|pending|in line|open for now|next in turn)\b",
    r"\b(?:put|get|pass|hand|patch|send|switch) you (?:through|over|on to|along|across)\b|\bbeyond (?:what (?:i|we)|my|our|me)\b|\b(?:i|we|search|system|service|lookup|assistant|tool|line)(?:'m|'re)?\b[^.!?]{0,12}\bhaving (?:trouble|problems|difficult\w+|issues)\b",
    r"\b(?:try|ask|resubmit)\b[^.!?]{0,25}\b(?:again|later|once more)\b|\bretry\b|\b(?:check|come|call|write|message|contact us|return|answer|reply)\s*(?:us\s|back\s|again\s)*(?:later|shortly|soon|in a (?:few|little|moment|while|bit|minute|couple)|in \w+ (?:minutes|seconds|hours?)|after (?:a few|some|a short))\b",
    r"\bno (?:response|reply|answer)\b[^.!?]{0,20}\b(?:obtained|received|produced|returned|yet)\b|\bbeyond what (?:i|we) can\b|\bhave to pass\b|\bpaused\b|\bcapacity is exhausted\b|\bhave to ask again\b",
    rf"\b(?:i|we|the {_OURS}|our {_OURS}|this {_OURS}|it)\b[^.!?]{{0,40}}\b(?:can ?not|can't|couldn't|could not|(?:am|are|is|was|were) (?:not able|unable)|isn't able|aren't able|wasn't able|weren't able|unable|won't be able|not in a position)\b(?: to)?[^.!?]{{0,20}}\b{_TASK}\b",
    rf"\bunable to {_TASK}\b",
    rf"\b(?:can ?not|can't) {_TASK}\b[^.!?]{{0,40}}\b{_LATER}\b",
    rf"\b{_OURS}\b[^.!?]{{0,30}}\b(?:busy|overloaded|unavailable|not available|down|offline|at capacity|under maintenance|out of service|degraded|unreachable|not responding|limited|swamped|in high demand|full)\b",
    r"\b(?:high|heavy|unusual|exceptional\w*|very high|peak)\s+(?:demand|load|traffic|volume|call volume|number of requests)\b",
    r"\b(?:i|we) (?:do not|don't|did not|didn't) (?:currently |yet |actually )?(?:know\b|have (?:any|enough|access|an answer|sufficient|details|information|up-to-date|live|reliable|a reliable|a confirmed)\b|have (?:that|this|the|your|current|those|these)\b[^.!?]{0,25}\b(?:information|details?|answers?|data|figures?|numbers?|facts?|records?|status|knowledge|access|info)\b|have (?:that|this)\b(?=\W*(?:$|[.!?]|right now|at the moment|yet|here)))",
    r"\bno (?:answer|response|information|reliable answer|data) (?:is |was |could be |can be )?(?:available|given|possible|produced|generated)\b|\bno (?:reliable )?(?:answer|information) (?:right now|at the moment|at this time)\b",
    r"\b(?:request|question|message|query|ticket|inquiry|enquiry|call)\b[^.!?]{0,30}\b(?:queued?|in (?:the|a|our) queue|waiting list|on hold|recorded|logged|noted|could not be (?:answered|processed|handled|completed|served)|cannot be (?:answered|processed|handled|completed|served)|can not be (?:answered|processed|handled|completed|served)|was not (?:answered|processed)|refused|not processed|has been (?:received|saved))\b",
    r"\bnumber \w+ in (?:line|the line|the queue|our queue)\b|\b(?:next|\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth) in (?:line|(?:the |our )?queue)\b|\b(?:your )?position\b[^.!?]{0,20}\b(?:queue|line)\b|\b(?:people|callers|customers|requests|users|guests|others) (?:are )?(?:ahead|before|in front) of you\b|\b(?:your|it's your|it is your) turn\b",
    r"\b(?:there is|there's|there was|we have|i have|i see|i find|i found|here is|i've)? ?(?:no|not any|nothing) (?:information|info|details?|data|record|entry|word)s? (?:about|on|regarding|concerning|for|of|available|here)\b|\b(?:more|too many|a lot of|many) (?:requests|questions|calls|messages|visitors|queries|inquiries|enquiries) (?:than|at once|right now|at the moment|just now|to handle)\b",
    r"\b(?:isn't|is not|aren't|are not|not) (?:working|responding|reachable|answering|online|available)\b[^.!?]{0,20}\b(?:right now|at the moment|currently|just now|try)\b|\b(?:lookup|system|search|tool|assistant|service|server|database|connection)\b[^.!?]{0,15}\b(?:isn't|is not) (?:working|responding|reachable|answering|online)\b|\b(?:taking over|takes over|will take it from here|pick(?:s|ed|ing)? (?:this|it) up|look(?:s|ing)? into (?:it|this|that|your))\b|\b(?:agents?|colleagues?|staff|team|operators?|advisors?|everyone)\b[^.!?]{0,20}\b(?:busy|engaged|occupied|on (?:other|another) calls?|(?:talking|speaking|helping|serving|assisting|with)\b[^.!?]{0,12}\bother)\b",
    r"\b(?:large|high|huge|big|great|unusual) (?:number|amount|volume) of (?:requests|questions|calls|messages|visitors|queries|inquiries|enquiries)\b|\b(?:has|have|is|was|been)\b[^.!?]{0,15}\b(?:handed over|passed on|passed along|escalated|forwarded)\b|\b(?:can't|cannot|can not|unable to|couldn't|could not) (?:get (?:to|at|into)|open|see|view|read|find|query|pull)\b[^.!?]{0,40}\b(?:now|moment|present|currently)\b|\bgive us (?:a|some|a few) (?:minutes?|moments?|more|time|while)\b|\bcan ?not (?:be )?(?:answered|checked|confirmed|verified|determined|looked up)\b|\b(?:beyond|outside) (?:my|our|what i)\b|\bno idea\b|\bi(?: would|'d) have to guess\b|\b(?:have|has|having) trouble (?:reaching|connecting|loading|finding|getting|accessing)\b",
    r"\bno (?:means|way|possibility) (?:of|to)\b[^.!?]{0,20}\b(?:check|know|tell|verif|look|confirm|find|access)\w*|\b(?:too|very|extremely|rather|currently) (?:busy|overloaded|occupied)\b|\b(?:waiting|wait|are|is|standing) in line\b|\bin line behind\b|\bbehind \d+ other|\b(?:can't|cannot|can not|couldn't|could not) be (?:confirmed|checked|verified|answered|determined|looked up|retrieved|given|told|established)\b|\b(?:have|has|i've|we've)? ?(?:asked|told|informed|notified|alerted) (?:a|my|our|the) (?:colleagues?|team|specialist|supervisor|staff|agent|expert)\b",
    r"\b(?:service|assistant|system|bot|agents?|line|chat|help desk)\b[^.!?]{0,12}\b(?:resting|asleep|sleeping|paused|suspended|on (?:a )?break)\b|\bcheck back\b|\b(?:nobody|no one|no agent|no colleague|no operator)\b[^.!?]{0,15}\b(?:can|is able|is free|is available|could)\b[^.!?]{0,20}\b(?:answer|help|reply|respond|check|now|moment|present)\b|\b(?:saved|kept|noted|recorded|logged|registered|stored|parked) your (?:question|request|message|query)\b|\b(?:i|we) (?:lack|am missing|are missing|miss) (?:the|any|that|enough|sufficient|access)\b|\b\d+ (?:\w+ )?(?:requests|people|callers|customers|users|others|guests|questions) (?:are )?(?:before|ahead of|in front of) (?:you|yours)\b|\b(?:your )?place in (?:the )?(?:line|queue)\b|\bhave no (?:knowledge|idea|clue|access|record|insight|answer)\b|\bhang tight\b|\bstay (?:on|in) (?:the )?(?:line|chat|call)\b",
    r"\b(?:in|into|to) (?:the|a|our) queue\b|\bqueued\b|\bplace in (?:the )?queue\b",
    r"\b(?:transfer|forward|hand|pass|connect|escalat|rout|direct|put)\w*\b[^.!?]{0,40}\b(?:human|agent|colleague|representative|specialist|person|team|advisor|adviser|support|staff|member)\b",
    r"\b(?:will|'ll) (?:get back|reply|respond|follow up|be in touch|answer|contact you|write to you|come back to you|call you back|email you|write back|call back|get in touch|reach out|message you|let you know|take care of)\b|\b(?:is|are) in our inbox\b",
    r"\b(?:that|it|this) is not (?:certain|known|clear|sure)\b|\b(?:i|we) (?:only|just) know\b|\b(?:i|we) (?:can ?not|can't) (?:say|tell|read|see|know|be sure)\b",
    r"\b(?:i am|i'm|we are|we're) (?:not sure|not certain|unsure|uncertain)\b|\bi (?:really )?don't know\b|\bcannot say\b|\bcan't say\b|\bnot able to say\b",
    r"\b(?:too many requests|over capacity|rate limit reached|running in (?:reduced|degraded|limited) mode|degraded mode|reduced (?:mode|service)|fallback mode|out of capacity)\b",
    r"\bthis is (?:not an answer|an automated|an automatic)\b|\bno answer\b|\bnot an answer\b|\bplease (?:hold|wait|bear with|stand by)\b|\bservice unavailable\b|\btemporarily (?:unavailable|out of service|offline|suspended)\b",
    r"\b(?:decline|refuse|reject|turn away|not accept|put off)\w*\b[^.!?]{0,25}\b(?:request|question|query|inquiry)",
    r"\bsomething went wrong\b|\bout of my reach\b|\bnot (?:currently )?available to me\b|\b(?:would|'d) rather not (?:guess|say)\b",
    r"\b(?:answer|response|request|question)\b[^.!?]{0,25}\b(?:failed|timed out|took too long|could not|not be|not possible|declined)\b",
]  # fmt: skip
_ZH = [
    r"(?:信息|资料|数据|依据|线索)(?:不足|不够|有限|缺失)|(?:无法|不能|没法)(?:作答|确认|确定|判断|核实)|不敢(?:乱|妄|瞎)",
    r"(?:资源|容量|负载|并发|算力|流量|配额)[^。！,，]{0,6}(?:不足|过高|过大|已满|耗尽|有限|紧张|超限)|请求[^。！,，]{0,4}未被?(?:处理|受理|执行)|(?:仅|只)能回答|帮不上忙|帮不了|"
    r"请(?:您)?重新(?:提问|发送|尝试|提交|发起)|(?:我们|系统|服务|这边)[^。！,，]{0,6}出(?:了|现)?(?:一?点|些)?(?:问题|故障|状况|错)|给不了|答不[出了上]|无从(?:得知|判断|回答)|限流|"
    r"(?:秒|分钟|小时)(?:后|之后)(?:再|重)(?:试|来|问|查)|请再(?:试|问|查)|(?:请|可)(?:您)?(?:直接)?(?:联系|咨询|拨打|转)(?:人工|客服|在线客服)|(?:助手|客服|机器人)[^。！,，]{0,4}休息|留言已",
    r"(?:还|尚|目前)?(?:不能|无法|难以|不好)(?:确定|判断|得知|知道|确认|断定)|说不准|查不到|查不了|还不好说|结果未知",
    r"(?:请|可|您|建议|麻烦)?(?:稍后|稍候|过一会儿?|过会儿?|晚些时候?|晚点|过几分钟|几分钟后|等一下|片刻后|过后|改日|一会儿)[^。！]{0,6}(?:再|重|试|来|联系|查|问|提问|访问)",
    r"(?:暂时|暂|目前|现在|当前|此刻|一时|眼下|很抱歉|抱歉|对不起|我们?|本?系统|本?助手|小助手)[^。！,，]{0,8}(?:无法|不能|没办法|没法|未能|不便|难以|无力|答不了|回答不了|处理不了|查不到|帮不了)",
    r"(?:无法|不能|没法|没办法|未能)(?:为您|给您|向您|在此|立即|及时|直接|准确|马上|给出|作出|做出)?(?:回答|回复|答复|提供|处理|查询|获取|确认|访问|完成|连接|解答|生成|核实|响应|给出|查到|调取|受理|服务|帮助|判断|告知|作答|应答)",
    r"(?:系统|服务器?|线路|坐席|客服|助手|模型|平台|后台|网络|接口|人工|机器人|引擎|资源)[^。！,，]{0,8}(?:繁忙|忙碌|忙|维护|升级中|过载|负载|拥堵|不可用|降级|故障|异常|暂停|受限|满|紧张)",
    r"(?:咨询|请求|访问|提问|来电|用户|排队)(?:量|人数|者|的人)?[^。！,，]{0,3}(?:较多|过多|太多|很多|过大|较大|激增|过高|拥挤|爆满)",
    r"(?:没有?|无)权限?(?:查|看|访问|获取|回答|透露)|(?:坐席|人工|客服|专员|同事|工作人员)[^。！,，]{0,12}(?:接入|接通|接待|接手)|(?:不要|请勿|别)(?:离开|关闭|挂断)|(?:没有?|未)(?:查|找|搜)到(?:相关|任何|有关|这方面)|(?:已|会|将)(?:经)?(?:请|让|由|找)(?:同事|专员|主管)|(?:答|查|核实|确认)不[了到出上]|(?:忙不过来|应接不暇)|前面(?:还)?有[^。！,，]{0,4}(?:位|人|个)|排(?:在|到)?第|第[\d一二三四五六七八九十]+(?:位|个)(?:排|等|，|。|$)|轮到(?:您|你)|(?:人|咨询|请求|提问)[^。！,，]{0,4}(?:较多|太多|很多|多)|(?:查|联系|访问|连)不(?:到|上|了)|(?:没有|无)(?:这|那|任何)?(?:方面|项|条)?的?(?:相关)?(?:信息|资料|记录|数据)|(?:没法|无法|不能)[^。！,，]{0,4}(?:确认|回答|答复|核实|查)|(?:转交|转给|交给|移交)[^。！,，]{0,6}(?:同事|专员|人工|客服|团队|部门)|(?:同事|专员)(?:会|将)?[^。！,，]{0,6}(?:跟进|回复|联系|处理)|超出[^。！,，]{0,6}(?:范围|能力)|(?:不|没)(?:便|好|能)(?:回答|透露|说)",
    r"排队|队列|转接?(?:至|到|给|为)?(?:您)?(?:的)?(?:人工|专员|客服|同事|专人|工作人员)|转人工|人工客服(?:会|将|稍后)|(?:会|将)(?:尽快|稍后|随后|在)[^。！,，]{0,10}(?:回复|答复|联系|回电|跟进|处理)",
    r"(?:我|我们|这边)?(?:不太?清楚|不大清楚|不敢(?:乱|妄|随便|肯定)|不好说|不知道|不确定|不太确定|不了解|不掌握|没有掌握)|(?:没有|暂无|缺少|尚无|没能找到|未找到|找不到)(?:相关|足够|该|这方面|这个|对应|可靠|准确|可用|实时)[^。！,，]{0,4}(?:信息|资料|数据|内容|答案|依据)|(?:暂无|没有)(?:答案|回答|信息|数据)",
    r"(?:请求|问题|提问|留言)[^。！,，]{0,6}(?:已(?:记录|收到|受理|登记|提交|排队|拒绝|进入|加入)|未能|被拒绝|无法|没有被|超时)|请(?:耐心)?等[待候]|(?:以上|这|此)?(?:不是|并非|非)(?:正式)?(?:答案|回答|答复)|(?:降级|受限|简化|备用)(?:模式|服务)|谢绝",
]  # fmt: skip
_PATTERNS_EN = tuple(re.compile(p, re.IGNORECASE) for p in _EN)
_PATTERNS_ZH = tuple(re.compile(p) for p in _ZH)
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])\s*|\n+")
_POLITE = re.compile(
    rf"^\W*(?:(?:we|i|i'm|i am|we are|we're)?\s*(?:are |am |very |so |really |deeply )*{_SORRY}[^.!?]*|thank(?:s| you)[^.!?]*|please (?:bear|accept|be patient|wait)[^.!?]*|"
    r"(?:hello|hi|dear)[^.!?]*|we appreciate[^.!?]*|(?:非常|十分|很|深表)?(?:抱歉|对不起|遗憾|歉意)[^。！]*|不好意思[^。！]*|感谢[^。！]*|谢谢[^。！]*|您好|请(?:见谅|谅解|耐心)[^。！]*|敬请[^。！]*)\W*$",
    re.IGNORECASE,
)
_BUSINESS = re.compile(
    r"\b(?:your|the|this|that|an?|all|our|these|those)\s+(?:\w+\s+){0,2}?(?:order|payment|refund|card|item|product|booking|reservation|flight|parcel|package|ticket|account|invoice|"
    r"subscription|delivery|shipment|return|policy|coupon|room|seat|transaction|transfer|application|claim|loan|medicine|store|shop|office|train|meeting)s?\b"
    r"[^.!?,;]{0,25}\b(?:was|were|is|are|has been|have been|had|could not|cannot|can not|can't|couldn't|does not|doesn't|did not|didn't|will not|won't|has|have|failed|expired|bounced|arrived|declined|got|went|shipped|closed)\b",
    re.IGNORECASE,
)
_BUSINESS_ZH = re.compile(
    r"(?:您的|该|此|这个?|本)?(?:订单|付款|支付|退款|银行卡|商品|产品|预订|预约|航班|包裹|快递|车票|机票|账户|账号|发票|会员|优惠券|房间|交易|转账|申请|贷款|门店|库存|列车|会议)"
    r"[^。！,，]{0,6}(?:已被?|被|不|未|没有?|无法|缺货|售罄|失败|取消|拒绝|过期|失效|关闭|暂停|下架|暂无|无)"
)  # fmt: skip
_FOUND_NOTHING = re.compile(
    r"\b(?:not|n't|no|never)\b[^.!?]{0,25}\b(?:exist|found|on (?:file|record)|records?|orders? (?:with|under|for)|matching|such)\b|(?:不存在|查无|没有该|无此|没有此|没有这个|未查到|没有找到|无记录|没有记录)",
    re.IGNORECASE,
)
_NOTHING_DONE = re.compile(
    r"\bnothing(?: \w+){0,3} (?:has been|was|is|will be) (?:changed|charged|done|decided|booked|sent|ordered|lost)|没有(?:任何|做任何)?(?:变动|改动|更改|变化|扣款|操作)",
    re.IGNORECASE,
)
_TRANSPORT = re.compile(
    r"\btimed? ?out\b|\btimeout\b|\bconnection (?:refused|reset|failed|error)|\bbad gateway\b|\binternal server error\b|超时|连接(?:失败|错误|被拒绝)|错误码|状态码",
    re.IGNORECASE,
)
_COURTEOUS = re.compile(
    r"\b(?:sorry|apolog\w+|unfortunately|afraid|please|try|later|again|retry|could not answer|no answer)\b|请|抱歉|对不起|稍后|稍候|重试|不好意思",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:http|error|status|code)\W*[45]\d\d\b|\b[45]\d\d (?:service|gateway|internal|bad|too many|not found)|\b[45]\d\d\W*$",
    re.IGNORECASE,
)
_REFERRAL = re.compile(  # who or what may know instead
    r"\b(?:ask|contact|consult|speak (?:to|with)|talk to|reach|call|phone|ring|email|write to|check with|turn to|refer to|get in touch with|see|visit|look (?:at|on|up)|try)\b[^.!?]*"
    r"\b(?:team|staff|colleagues?|advis[eo]rs?|agents?|office|desk|support|service|website|site|page|app|lawyer|doctor|pharmacist|person|people|expert|specialist|department|manager|operator|"
    r"number|line|hotline|provider|supplier|author\w+|human|someone|reception|documentation|manual|portal|account|them|us)\b"
    r"|\b(?:team|staff|colleagues?|advis[eo]rs?|agents?|office|desk|support|service|lawyer|doctor|pharmacist|expert|specialist|department|manager|operator|human|someone)\b[^.!?]*"
    r"\b(?:can|could|may|might|will|would|should|'ll|is|are)\b[^.!?]*\b(?:help|assist|tell|answer|know|advise|ask|contact|confirm|explain|look into|able to)\b"
    r"|(?:咨询|联系|询问|请教|致电|拨打|查看|查阅|登录|前往|问问?|找)[^。！？]*(?:人工|客服|同事|专员|人员|部门|网站|官网|页面|热线|电话|医生|药师|律师|柜台|窗口|前台|工作人员|手册|负责人|APP|老师|经理)"
    r"|(?:同事|专员|人员|客服|专家|医生|律师)[^。！？]*(?:帮|解答|答复|回复|协助|告诉|说明)",
    re.IGNORECASE,
)
_SPEAKER = re.compile(  # the speaker, the question or a bidding as what the sentence is about
    r"^\W*(?:(?:so|but|and|for now|right now|at the moment|meanwhile|unfortunately|honestly|sadly)\W+)*(?:i|i'\w+|we|we'\w+|our|my|this|that|someone|somebody|a (?:colleague|human|person|member)|one of|"
    r"your (?:question|request|message|enquiry|inquiry|patience)|the (?:question|request|assistant|system|service|answer|tool|lookup|search)|please|try|ask|hold|hang|stand|bear|leave|give|let|stay|check|come)\b"
    r"|^\W*(?:但|不过|目前|现在|暂时|实在|因此|所以|为了|，)*(?:我|咱|本|这(?:个|边|件|项)?(?:问题|事|请求)?|您的(?:问题|请求|咨询|留言|提问)|系统|服务|助手|客服|人工|同事|专员|请|麻烦|稍|建议|避免|以免|怕|免得)",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:you|yes|no|must|should|can|may|will|need|safe|fine|free|allowed|always|never|not)\b|您|你|可以|应|必须|不|能|要|是的|没",
    re.IGNORECASE,
)
_INDIRECT = re.compile(r"是否|有没有|能否|可否|是不是|多久|多少|为什么|怎么|哪")  # what a question is about is no claim
_FILED = re.compile(  # what the question itself was filed under
    r"\b(?:ticket|case|reference|request|enquiry|inquiry) (?:number|no\.?|id|code)\b|(?:工单|受理|咨询|反馈|查询)(?:编?号|号码)",
    re.IGNORECASE,
)
_PLEASE = re.compile(r"^\W*(?:please|kindly|you (?:can|may|will have to|could)|请|您可以|建议)", re.IGNORECASE)
_ACTIVE = re.compile(
    r"\b(?:i|we|system|systems|assistant|service|support|agents?|bot)\b[^.!?]{0,25}\b(?:can ?not|can't|couldn't|could not|unable|not able|don't|do not)\b",
    re.I,
)


_ADMITS = re.compile(
    r"\b(?:can ?not|can't|could not|couldn't|unable|not able|do not know|don't know|only know|not (?:certain|sure|known|clear|reachable|answering|available)|"
    r"unavailable|overloaded|unreachable|no answer|offline)\b|无法|不能确定|不清楚|不知道|不确定|查不到|未知|暂时|出错|繁忙|说不准",
    re.IGNORECASE,
)


class Abstention(NamedTuple):
    """How an answer abstains, or does not."""

    cue: str  # the words that say so; "" where nothing does
    pure: bool  # nothing else is claimed


def abstention(case: Case) -> Abstention:
    """Whether the candidate declares itself no answer. Where the reference does the same, it is compared as an answer."""
    noted = _noted(case.candidate)
    if noted:
        return noted
    found = cue(case.candidate)
    if not found or (admission(case.reference) and _pure(case.reference)):
        return Abstention("", pure=False)
    told = _told(case)
    if len(told) > 1 and not _ADMITS.search(case.candidate.replace("’", "'")) and _repeats(case, told):
        return Abstention(found, pure=False)
    return Abstention(found, pure=_pure(case.candidate) or _beside(case.candidate, told))


def _noted(candidate: str) -> Abstention | None:
    """For a JSON object with a note that abstains: pure where every other field is left empty. None for other texts."""
    if not candidate.lstrip().startswith("{"):
        return None
    try:
        values = json.loads(candidate)
    except (ValueError, RecursionError):
        return None
    notes = [value for value in values.values() if isinstance(value, str) and cue(value)]
    if not notes:
        return None
    told = [value for value in values.values() if value not in (None, "", [], {}, False) and value not in notes]
    return Abstention(cue(notes[0]), pure=not told)


def _told(case: Case) -> list[Word]:
    """The content words of the reference that are not in the question."""
    asked = read(case.prompt, case.lang).words
    words = read(case.reference, case.lang).content
    return [word for word in words if not any(alike(word, other) for other in asked)]


def _repeats(case: Case, told: list[Word]) -> bool:
    """Whether the candidate says most of what the reference tells: "the complaint was forwarded to Tom" is an answer."""
    said = read(case.candidate).content
    return sum(any(alike(word, other) for other in said) for word in told) > REPEATED * len(told)


def _beside(candidate: str, told: list[Word]) -> bool:
    """Every sentence is harmless, or is about the speaker or bids to do something, and tells nothing that the reference tells."""
    return all(_harmless(sentence) or _own(sentence, told) for sentence in _sentences(candidate))


def _own(sentence: str, told: Sequence[Word]) -> bool:
    text = read(sentence)
    small_talk = sentence.rstrip().endswith(("!", "！")) and not _ADVICE.search(sentence)
    if not (_SPEAKER.match(sentence) or small_talk) or text.facts or _FOUND_NOTHING.search(sentence):
        return False
    business = _BUSINESS_ZH if text.lang == "zh" else _BUSINESS
    return not business.search(sentence) and not any(alike(w, other) for w in text.words if w.content for other in told)


def abstains_too(case: Case) -> bool:
    """Whether reference and candidate both say that they are no answer, the candidate with nothing else."""
    return bool(admission(case.reference)) and bool(cue(case.candidate)) and _pure(case.candidate)


def admission(text: str) -> str:
    """The words with which a reference admits that it does not know; "" for a mere promise to answer."""
    found = _ADMITS.search(text.replace("’", "'"))
    return found[0] if found and cue(text) else ""


def cue(text: str) -> str:
    """The words with which `text` says that it is no answer; "" where it does not."""
    straight = text.replace("’", "'")
    patterns = _PATTERNS_ZH if CJK.search(text) else _PATTERNS_EN
    found = (pattern.search(straight) for pattern in patterns)
    return next((match[0].strip() for match in found if match), "")


def _pure(text: str) -> bool:
    """Every sentence abstains, is polite, or is short; none tells a state of the user's business."""
    sentences = _sentences(text)
    if _TRANSPORT.search(text) and not _COURTEOUS.search(text):
        return False
    return bool(sentences) and all(_harmless(sentence) for sentence in sentences)


def _sentences(text: str) -> list[str]:
    return [s for s in _SENTENCE.split(text.replace("’", "'")) if re.search(r"\w", s)]


def _harmless(sentence: str) -> bool:
    business = _BUSINESS_ZH if CJK.search(sentence) else _BUSINESS
    claim = business.search(sentence)
    if _NOTHING_DONE.search(sentence) or _FILED.search(sentence):
        return True
    if (
        claim
        and not _INDIRECT.search(sentence)
        and not _ACTIVE.search(sentence)
        and not re.search(r"我们?|系统|助手|小?客服", sentence[: claim.start()])
    ):
        return False
    if _FOUND_NOTHING.search(sentence):
        return False
    if _REFERRAL.search(sentence) and not re.search(r"[$€£¥%]", sentence):
        return True
    if _CODE.search(sentence) and not _POLITE.match(sentence):
        return False
    short = len(re.findall(r"[\u4e00-\u9fff]|\w+", sentence)) <= (6 if CJK.search(sentence) else 4)
    return bool(cue(sentence)) or bool(_POLITE.match(sentence) or _PLEASE.match(sentence)) or short
