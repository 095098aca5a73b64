"""Chinese sentence forms that say one thing: 除会员外谁都不能进 is 只有会员可以进. One text is put into the form of the other.

A form is rewritten only where the other text has its counterpart, and does not have the form itself. Each rule is an equivalence of
the language, so that what differs besides the form is left for the checks to find.
"""

# ruff: noqa: E501 (patterns stay whole)

import re
from typing import NamedTuple

from harness.fidelity.reading.remembered import remembered
from harness.fidelity.reading.text import CJK, normalised

_W = r"[^，。；：！？、,;:!?\s]"  # within a clause
_HEAD = r"(?:^|(?<=[，。；：！？,;:!?]))"
_STOP = r"(?=[，。；：！？,;:!?]|$)"
_BARRED = r"(?:一律|都|也|均|就|则|便|是|概|绝对)*(?:不能|不得|不可以|不可|不准|不许|不允许|不让|不给|不会|无法|没法|没办法|不予|禁止|严禁|请勿|切勿|不)(?!了|足|同|过|到|超|少|低|高|满|错|仅|但|管|论|必|用|需)"
_SUBJECT = rf"(?:(?:的话|的人|者|的)?[，,](?P<s>{_W}{{0,16}}?)|的(?P<who>{_W}{{0,8}}?)|)"  # who it is that may not
_IF = r"(?:如果|假如|要是|倘若|倘|如|若)?"
_MUST = r"必须|才能|才可|才会|才给|方可|方能|得先|要先|须|需|只有|凭|得有|都得|都要|要有"
_ONLY = r"只有|仅限|仅有|仅能|只能|只限|只给|只让|只对|才能|才可|仅(?=\w{1,10}(?:可|能|有权))"
_LENGTH = r"[\d一二两三四五六七八九十半]+个?(?:工作日|天|日|周|星期|月|小时|钟头|分钟)"


class Form(NamedTuple):
    """A form, what it is rewritten to, and what the other text has to have for it."""

    told: re.Pattern[str]
    instead: str
    beside: re.Pattern[str]


def _form(told: str, instead: str, beside: str) -> Form:
    return Form(re.compile(told), instead, re.compile(beside))


_FORMS = (
    # 除了持卡人, 谁都不能办理; 非会员不得入内; 不是会员就不能进
    _form(
        rf"除了?(?P<x>{_W}{{2,14}}?)(?:之外|以外|外)?[，,]?(?:其他|其它|其余|别的)?(?:任何人|任何{_W}{{1,3}}?|谁|别人|他人|其他人|人|人员)(?={_BARRED}){_BARRED}(?P<p>{_W}+)",
        r"只有\g<x>可以\g<p>",
        _ONLY,
    ),
    _form(
        rf"{_HEAD}(?P<x>{_W}{{2,14}}?)(?:之外|以外)的(?:其他)?(?:人员|人|{_W}{{1,3}}?){_BARRED}(?P<p>{_W}+)",
        r"只有\g<x>可以\g<p>",
        _ONLY,
    ),
    _form(
        rf"{_HEAD}{_IF}(?:不是|并非|非)(?P<x>{_W}{{2,10}}?)(?:的人|的话|者|的)?[，,]?{_BARRED}(?P<p>{_W}+)",
        r"只有\g<x>可以\g<p>",
        _ONLY,
    ),
    # 没有家长陪同, 孩子不能进; 未经同意, 我们不会提供
    _form(
        rf"{_HEAD}{_IF}没有(?P<a>{_W}{{2,16}}?){_SUBJECT}{_BARRED}(?P<p>{_W}+)",
        r"\g<s>\g<who>必须有\g<a>才能\g<p>",
        _MUST,
    ),
    _form(
        rf"{_HEAD}{_IF}(?P<t>{_W}{{0,6}}?)(?:没有|没|未|不)(?P<a>(?:经|满|达|到|带|持|凭|出示|得到|取得|获得?|完成|交|通过|签|登记|预约|注册|实名|佩戴|穿|办理?|填|提交|上传|绑定|开通|验证){_W}{{1,16}}?){_SUBJECT}{_BARRED}(?P<p>{_W}+)",
        r"\g<s>\g<who>\g<t>必须\g<a>才能\g<p>",
        _MUST,
    ),
    # 必须带编号, 否则报错 is 如果没有带编号, 会报错
    _form(
        rf"(?:必须|务必|一定要|须|需要?(?!求)|得(?![到以])|要(?![求点])|请(?![求假客]))(?P<a>{_W}{{2,20}}?)[，,；;](?:否则|不然|要不然|要不)(?:的话)?[，,]?(?={_W})",
        r"如果没有\g<a>,",
        rf"(?:如果|若|要是|假如|倘若|只要|凡是?){_W}{{1,20}}[，,](?!{_W}{{0,14}}(?:不|没|无|未))|{_HEAD}(?:没有?|未|不){_W}{{1,14}}(?:的|者|的话)[，,]?",
    ),
    # 必须先预约才能进 is 必须预约才能进
    _form(rf"(?P<m>必须|须|需要?|要|得)先(?={_W}{{1,24}}?(?:才|方可|方能))", r"\g<m>", r"^(?!.*先)"),
    # 八点之前不得进入 is 八点起才可以进入
    _form(
        rf"(?P<t>{_W}{{2,16}}?)(?:之前|以前|前)[，,]?(?P<s>{_W}{{0,10}}?)(?:不能|不得|不可以|不可|不准|不许|不允许|不让|无法|不会|禁止)(?P<p>{_W}+)",
        r"\g<t>起\g<s>才可以\g<p>",
        r"(?:起|开始|之后|以后|后)[^。；;]{0,12}才|才(?:可|能|允许|让|准|会|开)",
    ),
    _form(
        rf"(?P<s>{_W}{{0,14}}?)(?:不能|不得|不可以|不可|不准|不许|不允许|禁止)(?:在|于|早于)?(?P<t>{_W}{{2,14}}?)(?:之前|以前|前)(?P<p>{_W}{{1,14}})",
        r"\g<s>\g<t>起才可以\g<p>",
        r"(?:起|开始|之后|以后|后)[^。；;]{0,12}才|才(?:可|能|允许|让|准|会|开)",
    ),
    # 装好之前启动不了 is 只要没有装好就不会启动
    _form(
        rf"{_HEAD}(?:在)?(?P<a>{_W}{{2,14}}?)(?:之前|以前)[，,]?(?={_W}{{0,14}}(?:不|无法|没法))",
        r"只要没有\g<a>,",
        rf"{_HEAD}(?:只要|如果|若|要是|凡)?{_W}{{0,10}}(?:没有?|未|不){_W}{{1,10}}[，,]?{_W}{{0,10}}(?:不|无法|没法)",
    ),
    _form(
        rf"直到(?P<a>{_W}{{2,14}}?)才(?P<b>{_W}+)", r"\g<a>之前没有\g<b>", r"(?:之前|以前|前)[^。；;]{0,10}(?:不|没|未)"
    ),
    # 下锅前要先腌 is 先腌, 再下锅; 腌好后才下锅
    _form(
        rf"(?P<b>{_W}{{1,12}}?)(?:之前|以前|前)[，,]?(?:先(?:要|须|必须|需要|得)|(?:要|须|应该?|必须|需要?|请|得)?先)(?P<a>{_W}{{2,30}})",
        r"先\g<a>,再\g<b>",
        rf"先{_W}+[，,]?(?:再|然后|之后|后|随后|接着)",
    ),
    _form(
        rf"{_HEAD}(?:等|待)?(?P<a>{_W}{{2,16}}?)(?:之后|以后|后)[，,]?(?P<s>{_W}{{0,4}}?)(?:才能?|再|方可)(?P<b>{_W}{{2,20}})",
        r"先\g<a>,\g<s>再\g<b>",
        rf"先{_W}+[，,](?:再|然后|随后|接着)",
    ),
    # 至少得用专业版 is 专业版及以上
    _form(
        rf"(?:至少|最少|起码|最低)(?:得|要|需要?|须|必须|应|是|为|有|用|买|购买|开通|达到|升级到?)*(?P<x>(?![\d一二两三四五六七八九十百千万半]){_W}{{2,6}}?)(?=[，。；,;!?]|$|才|的)",
        r"\g<x>及以上",
        r"(?:及|或|和|与)其?以上",
    ),
    # 本月底 is 月底
    _form(
        r"(?:本|这个?)(?=月[底末初])|今年?(?=年[底末初])|本(?=[周年][底末初])",
        "",
        r"(?:^|[^本这上下次每个今明去年\d一二三四五六七八九十])[年月周][底末初]",
    ),
    # 去不去都行 is 自愿
    _form(
        rf"(?P<v>{_W}{{1,2}})不(?P=v)(?:都|也|均)?(?:行|可以|可|无所谓|没关系|随意|随便|由[你您他]们?|看(?:自己|个人)|自便|不强制)|(?P<w>{_W}{{2}})与否(?:均可|都可以?|自愿|自便|随意|由{_W}{{1,4}}决定)",
        r"自愿\g<v>\g<w>",
        r"自愿|可选|不强制|不作?强制|不(?:是|属)?必须|非必须|随意|不作要求|选做|自由",
    ),
    # 非去不可 is 必须去
    _form(
        rf"非(?P<a>{_W}{{1,10}}?)不可(?![抗以])|不(?:得|能|可)不(?P<b>{_W})|不(?P<c>{_W}{{1,4}}?)就?不(?:行|成){_STOP}",
        r"必须\g<a>\g<b>\g<c>",
        "",
    ),
    # 运费归买家出 is 由买家承担运费
    _form(
        rf"(?P<x>{_W}{{1,10}}?)(?:归|算|得由)(?P<y>{_W}{{1,6}}?)(?:出|付|掏|承担|负担|负责|管){_STOP}",
        r"由\g<y>承担\g<x>",
        rf"由{_W}{{1,8}}?(?:承担|负担|支付|负责|出|付)",
    ),
    # 提前三天 is 三天前
    _form(rf"提前(?P<n>{_LENGTH})", r"\g<n>前", rf"{_LENGTH}(?:之前|以前|前|之后|以后|后)"),
    # 过了这一天 is 之后
    _form(r"过了(?:这|那)(?:一|个)?(?:天|日期?|时间|时候|期限?|点)[，,]?", "之后", r"之后|以后|此后|逾期|过期|过后"),
    # 是可以退的 is 可以退
    _form(rf"是(?P<a>(?:可以|能|允许|需要|要|免费|会){_W}{{0,8}}?)的{_STOP}", r"\g<a>", ""),
    # courtesy
    _form(rf"{_HEAD}(?:还是)?(?:麻烦|劳烦|烦请|还请|有劳|辛苦)(?:您|你|大家|各位)?(?=[\u4e00-\u9fff]{{2}})", "请", ""),
    _form(
        r"(?:也|请|您|你|先)*(?:别|不用|不要|不必|无需|无须)(?:太|过于)?(?:担心|着急|急|慌张?|怕|紧张|害怕|焦虑)(?=[，。；！？,;!?]|$)[，,]?",
        ",",
        "",
    ),
)


@remembered
def in_one_form(reference: str, candidate: str) -> tuple[str, str]:
    """Both texts, each Chinese form of the one told as the other tells it."""
    if not CJK.search(reference) or not CJK.search(candidate):
        return reference, candidate
    here, there = normalised(reference), normalised(candidate)
    for form in _FORMS:
        told_here, told_there = form.told.search(here), form.told.search(there)
        if told_here and not told_there and form.beside.search(there):
            here = form.told.sub(form.instead, here)
        elif told_there and not told_here and form.beside.search(here):
            there = form.told.sub(form.instead, there)
    return here, there
