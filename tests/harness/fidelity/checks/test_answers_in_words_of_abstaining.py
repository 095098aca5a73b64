"""Another value, name or state told in words of abstaining is an answer; a mere putting off is none."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.checks.abstention import abstention

ANSWERS = [
    ("Send it to service@shop.example.", "Send it to service@store.example."),
    ("Contact the notary.", "Contact the landlord."),
    ("You are number 4 in the queue.", "You are number 9 in the queue."),
    ("Please try again with a debit card.", "Please try again with a gift card."),
    ("Your parcel has left the depot.", "Your parcel is in the queue and will be handled soon."),
    ("Your visa was issued.", "Your visa application is waiting in line."),
    ("The repair takes four weeks.", "I don't know exactly, but the repair should take about nine weeks."),
    ("The ticket costs 12 euros.", "I'm not sure, I think the ticket is 20 euros."),
    ("Claims are possible within 60 days.", "I'm afraid I can't help with claims after 20 days."),
    ("Bags up to 20 kg are free.", "Sorry, I can't help with bags over 8 kg."),
    ("The clinic is open on Tuesdays.", "We are unable to treat patients on Tuesdays."),
    ("您前面还有3位。", "您前面还有8位。"),
    ("您的签证已签发。", "您的签证正在排队审批，请耐心等待。"),
    ("您的报名已通过。", "您的报名正在处理中，结果会通知您。"),
    ("押金200元。", "具体不清楚，大概500元左右。"),
    ("药房八点开门。", "我不确定，好像是九点开门。"),
    ("请联系税务局。", "请联系派出所。"),
]
ABSTENTIONS = [
    ("Your parcel has left the depot.", "Your question is in the queue and will be answered soon."),
    ("The repair takes four weeks.", "I don't know how long it takes. Please ask again in ten minutes."),
    ("The repair takes four weeks.", "We cannot say right now; a colleague will get back to you within two days."),
    ("Claims are possible within 60 days.", "I'm afraid I can't help with that right now."),
    ("The clinic is open on Tuesdays.", "Too many requests at once, I could not look it up. Please try again later."),
    ("Contact the notary.", "Sorry, I can't answer that. I have passed your question to our support team."),
    ("您的签证已签发。", "您的咨询正在排队处理，请耐心等待。"),
    ("押金200元。", "抱歉，我不清楚，请十分钟后再试。"),
    ("药房八点开门。", "当前咨询人数较多，请稍后再来。"),
]
FAILURES = [
    ("Your booking is confirmed.", "We were unable to confirm your booking."),
    ("Your password has been reset.", "We failed to reset your password."),
    ("Your account was unlocked.", "We could not unlock your account."),
    ("The appointment was moved to Friday.", "We were not able to move the appointment."),
    ("Your luggage was received in Oslo.", "Your luggage could not be received in Oslo."),
    ("Your name was corrected on the ticket.", "We have not been able to change your name."),
    ("The interview was moved to Friday.", "We were unable to move the interview to Friday."),
    ("Your visa was issued.", "Your visa is in the queue."),
    ("The clinic is open on Tuesdays.", "We are unable to treat patients on Tuesdays."),
    ("您的签证已签发。", "您的签证正在排队，请耐心等待。"),
    ("预约已改期。", "我们未能改期您的预约。"),
    ("您的密码已重置。", "没能重置您的密码。"),
    ("您的手机号已绑定。", "手机号绑定失败。"),
    ("座位已升级。", "无法升级您的座位。"),
]
NO_FAILURES = [
    ("Your booking is confirmed.", "We are happy to confirm your booking."),
    ("The lift is broken, take the stairs.", "The lift could not be used, take the stairs."),
    ("Tickets can be exchanged until Friday.", "Tickets cannot be exchanged after Friday."),
    ("The parcel is stuck at customs.", "We were unable to move the parcel, customs holds it."),
    ("The price is 9 euros.", "We could not be clearer: the price is 9 euros."),
    ("车票周五前可改签。", "过了周五车票无法改签。"),
    ("预约已取消。", "未能保留您的预约。"),
]
LOOKED_UP = [
    ("Your booking is confirmed.", "We could not look up your booking."),
    ("Your booking is confirmed.", "We cannot confirm your booking at the moment."),
    ("Your password has been reset.", "I was unable to answer your question about the password."),
    ("您的预约已确认。", "目前无法确认您的预约。"),
    ("您的预约已确认。", "未能查询到相关信息。"),
]


def read_as(reference: str, candidate: str) -> tuple[bool, bool]:
    """Whether an answer is nothing but an abstention, and whether it answers in its words."""
    own = abstention(Case(id="1", reference=reference, candidate=candidate, degraded=True))
    return own.pure, own.answers


@pytest.mark.parametrize(("reference", "candidate"), ANSWERS)
def test_what_contradicts_the_reference_is_an_answer(reference: str, candidate: str) -> None:
    assert read_as(reference, candidate) == (False, True)
    assert judged(reference, candidate, degraded=True).label is not Label.ABSTAINED


@pytest.mark.parametrize(("reference", "candidate"), ABSTENTIONS)
def test_who_puts_off_what_was_asked_abstains(reference: str, candidate: str) -> None:
    assert read_as(reference, candidate) == (True, False)


def test_what_is_to_be_done_in_a_fault_is_no_abstention() -> None:
    for reference, candidate in (
        ("断网就重启光猫。", "网络异常时请重启光猫。"),
        ("断网就重启光猫。", "如出现网络故障，请重启光猫。"),
        ("Restart the modem when offline.", "If the server is down, restart the modem."),
    ):
        assert not read_as(reference, candidate)[0]
    assert read_as("断网就重启光猫。", "当前系统繁忙，请稍后再试。")[0]


def test_a_service_of_the_business_that_stopped_is_an_answer() -> None:
    assert not read_as("缆车今天正常运行。", "缆车服务暂停，请稍后再试。")[0]
    assert read_as("缆车今天正常运行。", "查询服务暂停，请稍后再试。")[0]


@pytest.mark.parametrize(("reference", "candidate"), FAILURES)
def test_a_failed_deed_of_whatever_kind_is_found(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "failure")
    assert judged(reference, candidate, degraded=True).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), NO_FAILURES)
def test_no_failure_is_found_where_none_is_told(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "failure")


@pytest.mark.parametrize(("reference", "candidate"), LOOKED_UP)
def test_a_failed_look_up_stays_an_abstention(reference: str, candidate: str) -> None:
    assert read_as(reference, candidate) == (True, False)
