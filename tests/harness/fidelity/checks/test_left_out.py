"""What an answer may leave out, and what it must not: reasons and courtesy against requirements, values, items of a list."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label

LOST = [
    ("omission", "Bring your passport, the signed form and two photographs to counter 6.", "Come to counter 6 with your passport."),
    ("omission", "办理护照须带身份证原件、户口本和两张照片。", "办护照的话，带上身份证原件和两张照片。"),
    ("omission", "First restart the router, then update the app.", "Restart the router."),
    ("omission", "Upgrade to version 4, but export your dashboards first.", "Simply move up to version 4."),
    ("numbers", "Returning the sofa costs £45 for collection.", "Collection charges are designed to be fair to every customer."),
    ("moments", "Applications for the nursery close on 15 January.", "Nursery applications have a closing date, and families who apply in good time do well."),
    ("numbers", "Your refund of $85 has been approved.", "We've signed off your $85 refund, and a $20 voucher is on its way too."),
]  # fmt: skip
HARMLESS = [
    ("omission", "To protect your data, we delete recordings after 90 days.", "We delete recordings after 90 days."),
    ("omission", "因水管抢修，滨江小区今晚8点到12点停水。", "滨江小区今晚8点到12点停水。"),
    ("omission", "Press the only button on the back, a black one, to reset the modem.", "Press the only button on the back to reset the modem."),
    ("roles", "体检请带身份证、医保卡和预约单。", "体检请带预约单、医保卡和身份证。"),
    ("addition", "The minimum opening deposit is $500.", "Of course: the minimum opening deposit is $500. Have a nice day!"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "reference", "candidate"), LOST)
def test_a_demand_a_value_or_an_item_left_out_or_put_in_is_enough_by_itself(
    check: str, reference: str, candidate: str
) -> None:
    judgement = judged(reference, candidate)
    assert judgement.label is Label.MISLEADING
    assert any(f.certain and f.check == check for f in judgement.findings)


@pytest.mark.parametrize(("check", "reference", "candidate"), HARMLESS)
def test_a_reason_a_description_courtesy_or_the_order_of_a_list_is_no_loss(
    check: str, reference: str, candidate: str
) -> None:
    assert complaints(reference, candidate, check) == []
    assert judged(reference, candidate).label is Label.FAITHFUL


def test_a_reason_that_was_asked_for_is_no_spare_detail() -> None:
    asked = {"prompt": "Why is the water off tonight?"}
    reference = "Because of repairs to the mains, the water is off from 8 pm."
    assert complaints(reference, "The water is off from 8 pm.", "omission", **asked)
