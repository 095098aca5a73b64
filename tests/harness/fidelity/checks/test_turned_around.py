"""Bounds, comparisons, posts, demands and fractions told from the other side; helpers who are busy with others."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.checks.abstention import abstention
from harness.fidelity.reading.pair import pair
from harness.fidelity.verdict import findings_of

SAME = [
    ("随身行李不得超过 7 公斤。", "手提行李最多7公斤。"),
    ("报名人数不得少于10人。", "报名人数至少10人。"),
    ("A team must not have fewer than 5 players.", "A team needs 5 players or more."),
    ("The PIN must have at least 6 digits.", "A PIN with fewer than 6 digits is rejected."),
    ("The Pro phone charges sooner than the Lite phone.", "The Lite phone takes longer to charge than the Pro phone."),
    ("Desk 2 handles visas and Desk 5 handles passports.", "Passports are handled at Desk 5, visas at Desk 2."),
    ("The shop is open every day except Sunday.", "Sunday is the shop's one day off; the other six days it is open."),
    ("报名只能在前台办理。", "除了前台，别的地方都办不了报名。"),
    (
        "Ms. Adeyemi replaced Mr. Brandt as head of sales.",
        "Mr. Brandt is no longer head of sales; Ms. Adeyemi is his successor.",
    ),
    (
        "You must bring the ticket, or entry will be refused.",
        "We won't let you in without the ticket, so don't leave it at home.",
    ),
    ("Members get 25% off the fee.", "A quarter comes off the fee for members."),
    ("The ticket costs £12.80.", "You pay twelve pounds eighty for the ticket."),
    ("Invoice 5512 was paid in full.", '{"invoice": "5512", "outstanding": 0, "status": "paid in full"}'),
]
OTHER = [
    ("随身行李不得超过 7 公斤。", "随身行李不得少于 7 公斤。", "antonyms"),
    ("年龄不得低于18岁。", "年龄不得高于18岁。", "antonyms"),
    ("密码不能多于8位。", "密码不能少于8位。", "antonyms"),
    ("Groups must have no fewer than 6 people.", "Groups must have no more than 6 people.", "antonyms"),
    ("It must not exceed 25 degrees.", "It must not fall below 25 degrees.", "antonyms"),
    ("Stays can't be shorter than 3 nights.", "Stays can't be longer than 3 nights.", "antonyms"),
    ("The PIN must have at least 6 digits.", "A PIN with more than 6 digits is rejected.", "antonyms"),
    (
        "The pool is open every day except Friday.",
        "Friday is the pool's one open day; on the other six it is closed.",
        "quantifiers",
    ),
    ("李强接替王芳担任财务总监。", "李强不再担任财务总监，继任者是王芳。", "roles"),
    (
        "You must keep the receipt, or the exchange will be refused.",
        "We'll swap the item without the receipt, so feel free to throw it away.",
        "negation",
    ),
    ("The bread costs $3.25.", "The bread is three dollars fifty-five.", "numbers"),
    ("Invoice 5512 was paid in full.", '{"invoice": "5512", "outstanding": 120, "status": "partly paid"}', "negation"),
]
BUSY = [
    ("The parcel is at the Elm Road depot.", "All our parcel agents are busy at the moment. Please try again later."),
    (
        "Baggage allowance is 23 kg.",
        "All of our assistants are helping others. You are number 14 in line; we will get to your question soon.",
    ),
    ("退款三天内到账。", "所有坐席正在为其他顾客服务，您排在第8位，请稍后再试。"),
    (
        "The ferritin level is 18 micrograms.",
        "No results were found for this patient, so I cannot tell you the ferritin level.",
    ),
]


def _certain(reference: str, candidate: str) -> set[str]:
    both = pair(Case(id="1", reference=reference, candidate=candidate))
    return {f.check for f in findings_of(both) if f.certain or f.severity >= 1.0}


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same_told_from_the_other_side_is_no_certain_finding(reference: str, candidate: str) -> None:
    assert not _certain(reference, candidate)


@pytest.mark.parametrize(("reference", "candidate", "check"), OTHER)
def test_the_other_side_of_a_bound_a_post_or_a_demand_is_a_certain_finding(
    reference: str, candidate: str, check: str
) -> None:
    assert check in _certain(reference, candidate)


@pytest.mark.parametrize(("reference", "candidate"), BUSY)
def test_helpers_who_are_busy_with_others_abstain_whatever_they_deal_with(reference: str, candidate: str) -> None:
    assert abstention(Case(id="1", reference=reference, candidate=candidate)).pure


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The hotel has three free rooms.", "All our rooms are taken by other guests."),
        ("Your parcel is at the depot.", "No parcel was found under this number."),
    ],
)
def test_a_state_of_the_business_is_no_abstention(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is not Label.ABSTAINED


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (
            "Your monthly fee rises by 5 euros in June.",
            "There is a drop of 5 euros in your monthly fee in June.",
        ),
        ("The rent falls by a tenth in May.", "There is a rise of a tenth in the rent in May."),
    ],
)
def test_a_drop_is_no_rise_in_another_form(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "antonyms")
