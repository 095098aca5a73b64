"""No check may be worth nothing: for each, in both languages, a lie that only this check sees, beside a truth."""

# ruff: noqa: E501 (rows stay whole)

from types import MappingProxyType
from typing import Any

import pytest
from fidelity_judging import UNMEASURED

from harness.fidelity.case import Case, Label
from harness.fidelity.checks.catalogue import CHECKS
from harness.fidelity.risk import shipped_model
from harness.fidelity.verdict import decide, see

PAIRS = [  # check, language, reference, lie, truth
    ("numbers", "en", "The wire fee is 25 euros.", "Each wire costs 25 Swiss francs.", "Each wire costs 25 euros."),
    ("numbers", "zh", "这种退烧药按每公斤体重10毫克给药。", "这种退烧药，每斤体重算10毫克。", "这种退烧药，每公斤体重算10毫克。"),
    ("moments", "en", "The ferry leaves at 9:30.", "You sail at half past ten.", "You sail at half past nine."),
    ("moments", "zh", "讲座在下午三点开始。", "讲座在下午四点开始。", "讲座在15:00开始。"),
    ("identifiers", "en", "Flight LH454 was cancelled.", "They have called off LH445.", "They have called off LH454."),
    ("identifiers", "zh", "航班CA1501已取消。", "CA1510这个航班取消了。", "CA1501这个航班取消了。"),
    ("names", "en", "The keynote is held by Priya Raman in Lisbon.", "Priya Raman gives the keynote in Porto.", "In Lisbon, Priya Raman gives the keynote."),
    ("names", "zh", "展览在苏州举行。", "展览的举办地是杭州。", "展览的举办地是苏州。"),
    ("stance", "en", "Certainly, the pool is on the roof.", "No, the pool is on the roof.", "Of course, the pool is on the roof."),
    ("stance", "zh", "可以，凭小票七天内到店退货。", "没办法，请您七天内拿着小票来店里退货。", "可以的，请您七天内拿着小票来店里退货。"),
    ("negation", "en", "Opened software cannot be refunded.", "Opened software can be refunded.", "Software that has been opened is not refundable."),
    ("negation", "zh", "北京今天下雨。", "北京今天没有下雨。", "今天北京下雨。"),
    ("antonyms", "en", "Sales went up.", "Sales went down.", "Sales rose."),
    ("antonyms", "zh", "利率上调。", "利率下调。", "利率提高。"),
    ("quantifiers", "en", "Most of the rooms face the sea.", "Every room faces the sea.", "The majority of the rooms face the sea."),
    ("quantifiers", "zh", "大部分房间朝海。", "所有房间都朝海。", "多数房间朝海。"),
    ("conditions", "en", "It renews unless you cancel.", "It renews even if you cancel.", "Unless you cancel, it renews."),
    ("conditions", "zh", "下雨的话比赛取消。", "不管下不下雨，比赛都取消。", "如果下雨，比赛就取消。"),
    ("modality", "en", "The application is under review.", "The application has been approved.", "Your application is still being reviewed."),
    ("modality", "zh", "申请正在审核中。", "申请已经通过。", "申请还在审核。"),
    ("tense", "en", "The parcel has arrived.", "The parcel will arrive.", "The parcel arrived."),
    ("tense", "zh", "包裹已送达。", "包裹将送达。", "包裹已经送到。"),
    ("roles", "en", "Alice pays Bob.", "Bob pays Alice.", "Bob is paid by Alice."),
    ("roles", "zh", "小李向小王道歉。", "小王向小李道歉。", "小李给小王道了歉。"),
    ("attributes", "en", "Version 4.2 fixes the login bug; version 4.3 adds dark mode.", "Dark mode arrives in 4.2, while the login bug gets fixed in 4.3.", "Dark mode arrives in 4.3, while the login bug gets fixed in 4.2."),
    ("attributes", "zh", "房东负责修水管，租客负责换灯泡。", "水管坏了归租客修，灯泡坏了由房东来换。", "水管坏了归房东修，灯泡坏了由租客来换。"),
    ("comparison", "en", "The ferry is slower than the tunnel train.", "Of the two, the tunnel train takes more time.", "Of the two, the ferry takes more time."),
    ("comparison", "zh", "高铁比长途汽车便宜。", "坐长途汽车比坐高铁省钱。", "坐高铁比坐长途汽车省钱。"),
    ("sequence", "en", "Back up the database before you run the migration.", "Once the migration has run, take a database backup.", "Run the migration only after the database is backed up."),
    ("sequence", "zh", "先消毒再缝合。", "缝合以后再消毒。", "消毒以后再缝合。"),
    ("substitution", "en", "Breakfast is included in the room rate.", "Dinner is included in the room rate.", "The room rate includes breakfast."),
    ("substitution", "zh", "房价包含早餐。", "房价包含晚餐。", "早餐包含在房价里。"),
    ("omission", "en", "Bring a towel, a swimming cap and a padlock.", "Bring a towel and a swimming cap.", "Please bring a towel, a swimming cap and a padlock."),
    ("omission", "zh", "请携带毛巾、泳帽和挂锁。", "请携带毛巾和泳帽。", "请带上毛巾、泳帽和挂锁。"),
    ("addition", "en", "The course starts in May.", "The course starts in May and includes a free laptop.", "The course begins in May."),
    ("addition", "zh", "博物馆周一闭馆。", "博物馆周一闭馆，学生免票。", "周一博物馆闭馆。"),
    ("must_keep", "en", "Take the pills with food.", "Take the pills with food.", "Take the pills with food and ask your doctor."),
    ("must_keep", "zh", "药片饭后服用。", "药片饭后服用。", "药片饭后服用，并咨询医生。"),
    ("contract", "en", '{"intent": "order"}', '{"intent": ""}', '{"intent": "order"}'),
    ("contract", "zh", '{"意图": "退款"}', "意图是退款", '{"意图":"退款"}'),
    ("truncation", "en", "The pass covers buses, trams and ferries.", "The pass covers buses, trams, ferries and", "Buses, trams and ferries are covered by the pass."),
    ("truncation", "zh", "通票含公交、地铁和轮渡。", "通票含公交、地铁、轮渡以及", "公交、地铁和轮渡都含在通票里。"),
    ("degenerate", "en", "The lamp is in stock.", "lamp lamp lamp lamp lamp lamp lamp lamp lamp", "The lamp is available."),
    ("degenerate", "zh", "押金在验房后退还。", "感谢您的咨询。", "验房之后退押金。"),
    ("language", "en", "Your parcel is at the depot.", "您的包裹在仓库。", "Your parcel is in the depot."),
    ("language", "zh", "您的包裹在仓库。", "Your parcel is at the depot.", "包裹在仓库里。"),
    ("transport", "en", "Your parcel is with the courier.", "Upstream timed out.", "The courier has your parcel."),
    ("transport", "zh", "您的包裹已发出。", "操作成功。", "您的包裹已经寄出。"),
    ("failure", "en", "Your loan is approved.", "We could not process the loan.", "The loan has been approved."),
    ("failure", "zh", "您的退款已到账。", "退款暂时无法办理。", "退款已经到账了。"),
    ("overclaim", "en", "We cannot say whether the parcel has left the depot.", "The parcel has not left the depot.", "We do not know whether the parcel has left the depot."),
    ("overclaim", "zh", "暂时查不到您的理赔是否获批。", "您的理赔没有获批。", "目前查不到您的理赔是否获批。"),
]  # fmt: skip
MORE: MappingProxyType[tuple[str, str], dict[str, Any]] = MappingProxyType(
    {
        ("must_keep", "en"): {"prompt": "Should I ask my doctor about the pills?", "must_keep": ("doctor",)},
        ("must_keep", "zh"): {"context": "服用药片请咨询医生。", "must_keep": ("医生",)},
    }
)
MODEL = shipped_model()


@pytest.mark.parametrize(("check", "lang", "reference", "lie", "truth"), PAIRS)
def test_a_lie_that_only_one_check_sees_is_told_from_the_truth_by_that_check(
    check: str, lang: str, reference: str, lie: str, truth: str
) -> None:
    fields = {"reference": reference, "lang": lang, **MORE.get((check, lang), {})}
    told, honest = see([Case(id="lie", candidate=lie, **fields), Case(id="truth", candidate=truth, **fields)])
    assert decide(honest, UNMEASURED, model=MODEL).label is Label.FAITHFUL
    assert decide(told, UNMEASURED, model=MODEL).label is Label.MISLEADING
    assert decide(told, UNMEASURED, model=MODEL, without=frozenset({check})).label is Label.FAITHFUL


def test_every_check_has_such_a_lie_in_both_languages() -> None:
    assert [(check, lang) for check, lang, *_ in PAIRS] == [(check, lang) for check in CHECKS for lang in ("en", "zh")]
