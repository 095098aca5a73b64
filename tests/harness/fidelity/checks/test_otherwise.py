"""What one text denies, the other may say without a denial; a lie in the same words is still found."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

SAME = [
    ("Only members may borrow books.", "You can't borrow books unless you are a member."),
    (
        "Unless it rains, the parade takes place on Saturday.",
        "Provided there is no rain, the parade takes place on Saturday.",
    ),
    ("Your application is still being reviewed.", "We have not finished reviewing your application."),
    (
        "Refunds are issued only after the item has been inspected.",
        "We do not issue refunds before the item has been inspected.",
    ),
    ("Nobody but Priya has the key.", "The only person who has the key is Priya."),
    ("Only adults may rent the scooters.", "Minors can't rent the scooters."),
    ("Both printers are out of toner.", "Neither of the printers has any toner left."),
    ("The deposit is not refunded unless you cancel.", "The deposit is refunded only if you cancel."),
    ("除非下雨，否则比赛照常举行。", "只要不下雨，比赛就照常进行。"),
    ("报名截止到周五。", "周五之后不能再报名。"),
    ("会议室最多容纳二十人。", "会议室坐不下超过20人。"),
    ("信用卡账单须在还款日前付清，否则收取滞纳金。", "还款日之前没有付清信用卡账单会产生滞纳金。"),
    ("The pool opens at 7.", "Apologies for the delay. The pool opens at 7 o'clock."),
]
TURNED = [
    ("Only members may borrow books.", "Members can't borrow books."),
    ("Your application has been reviewed.", "We have not finished reviewing your application."),
    ("报名周五开始。", "周五不能报名。"),
    ("The warranty covers parts but not labour.", "Parts aren't covered by the warranty; labour is."),
    ("The fee is waived for students.", "Students pay the fee."),
    ("学生免收门票。", "学生要买门票。"),
    ("Bulbs cannot be returned.", "You may bring back a few bulbs if you like."),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_a_denial_may_be_said_without_one(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.FAITHFUL, found.reasons


@pytest.mark.parametrize(("reference", "candidate"), TURNED)
def test_a_denial_that_nothing_explains_is_found(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert any(f.check in ("negation", "antonyms") and f.severity >= 1.0 for f in found.findings), found.reasons
