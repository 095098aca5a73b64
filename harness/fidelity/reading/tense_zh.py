"""How far what a Chinese verb tells of is: 已送达, 正在维修, 将退款, 以前营业."""

# ruff: noqa: E501 (word lists and patterns stay whole)

import re
from collections.abc import Iterator

_VERBS = (  # verbs of a line are one deed
    "退款|退还|退回|退费|退",
    "送达|送到|派送|配送|投递",
    "抵达|到达|到货|到账|到",
    "发货|发出|寄出|发送|出库|发|寄",
    "维修|修复|修好|检修|抢修|修",
    "支付|付款|付清|缴纳|付",
    "扣款|扣除|扣",
    "取消|撤销",
    "开始|启动|开启|开工|动工",
    "结束|完成|完工|竣工|做完|办完|办好|写完",
    "上线|推出|发布|上架",
    "开放|开业|营业|开门|开馆",
    "关闭|停业|关门|闭馆|歇业|停用",
    "恢复|重新开放",
    "开通|激活|启用|生效",
    "升级|更新",
    "更换|换",
    "安装|装好|装",
    "处理|办理|受理",
    "审核|审批",
    "批准|通过|核准",
    "提交|递交|交",
    "签署|签订|签",
    "出发|起飞|启程|发车|离开|走",
    "入住",
    "搬迁|搬走|搬",
    "公布|公开|宣布",
    "通知|联系|告知",
    "回复|答复",
    "解决",
    "涨价|上调|上涨|提高|涨",
    "降价|下调|下降|降低|降",
    "延期|推迟|延长",
    "举行|召开|举办",
    "施工|建成|建",
    "拆除|拆",
    "合并",
    "收购",
    "上市",
    "下架",
    "补货",
    "签收|收到|领取",
    "转账|汇款|转",
    "发放|派发",
    "离职|辞职",
    "停运|停航|停电|停水|停产|停",
    "修改|调整|改",
    "删除|清除",
    "备份",
    "迁移",
    "重启",
    "部署",
    "失效|到期|过期",
    "续约|续签",
    "解除|终止",
    "冻结",
    "注销",
    "出版",
    "播出|上映",
    "归还|还(?=[给清了。，])",
    "预订|预定|订好|订",
    "确认",
    "提供",
)
_VERB = "(?P<verb>" + "|".join(f"(?P<v{i}>{verbs})" for i, verbs in enumerate(_VERBS)) + ")"
_BETWEEN = (
    r"(?:(?:[为给替帮跟]|向|由|被|把|将|于|在|对|从)(?:[您你我他她]们?|[^，。；！？,;!?安约定同答申计]{0,10}?)"
    r"|全部|全额|全|都|统一|再|就|便|会|要|重新|自动|成功|正式|顺利|陆续|安全|按时|准时|立即|立刻|一起|先|给){0,4}?"
)
_SPOKEN = r"[^，。；！？,;!?安约定同答申计已将会]{0,8}?"
_MARKED = (
    ("TO_COME", re.compile(rf"(?:即将|将要|将会|(?<![请可会要能需应先须已在经必])将|马上就?要?|很快就?会?要?|快要|就要|稍后|待会儿?|过会儿|打算|(?<![不社机协大开晚年宴国商误学委体])会(?![议员场计话馆所长诊展])){_BETWEEN}{_VERB}")),
    ("TO_COME", re.compile(rf"快(?:要)?{_VERB}了")),
    ("TO_COME", re.compile(rf"(?:明天|明日|明早|明晚|后天|下周|下个?月|明年|改天|晚些时候){_SPOKEN}{_VERB}(?!了)")),
    ("UNDER_WAY", re.compile(rf"(?:正在|仍在|还在|(?<![修改更纠订真公校立反])正(?![常确式好规品版月面宗如因巧])){_BETWEEN}{_VERB}")),
    ("UNDER_WAY", re.compile(rf"{_VERB}(?:当)?中(?=$|[，。；！？,;!?])")),
    ("DONE", re.compile(rf"(?:已经?|业已|早就|刚刚|刚才?){_BETWEEN}{_VERB}")),
    ("DONE", re.compile(rf"(?:昨天|昨日|前天|上周|上个?月|去年){_SPOKEN}{_VERB}")),
    ("DONE", re.compile(rf"^[^就便才过会给]*?{_VERB}(?:[完好掉走成]|出去?)?了(?![解吗])")),
    ("GIVEN_UP", re.compile(rf"(?:曾经?|从前|原先|(?:^|[，。；！？,;!?]|(?<=[\u4e00-\u9fff]))(?<![之年月日天点周前])以前)(?!是否){_SPOKEN}{_VERB}")),
    ("HABIT", re.compile(rf"(?:现在|目前|如今|眼下){_SPOKEN}{_VERB}(?![了中])")),
)  # fmt: skip
_CLAUSE = re.compile(r"[^，。；！？,;!?\n]+[，。；！？,;!?\n]?")
_SUPPOSED = re.compile(
    r"如果|若|要是|一旦|只要|除非|的话|是否|有没有|吗|假如|每|凡|[时后前](?:[，,]|$)|之后|以后|之前|(?<!^)才|[已将会在过][^，。；！？,;!?]{0,12}的(?:商品|订单|客户|用户|产品|包裹|人)|[?？]"
)
_DENIED = re.compile(r"[不没未无别]|尚")


def chinese_deeds(plain: str) -> Iterator[tuple[str, str, str]]:
    """(stage, name of the verb's group, words) of what is told flatly: no condition, no denial."""
    for clause in _CLAUSE.finditer(plain):
        told = clause[0]
        if _SUPPOSED.search(told):
            continue
        taken: set[int] = set()
        for stage, pattern in _MARKED:
            for found in pattern.finditer(told):
                begins = found.start("verb")
                if begins in taken:
                    continue
                taken.add(begins)
                if (
                    not _DENIED.search(told[max(0, found.start() - 3) : begins])
                    and told[found.end() : found.end() + 1] != "的"
                ):
                    yield stage, _group(found), found[0]


def _group(found: re.Match[str]) -> str:
    return next(verbs for i, verbs in enumerate(_VERBS) if found[f"v{i}"]).split("|")[0]
