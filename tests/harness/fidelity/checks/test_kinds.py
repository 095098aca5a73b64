"""Kinds of difference that fresh answers brought to light: each with what it must not be taken for."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks.abstention import abstention
from harness.fidelity.reading.pair import pair
from harness.fidelity.verdict import findings_of


def gravest(reference: str, candidate: str) -> float:
    """The severity of the gravest finding; 0 where there is none."""
    found = findings_of(pair(Case(id="1", reference=reference, candidate=candidate)))
    return max((f.severity for f in found), default=0.0)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Every runner must wear a number.", "No runner is exempt from wearing a number."),
        ("所有乘客都必须系安全带。", "没有哪位乘客可以不系安全带。"),
        ("You need at least 30 points.", "You can't pass with fewer than 30 points."),
    ],
)
def test_a_doubled_denial_of_a_duty_is_the_duty(reference: str, candidate: str) -> None:
    assert gravest(reference, candidate) < 0.5


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The ticket is refundable and transferable.", "The ticket is not refundable and not transferable."),
        ("Every runner must wear a number.", "No runner must wear a number."),
        ("You need at least 30 points.", "You need fewer than 30 points."),
    ],
)
def test_a_denial_that_stands_alone_or_twice_side_by_side_is_one(reference: str, candidate: str) -> None:
    assert gravest(reference, candidate) >= 0.7


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("The fee was cut by 40 euros.", "The fee was cut to 40 euros.", True),
        ("The lake covers 3 square kilometres.", "The lake covers 300 hectares.", False),
        ("The lake covers 3 square kilometres.", "The lake covers 3 hectares.", True),
        ("这片林地约3平方公里。", "这片林地约3公顷。", True),
        ("Rent is 900 euros per month.", "Rent is 900 euros per term.", True),
        ("The fee applies only if you cancel late.", "The fee applies whether or not you cancel late.", True),
    ],
)
def test_levels_changes_and_units_are_told_apart(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.6) is lie


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Your passport is being processed.", "Your passport has been issued."),
        ("The bridge has been repaired.", "The bridge is under repair."),
        ("您的申请正在审核中。", "您的申请已经通过。"),
    ],
)
def test_what_is_under_way_is_not_over(reference: str, candidate: str) -> None:
    assert gravest(reference, candidate) >= 0.7


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("Wipe the lens before you use the camera.", "Do not use the camera until you have wiped the lens.", False),
        ("Cats are not allowed in the hall.", "You can't bring a cat into the hall here; it's forbidden.", False),
        ("Cats are not allowed in the hall.", "Cats are not allowed in the hall, and not in the yard.", True),
        ("Take bus 41 to the zoo.", "Take the bus that goes to the zoo.", True),
    ],
)
def test_a_denial_of_the_wrong_order_or_said_twice_is_none_but_a_lost_value_is(
    reference: str, candidate: str, lie: bool
) -> None:
    assert (gravest(reference, candidate) >= 0.6) is lie


def test_a_verb_with_a_particle_says_what_the_plain_verb_says() -> None:
    assert gravest("Two seats are reserved for staff.", "Two seats are set aside for staff.") == 0.0


@pytest.mark.parametrize(
    ("candidate", "pure"),
    [
        ("I can't look that up at the moment. I would only be guessing.", True),
        ("I can't look that up at the moment. You will be fine without one.", False),
        ("I can't look that up at the moment. I think the fee is waived.", False),
        ("这个问题我暂时答不上来。怕说错了误导您。", True),
    ],
)
def test_only_what_the_speaker_says_of_itself_goes_with_an_abstention(candidate: str, pure: bool) -> None:
    reference = "签证费不退。" if candidate[0] > "\u3000" else "The fee for the visa is not waived."
    assert abstention(Case(id="1", reference=reference, candidate=candidate)).pure is pure


def test_who_may_know_instead_belongs_to_an_abstention() -> None:
    case = Case(
        id="1",
        reference="The notice period is two months.",
        candidate="I can't answer questions about contracts. A lawyer would be the right person to ask.",
    )
    assert abstention(case).pure


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("Entries must reach us by 1 May.", "Entries open on 1 May.", True),
        ("Entries are accepted until 1 May.", "Entries close on 1 May.", False),
        ("报名到5月1日截止。", "报名从5月1日开始。", True),
        ("The race was called off because of ice on the track.", "The race was called off due to a strike.", True),
        ("The race was called off because of ice.", "Because of ice the race was called off.", False),
        ("Empty the tank first and then clean the sieve.", "Clean the sieve first and empty the tank later.", True),
        ("Empty the tank before you clean the sieve.", "Clean the sieve only after you empty the tank.", False),
        ("先清空水箱，再清洗滤网。", "先清洗滤网，再清空水箱。", True),
    ],
)  # fmt: skip
def test_order_causes_and_edges_of_time_are_compared(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.7) is lie


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Guests are allowed to smoke here.", "Guests are not forbidden to smoke here."),
        ("The trial simply ends.", "It doesn't. The trial simply ends."),
        ("Bake it at 180 °C.", "Bake it at 356 °F."),
        ("The path is 5 miles long.", "The path is 8.05 kilometres long."),
        ("登记后可以进。", "登记后没有不让进的。"),
    ],
)
def test_values_and_denials_said_another_way_are_the_same(reference: str, candidate: str) -> None:
    assert gravest(reference, candidate) < 0.7


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The soups hold no nuts, but the cakes and rolls do.", "All our soups hold no nuts."),
        ("Dogs may not enter the passenger lounge.", "Dogs may enter the passenger"),
        ("We have passed your request to the club.", "Your contract has been closed."),
    ],
)
def test_a_limit_lost_a_text_cut_and_a_wish_told_as_done_are_found(reference: str, candidate: str) -> None:
    assert gravest(reference, candidate) >= 0.7


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("Only nurses can sign the form.", "Nurses can only sign the form.", True),
        ("Only nurses can sign the form.", "The form can be signed only by nurses.", False),
        ("All drinks are free except wine.", "Wine is charged; every other drink is free.", False),
        ("None of the guests was hurt.", "Every guest got away without being hurt.", False),
        ("Staff may work from home.", "Staff are allowed to work from home.", False),
        ("小李借给小周五百元。", "小周从小李那里借了500元。", False),
    ],
)
def test_what_a_limit_goes_with_is_compared(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.85) is lie


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("哥哥学的是德语，妹妹学的是俄语。", "哥哥学的是俄语，妹妹学的是德语。", True),
        ("哥哥学的是德语，妹妹学的是俄语。", "妹妹学的是俄语，哥哥学的是德语。", False),
        ("小狗被邻居家的猫追着跑。", "小狗追着邻居家的猫跑。", True),
        ("没有一位店主不支持改造。", "没有一位店主支持改造。", True),
        ("The baker left after the fire.", "The baker left after the fire destroyed his oven.", True),
        ("In the test system you may delete rows. In the live one you need a form.", "You may delete rows.", True),
        ("The tram takes 75 minutes.", "The tram takes one and a quarter hours.", False),
        ("Neither of the two printers is working.", "Both printers are out of order.", False),
        ("The keys hang on the third floor.", "The keys hang on the second floor.", True),
        ("Set it to 100 °C.", "Set it to 212 degrees Fahrenheit.", False),
    ],
)  # fmt: skip
def test_what_is_copied_with_one_thing_moved_added_or_lost_is_found(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.8) is lie


@pytest.mark.parametrize(
    ("candidate", "pure"),
    [
        ('{"rate": null, "note": "could not be determined, please retry"}', True),
        ('{"rate": 7, "note": "could not be determined, please retry"}', False),
        ('{"rate": null}', False),
        ("I can't settle this for you.", True),
        ("We are unable to answer this. Your ticket number is 4411.", True),
    ],
)
def test_an_abstention_may_have_a_form_or_a_number_of_its_own(candidate: str, pure: bool) -> None:
    case = Case(id="1", prompt="What is the rate?", reference='{"rate": 9}', candidate=candidate)
    assert abstention(case).pure is pure


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("cancellation", "technical", True),
        ("Billing", "Refund", True),
        ("退款", "物流", True),
        ("purchase", "buy", False),
        ("已取消", "取消了", False),
        ("No.", "No", False),
        ("可以。", "可以", False),
        ("需要", "必须", False),
    ],
)
def test_an_answer_of_one_word_is_a_label(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.9) is lie


@pytest.mark.parametrize(
    ("reference", "candidate", "lie"),
    [
        ("零下60度的库每吨每天12元，每月1日结账。", "零下60度的库每吨每月12元，每月1日结账。", True),
        ("每月5日发工资。", "工资在每月5号发。", False),
        ("次月10日到账。", "次月20日到账。", True),
        (
            "The deposit is $90: $40 for the keg and $50 for the tap head. Without the tap head you get $40 back.",
            "The deposit is $90: $40 for the tap head and $50 for the keg. Without the tap head you get $50 back.",
            True,
        ),
        ("Rooms cost 80 euros, 80 euros more with a meal.", "Rooms cost 80 euros, with a meal 80 euros more.", False),
        ("可以，请您爱人带上两个人的身份证来。", "您爱人来没问题，请带上您俩的身份证。", False),
    ],
)  # fmt: skip
def test_how_often_a_value_is_told_tells_too(reference: str, candidate: str, lie: bool) -> None:
    assert (gravest(reference, candidate) >= 0.7) is lie
