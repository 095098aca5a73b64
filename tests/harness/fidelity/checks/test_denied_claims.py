"""`must_not`: what an answer denies it does not claim."""

import pytest
from fidelity_judging import complaints

DENIALS = [
    ("No refund is possible.", "You do not get a full refund.", "full refund"),
    ("No refund is possible.", "There's no full refund.", "full refund"),
    ("No refund is possible.", "You aren't entitled to a full refund.", "full refund"),
    ("No refund is possible.", "A full refund is not possible.", "full refund"),
    ("No refund is possible.", "We can't offer you a full refund.", "full refund"),
    ("No refund is possible.", "A full refund is ruled out.", "full refund"),
    ("不能退款。", "不能全额退款。", "全额退款"),
    ("不能退款。", "我们不提供全额退款。", "全额退款"),
    ("不能退款。", "全额退款不可能。", "全额退款"),
    ("不能退款。", "没有全额退款。", "全额退款"),
]
CLAIMS = [
    ("No refund is possible.", "You get a FULL  refund.", "full refund"),
    ("No refund is possible.", "You need not wait for a full refund.", "full refund"),
    ("No refund is possible.", "Not only do you get a full refund, shipping is free.", "full refund"),
    ("No refund is possible.", "Without a receipt you get a full refund.", "full refund"),
    ("No refund is possible.", "A full refund does not need a receipt.", "full refund"),
    ("No refund is possible.", "You do not get a full refund. Well, you do get a full refund.", "full refund"),
    ("A refund is possible.", "There is no refund.", "no refund"),
    ("不能退款。", "可以全额退款。", "全额退款"),
    ("不能退款。", "不但全额退款，还送券。", "全额退款"),
    ("不能退款。", "我们不得不全额退款。", "全额退款"),
    ("不能退款。", "全额退款不需要小票。", "全额退款"),
    ("可以退款。", "不能退款。", "不能退款"),
]


@pytest.mark.parametrize(("reference", "candidate", "claim"), DENIALS)
def test_a_denied_claim_is_no_claim(reference: str, candidate: str, claim: str) -> None:
    assert complaints(reference, candidate, "must_keep", must_not=(claim,)) == []


@pytest.mark.parametrize(("reference", "candidate", "claim"), CLAIMS)
def test_a_claim_is_told(reference: str, candidate: str, claim: str) -> None:
    assert complaints(reference, candidate, "must_keep", must_not=(claim,)) == [f"“{claim}” must not be claimed"]
