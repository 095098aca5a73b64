"""Yes for no, allowed for forbidden: what an answer begins with."""

import pytest
from fidelity_judging import complaints

from harness.fidelity.case import Case
from harness.fidelity.checks.stance import check
from harness.fidelity.reading.pair import pair


def opposed(reference: str, candidate: str) -> bool:
    return bool(check(pair(Case(id="1", reference=reference, candidate=candidate))))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Not yet: scale up before you drain it.", "Go ahead: draining it leaves the service up."),
        ("Please don't reset the router.", "Yes, please reset the router."),
        ("No, the trial has ended.", "Sure! The trial still runs."),
        ("You can't bring liquids.", "You may bring liquids."),
        ("Hello, no. It closes at five.", "Yes. It closes at nine."),
        ("不能。您名下有房。", "可以的，有房也不影响。"),
        ("一般可以：用 git reflog 找回。", "没有办法：只能重写。"),
        ("不行，要本人来。", "您好，可以，谁来都行。"),
        ("是的，已经发货。", "还没有，正在备货。"),
    ],
)
def test_opposite_beginnings_are_told(reference: str, candidate: str) -> None:
    assert opposed(reference, candidate)
    assert opposed(candidate, reference)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("No, you need not appear in person.", "You can stay at home."),
        ("You cannot check in before 3 pm.", "Sure! You cannot check in before 3 pm."),
        ("Please don't hesitate to call us.", "You can call us."),
        ("You can't miss it, it is next to the bank.", "Yes, it is right next to the bank."),
        ("不能退款。", "好的，不能退款。"),
        ("请勿担心，包裹在路上。", "没问题，包裹在路上。"),
        ("No problem, send it back.", "Yes, send it back."),
        ("No parking here.", "You can't park here."),
        ("Yes, it is open.", "It is not closed."),
        ("You can't miss it.", "It is hard to miss."),
        ("Nobody may enter.", "Yes, but only staff."),
        ("不用预约。", "可以直接来。"),
        ("能源部负责。", "不能由别的部门负责。"),
        ("不得不延期。", "可以说只能延期了。"),
        ("当然可以。", "没问题。"),
    ],
)
def test_other_beginnings_are_left_alone(reference: str, candidate: str) -> None:
    assert not opposed(reference, candidate)


@pytest.mark.parametrize(
    ("prompt", "reference", "candidate"),
    [
        ("Is breakfast included?", "Breakfast is included at no extra charge.", "Yes."),
        ("Do you deliver on Saturdays?", "We deliver on Saturdays, but not before 10:00.", "Yes."),
        ("Is the museum open?", "The museum is open; dogs are not admitted.", "Yes."),
        ("Are you open on Sundays?", "We are closed on Mondays.", "Yes."),
        ("Is the road closed?", "The road is closed.", "Yes."),
        ("Can I swim here?", "Swimming is not forbidden here.", "Yes."),
        ("可以退货吗？", "支持七天无理由退货。", "可以的。"),
        ("能带宠物吗？", "宠物可以带，但不能进餐厅。", "能的。"),
        ("有早餐吗？", "早餐免费，不用预约。", "有的。"),
    ],
)
def test_a_yes_is_no_opposite_where_the_reference_denies_something_else(
    prompt: str, reference: str, candidate: str
) -> None:
    assert not complaints(reference, candidate, "stance", prompt=prompt)


@pytest.mark.parametrize(
    ("prompt", "reference", "candidate"),
    [
        ("Can I bring my dog?", "Dogs are not allowed.", "Yes."),
        ("Can I bring my dog?", "Unfortunately that is not possible.", "Yes."),
        ("Is the pool open?", "Unfortunately it is not.", "Yes."),
        ("Are you open on Sundays?", "We are closed on Sundays.", "Yes."),
        ("Are there tickets left?", "There are no tickets left.", "Yes."),
        ("可以拍照吗？", "馆内禁止拍照。", "可以的。"),
        ("能带宠物吗？", "宠物不得入内。", "能。"),
        ("有停车位吗？", "没有停车位。", "有的。"),
    ],
)
def test_a_yes_is_the_opposite_where_the_reference_denies_what_is_asked(
    prompt: str, reference: str, candidate: str
) -> None:
    assert complaints(reference, candidate, "stance", prompt=prompt)
