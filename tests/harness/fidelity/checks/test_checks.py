"""Each check sees its kind of lie, says on which words it rests, and leaves the honest wording alone."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints

from harness.fidelity.checks.catalogue import CHECKS

LIES = [
    ("numbers", "Order A-1234 was charged 59.90 USD.", "Order A-1234 was charged 95.90 USD.", "95.90 USD"),
    ("numbers", "发票将在三个工作日内开具。", "发票将在十三个工作日内开具。", "十三个工作日"),
    ("numbers", "The return window is 14 days.", "The return window is 14 weeks.", "14 weeks"),
    ("moments", "The meeting starts at 9:30 on Tuesday.", "The meeting starts at 9:30 on Thursday.", "Thursday"),
    ("moments", "会议在下午三点开始。", "会议在下午四点开始。", "下午四点"),
    ("identifiers", "The flight LH454 was cancelled.", "The flight LH445 was cancelled.", "LH445"),
    ("names", "The train to Lyon leaves at noon.", "The train to Lille leaves at noon.", "Lille"),
    ("names", "陈医生周二出诊。", "程医生周二出诊。", "程医生"),
    ("negation", "Opened software cannot be refunded.", "Opened software can be refunded.", "not"),
    ("negation", "北京今天下雨", "北京今天没有下雨", "没有"),
    ("negation", "The tickets are non-refundable.", "The tickets are refundable.", "non-refundable"),
    ("antonyms", "Take it before meals.", "Take it after meals.", "after"),
    ("antonyms", "利率上调。", "利率下调。", "下调"),
    ("antonyms", "Use at least 12 characters.", "Use at most 12 characters.", "12"),
    ("failure", "Your loan is approved.", "We could not process the loan.", "could not process the loan"),
    ("failure", "您的退款已到账。", "退款暂时无法办理。", "无法办理"),
    ("stance", "Certainly, the pool is on the roof.", "No, the pool is on the roof.", "No"),
    ("quantifiers", "Everyone except the design team must attend.", "Everyone including the design team must attend.", "including"),
    ("quantifiers", "部分座位可以选择。", "所有座位可以选择。", "所有"),
    ("modality", "You must show your passport.", "You may show your passport.", "may"),
    ("modality", "必须提前预约。", "可以提前预约。", "可以"),
    ("stance", "Yes, the pool is open.", "No, the pool is open.", "No"),
    ("stance", "可以，凭小票退货。", "不行，凭小票退货。", "不行"),
    ("tense", "The parcel has arrived.", "The parcel will arrive.", "will arrive"),
    ("tense", "包裹已送达。", "包裹将送达。", "将送达"),
    ("conditions", "It renews unless you cancel.", "It renews even if you cancel.", "even if"),
    ("roles", "Alice pays Bob.", "Bob pays Alice.", "Alice"),
    ("roles", "Members pay 5 USD and guests pay 8 USD.", "Members pay 8 USD and guests pay 5 USD.", "5 USD"),
    ("roles", "刘先生把车借给了黄女士。", "黄女士把车借给了刘先生。", "刘先生"),
    ("attributes", "Version 4.2 fixes the login bug; version 4.3 adds dark mode.", "Dark mode arrives in 4.2, while the login bug gets fixed in 4.3.", "4.2"),
    ("attributes", "房东负责修水管，租客负责换灯泡。", "水管坏了归租客修，灯泡坏了由房东来换。", "租客"),
    ("comparison", "The vaccine is more effective in adults than in children.", "Kids get better protection from the vaccine than grown-ups do.", "grown-ups"),
    ("comparison", "It takes longer by bus than by train.", "The bus is faster than the train.", "train"),
    ("quantifiers", "Only administrators can delete folders.", "Folders can be deleted by everyone except administrators.", "except"),
    ("comparison", "地铁比公交快。", "公交比地铁快。", "地"),
    ("negation", "Bring a calculator but no phone.", "Bring your phone but no calculator.", "calculator"),
    ("conditions", "We refund your deposit provided that you cancel a week before.", "Cancel whenever you like and the deposit comes back.", "whenever you like"),
    ("sequence", "Back up the database before you run the migration.", "Once the migration has run, take a database backup.", "before"),
    ("sequence", "Warming of the lake caused the algae to bloom.", "The algae bloom caused the lake to warm.", "first"),
    ("language", "Your train leaves from platform 9.", "Ihr Zug fährt von dem Gleis 9 ab und ist nicht spät.", "German"),
    ("numbers", "The outgoing wire fee is 25 euros.", "Each outgoing wire costs 25 Swiss francs.", "francs"),
    ("numbers", "这种退烧药按每公斤体重10毫克给药。", "这种退烧药,每斤体重算10毫克。", "每斤"),
    ("sequence", "Entries must reach us by 1 May.", "Entries open on 1 May.", "1 May"),
    ("substitution", "Breakfast is included in the room rate.", "Dinner is included in the room rate.", "Dinner"),
    ("omission", "Invoices are due in May, and late payers lose the discount.", "Invoices are due in May.", "late payers"),
    ("addition", "Invoices are due in May.", "Invoices are due in May, and late payers lose the discount.", "late payers"),
    ("truncation", "Refunds are accepted within 30 days.", "Refunds are accepted within", "within"),
    ("truncation", "押金500元，退房时全额退还。", "押金500元，退房时", "全额退还"),
    ("degenerate", "The lamp is in stock.", "lamp lamp lamp lamp lamp lamp lamp lamp lamp", "lamp"),
    ("degenerate", "The lamp is in stock.", "", "empty"),
    ("language", "Your parcel is at the depot.", "您的包裹在仓库。", "Chinese"),
    ("transport", "The lamp is in stock.", "The lamp is unavailable, status code 503.", "503"),
    ("overclaim", "I cannot say at the moment, the stock service does not answer.", "The brass lamp is sold out.", "claims to know"),
    ("contract", '{"status": "shipped", "carrier": "UPS"}', '{"status": "shipped", "carrier": ""}', "carrier"),
    ("contract", '{"status": "shipped"}', '{"status": "shipp', "JSON"),
]  # fmt: skip

TRUTHS = [
    ("numbers", "Order A-1234 was charged 59.90 USD.", "You were billed $59.90 for order A-1234."),
    (
        "numbers",
        "Pupils who miss more than three lessons repeat it.",
        "A pupil who misses four or more lessons repeats it.",
    ),
    ("numbers", "Half of the $80 fee is refunded.", "You get forty dollars back of the eighty."),
    ("numbers", "Take it twice a day.", "Two doses daily."),
    ("numbers", "Keep it between 2 and 8 degrees Celsius.", "Keep it at 36 to 46 degrees Fahrenheit."),
    ("moments", "周末禁止停车。", "礼拜六、礼拜天禁止停车。"),
    (
        "attributes",
        "Bring a pencil, a ruler and a calculator to the exam.",
        "Bring a calculator, a pencil and a ruler to the exam.",
    ),
    (
        "attributes",
        "Mr. Chen leads sales and Ms. Ruiz leads support.",
        "Sales is led by Mr. Chen, support by Ms. Ruiz.",
    ),
    ("comparison", "The X200 is lighter than the X300.", "The X300 is heavier than the X200."),
    (
        "moments",
        "The shop is open every day except Sunday.",
        "The shop is open Monday through Saturday, not on Sunday.",
    ),
    (
        "antonyms",
        "单笔转账超过五万元须到柜台办理，五万元以内可用手机。",
        "一笔不超过五万块的手机上就能转，再多就得跑一趟柜台。",
    ),
    ("comparison", "It takes longer by bus than by train.", "The train is faster than the bus."),
    ("quantifiers", "除图书馆外都不能进。", "只有图书馆能进。"),
    ("sequence", "Back up the data before you install it.", "Install it only after the data is backed up."),
    ("moments", "Open on weekdays from 8 am to 6 pm.", "Open from 8:00 to 18:00, Monday to Friday."),
    ("identifiers", "Call +1 555 0134.", "Please phone +1-555-0134."),
    ("names", "The World Health Organization agreed.", "The WHO agreed."),
    ("negation", "Opened software cannot be refunded.", "Software that has been opened is not refundable."),
    ("negation", "The shop is closed.", "The shop is not open."),
    ("negation", "We do not share data without your consent.", "We share data only with your consent."),
    ("negation", "本店周一休息。", "本店周一不营业。"),
    ("antonyms", "The X200 is lighter than the X300.", "The X300 is heavier than the X200."),
    ("quantifiers", "All employees except interns get a laptop.", "Every employee gets a laptop, apart from interns."),
    ("modality", "The update is optional.", "You do not have to install the update."),
    ("conditions", "If it rains, we stay in.", "We stay in in case of rain."),
    ("roles", "Alice approved the request.", "The request was approved by Alice."),
    ("roles", "The red box holds 5 and the blue box holds 9.", "The blue box holds 9 and the red box holds 5."),
    ("truncation", "Refunds take 5 days.", "Refunds take five days."),
    ("degenerate", "It is very, very, very cold.", "It is very, very, very cold."),
    (
        "transport",
        "Error 503 means that the service is overloaded.",
        "A 503 error says the service has too much to do.",
    ),
    ("contract", '{"a": 1, "b": "x"}', '{"b": "x", "a": 1}'),
]


@pytest.mark.parametrize(("check", "reference", "candidate", "words"), LIES)
def test_a_check_sees_its_lie_and_quotes_what_it_rests_on(
    check: str, reference: str, candidate: str, words: str
) -> None:
    assert any(words in reason for reason in complaints(reference, candidate, check))


@pytest.mark.parametrize(("check", "reference", "candidate"), TRUTHS)
def test_a_check_leaves_the_honest_wording_alone(check: str, reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, check) == []


def test_every_check_of_the_catalogue_has_a_lie_here() -> None:
    assert {check for check, *_ in LIES} | {"must_keep"} == set(CHECKS)


def test_a_fact_that_must_be_kept_may_be_said_in_another_form() -> None:
    facts = ("17:30 | half past five", "5 days")
    assert complaints("x", "Come at 5:30 pm, within five days.", "must_keep", must_keep=facts) == []
    assert complaints("x", "Come at 5:30 pm.", "must_keep", must_keep=facts) == ["“5 days” has to be said and is not"]


def test_a_claim_that_must_not_be_made_is_found() -> None:
    found = complaints("No refunds.", "Refunds are free.", "must_keep", must_not=("refunds are free | free refund",))
    assert found == ["“refunds are free” must not be claimed"]


def test_a_broken_schema_names_the_place() -> None:
    schema = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
    assert "$.city" in complaints("Tarn", '{"city": 5}', "contract", contract=schema)[0]
    assert complaints("Tarn", '{"city": "Tarn"}', "contract", contract=schema) == []


def test_an_english_answer_to_a_chinese_case_full_of_code_is_in_another_language() -> None:
    code = "kubectl rollout restart deployment/api"
    reference = f"用 {code} 重启服务"
    assert complaints(reference, f"Restart the service with {code}", "language", lang="zh")
    assert not complaints(reference, f"执行 {code} 即可重启服务", "language", lang="zh")
