"""What "-free", "unable" and 没有…也能 deny, and what they do not."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks.negation import check
from harness.fidelity.reading.pair import pair


def contradicts(reference: str, candidate: str) -> bool:
    return any(f.severity >= 0.25 for f in check(pair(Case(id="1", reference=reference, candidate=candidate))))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The product is nut-free.", "The product contains nuts."),
        ("This bread is gluten-free.", "This bread contains gluten."),
        ("The drink is sugar-free.", "The drink has sugar in it."),
        ("The paint is lead-free.", "The paint contains lead."),
        ("The sauce is free of gluten.", "The sauce contains gluten."),
        ("Rooms are available.", "We do not have any free rooms for you."),
        ("Order A-12 was delivered.", "There is no order A-12."),
        ("No refund is possible.", "Refund in full."),
        ("Your claim was accepted.", "We were unable to accept your claim."),
        ("没有发票不能退款。", "没发票也能退款。"),
        ("没带身份证就不能入住。", "没带身份证也可以入住。"),
        ("这款饮料不含糖。", "这款饮料含糖。"),
        ("这款饮料无糖。", "这款饮料含糖。"),
    ],
)
def test_a_denial_of_another_kind_is_told(reference: str, candidate: str) -> None:
    assert contradicts(reference, candidate)
    assert contradicts(candidate, reference)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The product is nut-free.", "The product contains no nuts."),
        ("The product is nut-free.", "There are no nuts in the product."),
        ("The drink is sugar-free.", "The drink does not contain sugar."),
        ("The sauce is gluten-free.", "The sauce is free of gluten."),
        ("We have no rooms left.", "We do not have any free rooms."),
        ("No rooms are available.", "We do not have any free rooms for you."),
        ("No table is free.", "There are no free tables."),
        ("We could not accept your claim.", "We were unable to accept your claim."),
        ("They can not come.", "They are unable to come."),
        ("No refund is possible.", "There is no refund."),
        ("没有发票不能退款。", "没发票就退不了款。"),
        ("没有发票不能退款。", "退款必须有发票。"),
        ("没有会员卡也能买票。", "买票不需要会员卡。"),
        ("这款饮料无糖。", "这款饮料不含糖。"),
        ("这款饮料不含糖。", "这款饮料没有糖。"),
    ],
)
def test_the_same_denial_in_other_words_is_left_alone(reference: str, candidate: str) -> None:
    assert not contradicts(reference, candidate)
    assert not contradicts(candidate, reference)
