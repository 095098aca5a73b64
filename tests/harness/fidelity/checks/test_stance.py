"""Yes for no, allowed for forbidden: what an answer begins with."""

import pytest

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
