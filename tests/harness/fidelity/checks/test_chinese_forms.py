"""Chinese sentence forms that say one thing, and lies by the same means."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label
from harness.fidelity.reading.same_forms_zh import in_one_form
from harness.fidelity.reading.text import read

SAME = [
    ("高铁比大巴快两个小时，但票价更贵。", "大巴票价比高铁便宜，不过要慢两个小时。"),
    ("只有持卡人本人可以办理挂失解除。", "除持卡人本人外，任何人都不能办理解除挂失。"),
    ("仅限会员进入泳池。", "非会员不得进入泳池。"),
    ("未经房东书面同意，租客不得转租。", "租客转租必须先得到房东的书面同意。"),
    ("早上八点之前不得进入操场。", "早上八点起才可以进入操场。"),
    ("这门课自愿参加。", "这门课去不去都行。"),
    ("这门课必须参加。", "这门课不参加不行。"),
    ("运费由买家承担。", "运费归买家出。"),
    ("需要提前三天预约。", "需要三天前预约。"),
    ("请在本月底前提交。", "麻烦在月底前提交。"),
    ("款项次日到账。", "款项第二天到账。"),
    ("年假可以结转到次年3月。", "年假可以结转到第二年的3月。"),
    ("合同一式两份，双方各执一份。", "合同一式两份，两人各拿一份。"),
    ("身高不足1.2米的儿童免票。", "身高没到1.2米的儿童免票。"),
    ("每季度收取3元管理费。", "每个季度收取3元管理费。"),
    ("首套房贷款最低首付比例为百分之二十。", "首套房首付至少20%。"),
    ("贷款最长三十年。", "贷款年限最多30年。"),
    ("门诊今天停诊。", "今天不出诊。"),
    ("下学期起，数学由王老师接替李老师讲授。", "下学期数学改由王老师来上，不再由李老师上。"),
    ("必须带上编号，否则接口会报错。", "如果没有带上编号，接口会报错。"),
    ("除非商品已经拆封，否则七天内可以退货。", "如果商品没有拆封，七天内可以退货。"),
    ("只要水箱没有装好，咖啡机就不会启动。", "水箱装好了，咖啡机才会启动。"),
    ("乒乓球馆周一闭馆，周二至周日开放。", "乒乓球馆每周二到周日开放，周一不开。"),
    ("研究不能证明两者之间存在因果关系。", "研究还不足以证明两者有因果关系。"),
    ("停电预计持续两个小时左右。", "停电大约持续两个小时。"),
    ("手续费由卖方承担，买方无需支付。", "手续费由卖家出，买家不用付。"),
    ("新版本修复了闪退问题，但仍存在耗电过快的问题。", "新版本不再闪退了，不过耗电还是太快。"),
    ("疫苗需接种两剂，间隔不少于三周。", "疫苗要打两针，两针之间至少隔三个星期。"),
    ("未成年人不得购买烟酒。", "烟酒不卖给未成年人。"),
]
OTHER = [
    ("高铁比大巴快两个小时，但票价更贵。", "大巴票价比高铁贵，不过要快两个小时。"),
    ("只有持卡人本人可以办理挂失解除。", "除持卡人本人外，其他人也可以办理解除挂失。"),
    ("仅限会员进入泳池。", "非会员也可以进入泳池。"),
    ("没有预约就不能进馆参观。", "没有预约也能进馆参观。"),
    ("未经房东书面同意，租客不得转租。", "租客转租不必得到房东的书面同意。"),
    ("未经房东书面同意，租客不得转租。", "房东转租必须先得到租客的书面同意。"),
    ("早上八点之前不得进入操场。", "早上八点之前才可以进入操场。"),
    ("早上八点之前不得进入操场。", "早上八点起不可以进入操场。"),
    ("放入烤箱之前要先预热十分钟。", "先放入烤箱，再预热十分钟。"),
    ("这门课自愿参加。", "这门课不去不行。"),
    ("运费由买家承担。", "运费归卖家出。"),
    ("需要提前三天预约。", "需要三天后预约。"),
    ("请在本月底前提交。", "麻烦在月初前提交。"),
    ("款项次日到账。", "款项当天到账。"),
    ("身高不足1.2米的儿童免票。", "身高超过1.2米的儿童免票。"),
    ("每季度收取3元管理费。", "每个月收取3元管理费。"),
    ("首套房贷款最低首付比例为百分之二十。", "首套房首付最多20%。"),
    ("贷款最长三十年。", "贷款年限至少30年。"),
    ("下学期起，数学由王老师接替李老师讲授。", "下学期数学改由李老师来上，不再由王老师上。"),
    ("开始时间不变，原票有效。", "开始时间变了，原票有效。"),
    ("必须带上编号，否则接口会报错。", "如果带上编号，接口会报错。"),
    ("除非商品已经拆封，否则七天内可以退货。", "如果商品没有拆封，七天内不能退货。"),
    ("只要水箱没有装好，咖啡机就不会启动。", "水箱装好之后，咖啡机就不会启动。"),
    ("乒乓球馆周一闭馆，周二至周日开放。", "乒乓球馆周一开放，周二到周日不开。"),
    ("甲馆周一闭馆，乙馆周二闭馆。", "甲馆周二闭馆，乙馆周一闭馆。"),
    ("研究不能证明两者之间存在因果关系。", "研究足以证明两者有因果关系。"),
    ("手续费由卖方承担，买方无需支付。", "手续费由买家出，卖家不用付。"),
    ("新版本修复了闪退问题，但仍存在耗电过快的问题。", "新版本耗电不再过快，不过还是会闪退。"),
    ("疫苗需接种两剂，间隔不少于三周。", "疫苗要打两针，两针之间最多隔三个星期。"),
    ("未成年人不得购买烟酒。", "烟酒可以卖给未成年人。"),
    ("图书馆周末开放至晚上九点。", "图书馆周末从晚上9点开放。"),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_one_thing_said_in_two_chinese_forms_is_faithful(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang="zh").label is Label.FAITHFUL


@pytest.mark.parametrize(("reference", "candidate"), OTHER)
def test_another_thing_said_by_the_same_means_is_misleading(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang="zh").label is Label.MISLEADING


def test_a_form_is_rewritten_only_where_the_other_text_has_its_counterpart() -> None:
    reference, candidate = "除会员外任何人都不能进。", "会员可以进。"
    assert in_one_form(reference, candidate) == (reference, candidate)


def test_english_texts_keep_their_forms() -> None:
    assert in_one_form("Nobody but members may enter.", "Only members may enter.") == (
        "Nobody but members may enter.",
        "Only members may enter.",
    )


@pytest.mark.parametrize(
    "candidate",
    [
        "没有查到您的公积金提取申请，您尚未提交过，请重新提交。",
        "未找到您的申请记录，请核对后重新提交。",
        "系统故障，您的公积金提取申请已被退回，请重新提交。",
        "因系统繁忙，您的申请未通过，请稍后再试。",
        "系统里找不到您的提取申请，请重新提交。",
    ],
)
def test_a_state_of_the_business_is_no_abstention_whatever_failed(candidate: str) -> None:
    reference = "您的公积金提取申请已于5月7日审核通过，款项预计三天内到账。"
    assert judged(reference, candidate, lang="zh").label is Label.MISLEADING


@pytest.mark.parametrize(
    "candidate",
    [
        "抱歉，系统暂时查不到您的公积金提取申请信息，请稍后再试。",
        "查询系统维护中，暂时查不到您的申请，请稍后再试。",
        "很抱歉，目前没有查到您的申请进度，请稍后再试。",
        "没有查到该申请的记录，所以我无法告诉您进度。",
    ],
)
def test_what_cannot_be_looked_up_now_is_an_abstention(candidate: str) -> None:
    reference = "您的公积金提取申请已于5月7日审核通过，款项预计三天内到账。"
    assert judged(reference, candidate, lang="zh").label is Label.ABSTAINED


def test_an_ascii_comma_ends_a_chinese_clause_as_a_full_width_one_does() -> None:
    assert read("电压骤降，导致停机。").plain == "电压骤降,导致停机。"
    assert complaints("电网电压骤降，导致三号线停机。", "三号线停机，导致电网电压骤降。", "sequence", lang="zh")
