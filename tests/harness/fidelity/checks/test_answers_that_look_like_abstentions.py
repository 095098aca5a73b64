"""What was not done, or comes later, is an answer; what could not be looked up, and who is to be asked, is none."""

from dataclasses import replace

import pytest
from fidelity_judging import UNMEASURED, complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.checks.abstention import abstention
from harness.fidelity.cross_encoder import Opinion
from harness.fidelity.risk import shipped_model
from harness.fidelity.verdict import decide, see

LATER = [
    ("货到付款。", "付款后再发货。"),
    ("现货，今天发出。", "缺货，下周再发。"),
    ("收到定金后才发货。", "全款到账再发货。"),
    ("我们先收货，检查后退款。", "我们检查后再发退款。"),
    ("样品下周寄出。", "样品下个月再发。"),
    ("今天退款。", "三天后再退款。"),
    ("包裹今天送达。", "包裹明天再送。"),
    ("Your parcel arrives today.", "The courier will try again tomorrow."),
]
FAILED = [
    ("Your parcel arrives on Tuesday.", "We do not have any parcel for you."),
    ("Your parcel arrives on Tuesday.", "I do not have a parcel under your name."),
    ("Your payment went through.", "We could not process the payment right now."),
    ("Your claim was accepted.", "We were unable to accept your claim."),
    ("Your loan is approved.", "We could not process the loan."),
    ("Your order ships today.", "We could not ship your order at the moment."),
    ("Your booking is confirmed.", "We were unable to complete your booking at this time."),
    ("您的付款已成功。", "目前无法处理这笔付款。"),
    ("您的退款已到账。", "退款暂时无法办理。"),
    ("您的贷款已批准。", "抱歉，我们无法批准您的贷款。"),
]
ABSTENTIONS = [
    ("您的包裹周二到达。", "请联系人工客服。"),
    ("退款三天到账。", "抱歉，请咨询客服。"),
    ("退款三天到账。", "建议您拨打官方热线咨询。"),
    ("Take two tablets a day.", "Please consult your doctor."),
    ("Your parcel arrives on Tuesday.", "Sorry, please contact our support team."),
    ("Your payment went through.", "We could not process your request right now."),
    ("Your payment went through.", "We could not look up the payment right now."),
    ("Your payment went through.", "We cannot check the payment at the moment."),
    ("Your payment went through.", "We could not retrieve your payment status."),
    ("Your parcel arrives on Tuesday.", "We do not have any information about your parcel."),
    ("您的付款已成功。", "目前无法查询这笔付款。"),
    ("您的付款已成功。", "目前无法处理您的请求。"),
    ("您的包裹周二到达。", "我们没有您的包裹信息。"),
    ("今天发货。", "请稍后再发。"),
    ("今天发货。", "请再发一次您的问题。"),
    ("今天发货。", "请明天再来咨询。"),
]
RULES = [
    (
        "Refunds are issued only after the item has been inspected.",
        "We can't issue the refund before the item has been inspected.",
    ),
    ("Bookings need a deposit.", "We cannot accept your booking without a deposit."),
    ("Orders ship only within the mainland.", "We cannot ship orders to islands."),
    ("验货后退款。", "验货前无法办理退款。"),
    ("付清全款后发出订单。", "没有付清全款就不能发出该订单。"),
]
REFERRED_TO = [
    ("Ask your pharmacist.", "Please consult a pharmacist."),
    ("请咨询医生。", "请询问您的医生。"),
    ("The payment could not be processed.", "We could not process the payment."),
    ("付款无法处理。", "目前无法处理这笔付款。"),
]


@pytest.mark.parametrize(("reference", "candidate"), LATER)
def test_what_comes_later_is_an_answer(reference: str, candidate: str) -> None:
    assert not abstention(Case(id="1", reference=reference, candidate=candidate, degraded=True)).pure


@pytest.mark.parametrize(("reference", "candidate"), FAILED)
def test_what_failed_or_is_not_there_is_an_answer_that_contradicts(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, degraded=True).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), RULES)
def test_a_rule_that_denies_tells_of_no_failure(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "failure")


@pytest.mark.parametrize(("reference", "candidate"), FAILED)
def test_no_cross_encoder_makes_an_abstention_of_a_failure(reference: str, candidate: str) -> None:
    (seen,) = see([Case(id="1", reference=reference, candidate=candidate, degraded=True)])
    heard = replace(seen, opinion=Opinion(0.9, 0.99))
    assert decide(heard, UNMEASURED, model=shipped_model()).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), ABSTENTIONS)
def test_a_failed_look_up_and_a_referral_abstain(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, degraded=True).label is Label.ABSTAINED
    assert judged(reference, candidate, degraded=False).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), REFERRED_TO)
def test_who_says_what_the_reference_says_answers(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, degraded=True).label is Label.FAITHFUL


@pytest.mark.parametrize(
    ("prompt", "reference", "candidate"),
    [
        ("", "Install the app again after the update.", "The update failed to install; install the app again."),
        (
            "The update failed to install, what now?",
            "Install the app again after the update.",
            "The update failed to install.",
        ),
        ("", "Print the form again.", "Since the form could not be printed, print it again."),
        ("报名没能提交怎么办？", "提交报名后请等通知。", "报名未能提交。"),
    ],
)
def test_the_users_own_trouble_is_no_failed_deed(prompt: str, reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "failure", prompt=prompt)


@pytest.mark.parametrize(
    ("prompt", "reference", "candidate"),
    [
        ("", "Install the app again after the update.", "The update failed to install."),
        ("When will my refund be paid?", "Your refund was paid today.", "Your refund could not be paid."),
        ("", "Your order ships today.", "Your order could not ship, so contact the bank."),
        ("报名提交了吗？", "报名已提交，请等通知。", "报名未能提交。"),
    ],
)
def test_a_failed_deed_that_nobody_told_of_is_found(prompt: str, reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "failure", prompt=prompt)
