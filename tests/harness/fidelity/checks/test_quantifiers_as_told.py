"""What is no quantifier, two things told together, "only once" against "every time", "each and every" against "except"."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints, judged

SAME = [
    ("Both hinges must be oiled.", "Oil the two of them."),
    ("Replace both bulbs, since they were fitted on the same day.", "Change the two bulbs: fitted on one day, when one goes the other goes too."),
    ("Keep the ripe ones; the others go back in the crate.", "You keep what is ripe, and the rest goes back in the crate."),
    ("The second tyre usually fails within months.", "A few months later the second tyre usually fails."),
    ("Let the horse stand for a day.", "Give the horse a day's rest."),
    ("No dogs are allowed in hall 2.", "No dogs at all are allowed in hall 2."),
    ("The ticket is valid until midnight.", "The ticket is valid for the rest of the day, until midnight."),
    ("两扇窗都要换。", "两个一起换。"),
    ("Each customer can use the code once.", "The code can be used only once per customer."),
    ("You get a free refill just once per visitor.", "Every visitor gets one free refill."),
    ("Every new account receives the welcome bonus on its first deposit.", "The welcome bonus is paid only once, on the first deposit of a new account."),
    ("Each household may borrow the saw one time.", "The saw is lent just once to a household."),
    ("每位住客可以免费停车一次。", "免费停车每人仅限一次。"),
    ("除身份证外，还需携带一张照片。", "所有人都要带身份证和一张照片。"),
    ("除成人票外，也出售学生票。", "所有窗口都出售成人票和学生票。"),
    ("Besides adults, children are welcome too.", "All of our classes welcome adults and children."),
    ("Apart from the garden, you can also visit the cellar.", "All of the garden and the cellar can be visited."),
    ("Everyone pays except children under 12.", "All of the guests aged 12 and over pay."),
    ("All rooms except the attic are heated.", "All of our rooms are heated; the attic stays cold."),
]  # fmt: skip
TURNED = [
    ("Both hinges must be oiled.", "One hinge must be oiled."),
    ("One lift works, the other is out of order.", "Both lifts work."),
    ("Both windows are replaced.", "One window is replaced, the other stays."),
    ("Both of the two fees are refunded.", "One of the two fees is refunded."),
    ("The pool is open on all days.", "The pool is open on a few days."),
    ("所有窗口都办理。", "部分窗口办理。"),
]
CERTAIN = [
    ("Stamp the card on every visit.", "The card is stamped only once."),
    ("The filter is rinsed once only.", "The filter is rinsed each time."),
    ("Cycling is allowed on all paths except the dyke.", "You're welcome to cycle on each and every one of our paths."),
    ("Dogs may go everywhere except into the greenhouse.", "Dogs are welcome in every single one of our houses."),
    ("Have it stamped at every crossing.", "Have it stamped only once."),
    ("You always get a towel.", "You get a towel only once."),
    ("Everyone pays except children under 12.", "All of our guests pay."),
    ("All rooms except the attic are heated.", "All of our rooms are heated, the attic too."),
    ("Apart from Mondays we are open on all days.", "We are open on all of the days."),
    ("除12岁以下儿童外都要买票。", "所有12岁以下的人都要买票。"),
    ("除周票以外的车票都可以退。", "所有车票都可以退，周票也行。"),
    ("每次进洞都要登记。", "进洞只用登记一次。"),
    ("每次入住可以免费停车。", "免费停车仅限一次。"),
    ("除三号厅以外都可以拍照。", "所有展厅都可以拍照,无一例外。"),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same_reach_in_other_words_is_no_contradiction(reference: str, candidate: str) -> None:
    assert not [f for f in judged(reference, candidate).findings if f.check == "quantifiers" and f.severity >= 0.5]


@pytest.mark.parametrize(("reference", "candidate"), TURNED)
def test_another_reach_is_found(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "quantifiers")


@pytest.mark.parametrize(("reference", "candidate"), CERTAIN)
def test_once_for_every_time_and_all_for_all_but_one_are_certain(reference: str, candidate: str) -> None:
    assert any(
        f.check == "quantifiers" and f.certain and f.severity >= 0.95 for f in judged(reference, candidate).findings
    )
