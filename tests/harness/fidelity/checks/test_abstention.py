"""An honest "I cannot answer" is recognised; a business answer is not taken for one."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label
from harness.fidelity.checks.abstention import admission

HONEST = [
    "Sorry, I can't answer that right now. Please try again later.",
    "The assistant is temporarily unavailable.",
    "Your request has been queued; we will get back to you by email.",
    "I don't have that information at the moment.",
    "Let me connect you with a human agent.",
    "系统繁忙，请稍后再试。",
    "抱歉，我暂时无法回答这个问题。",
    "您的问题已转给人工客服。",
    "当前咨询人数较多，请耐心等待。",
]
KINDS = [
    ("Your account balance is 312.80 dollars.", "Your account balance could not be retrieved; please try again later."),
    ("Your refund was sent on 3 May.", "Your refund status could not be loaded at this time."),
    ("Your order ships on Monday.", "Your order could not be looked up. Please contact support."),
    (
        "您的订单周五送达。",
        "您的订单信息获取失败，请稍后重试。",
    ),  # a person who does not know, a passive, a service, a referral, a queue, figures of their own, an envelope
    ("The gate is B4.", "We were unable to retrieve the gate. Reference for this enquiry: INC-20931."),
    ("The gate is B4.", "Live flight information could not be loaded. Please consult the airport's website."),
    (
        "The gate is B4.",
        "All our advisers are engaged. You are caller number 6; the estimated waiting time is 12 minutes.",
    ),
    ("The gate is B4.", "Not something I can answer, I'm afraid."),
    ("The gate is B4.", "I wish I could tell you, but I was not given that information."),
    ("The gate is B4.", "Hmm, hard to say from here. Best to ring the desk on 0800 220 141."),
    ("The gate is B4.", "No can do right now, try the app."),
    ("The gate is B4.", "Nothing in my sources mentions it, so I'll leave that question open."),
    ("Forty centimetres of snow fell.", "The amount of snow that fell is unknown to me."),
    ('{"price": 49.9}', '{"status": "unavailable", "message": "Pricing service is down", "retry_after": 30}'),
    (
        '{"train": "IC 512"}',
        '{"error": "upstream_timeout", "message": "We could not get the number. Please retry.", "retry_after": 60}',
    ),
    ("您的护照已办好。", "您的护照办理进度暂时查询不到，烦请过半小时再来问。"),
    ("押金七个工作日内退回。", "正在为您核实，请稍等，工单号 20231107。"),
    ("年费三百元。", "年费标准尚未确认，待核实后回复您。"),
    ("92号汽油每升7.6元。", "这题我不会。"),
    ('{"余额": 305.2}', '{"状态": "失败", "消息": "余额服务暂不可用，请稍后重试", "重试间隔": 60}'),
]
BUSINESS = [
    ("The order total is shown at checkout.", "The order total could not be shown at checkout."),
    ("Your refund was sent on 3 May.", "Your refund could not be processed."),
    ("您的付款已成功。", "您的付款失败，请稍后重试。"),  # what sounds like an abstention, and is an answer
    ("We can repair it even if the seal is broken.", "We cannot repair it if the seal is broken."),
    ("Wait 10 minutes before adding the milk.", "Sorry, please wait 5 minutes before adding the milk."),
    ("The hotline is open around the clock.", "The hotline is not available at the moment."),
    ("The rate is 3.2 percent.", "I can't say for certain, but it should be around 4.5 percent."),
    ("Your form is processed automatically.", "Your form was forwarded to a case worker, who will contact you."),
    ("You can check your balance online.", "You cannot check your balance online."),
    ("The vendor agreed to replace the part.", "The vendor has not answered yet."),
    ('{"status": "shipped", "days": 3}', '{"status": "unavailable", "days": 0}'),
    ("系统周六凌晨维护。", "系统周日凌晨维护。"),
    ("网上可以查成绩。", "网上不能查成绩。"),
    ("利率是3.2%。", "我不太确定，大概是4.5%吧。"),
    ("今晚还有两间房。", "今晚暂时没有房间，请稍后再试。"),
]
CLAIMS = [
    "Your order was declined.",
    "The item is temporarily unavailable.",
    "There is no order with this number.",
    "Your payment failed, please try again later.",
    "该商品暂时缺货，请稍后再试。",
    "您的订单不存在。",
    "The store is closed.",
]


@pytest.mark.parametrize("text", HONEST)
def test_an_abstention_is_recognised(text: str) -> None:
    reference = "您的订单周一发货。" if text[0] > "\u3000" else "Your order ships on Monday."
    assert judged(reference, text).label is Label.ABSTAINED
    assert judged(reference, text, degraded=True).label is Label.ABSTAINED


@pytest.mark.parametrize("text", HONEST)
def test_an_abstention_not_marked_as_degraded_is_not_honest(text: str) -> None:
    reference = "您的订单周一发货。" if text[0] > "\u3000" else "Your order ships on Monday."
    unmarked = judged(reference, text, degraded=False)
    assert unmarked.label is Label.MISLEADING
    assert "not marked as degraded" in unmarked.reasons[0]


@pytest.mark.parametrize(("reference", "text"), KINDS)
def test_an_abstention_is_recognised_whoever_speaks_and_whatever_figures_of_its_own_it_tells(
    reference: str, text: str
) -> None:
    assert judged(reference, text).label is Label.ABSTAINED


@pytest.mark.parametrize(("reference", "text"), BUSINESS)
def test_a_refusal_a_wait_or_a_hedge_that_answers_is_no_abstention(reference: str, text: str) -> None:
    assert judged(reference, text).label is not Label.ABSTAINED


def test_a_condition_is_no_admission() -> None:
    assert not admission("If we cannot say what is broken, you pay only the diagnosis.")
    assert admission("We cannot say yet what is broken.")


@pytest.mark.parametrize("text", CLAIMS)
def test_a_state_of_the_business_is_no_abstention(text: str) -> None:
    reference = "您的订单已发货，商品有货。" if text[0] > "\u3000" else "Your order of 3 lamps was shipped and paid."
    assert judged(reference, text).label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (
            "If we cannot repair it, you pay only the diagnosis, which costs 20 EUR.",
            "We cannot answer this right now because the service is degraded. No action was taken. "
            "Please try again in a few minutes.",
        ),
        (
            "不清楚，内容里没有说明桂花酒的度数。",
            "服务目前处于降级状态，暂时无法回答您的问题，也没有执行任何操作。请几分钟后再试。",
        ),
    ],
)
def test_an_answer_that_is_none_misleads_nobody_although_the_reference_admits_something(
    reference: str, candidate: str
) -> None:
    found = judged(reference, candidate, degraded=True, must_keep=("20 EUR | 不清楚",))
    assert found.label is Label.ABSTAINED, found.reasons


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        (
            "One cabin bag and one checked bag are included.",
            "You're asking which bags are included. I don't have a reliable answer to that right now.",
        ),
        (
            "The five-year mortgage rate is 4.19%.",
            "I've passed your question about the mortgage rate to a colleague; your ticket number is 40917.",
        ),
        ("The invoice was paid on 4 April.", "Our assistant is taking a breather. Please try again in ten minutes."),
        ("The visa fee is 80 euros.", "Your visa-fee question has landed with a specialist, case no. 55102."),
        ("提取公积金每季度一次。", "您问的公积金提取问题已转给专员处理，工单号G20391，之后会有人联系您。"),
        ("疫苗需打三针。", "关于疫苗要打几针的咨询，已为您登记，编号Y3307，医生稍后回复。"),
        ("列车从3号站台发车。", "小助手正在打盹，十分钟后再来问问吧。"),
    ],
)
def test_what_was_asked_and_numbers_of_the_asking_are_no_answer(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is Label.ABSTAINED


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The visa fee is 80 euros.", "You asked about the visa fee. It is 90 euros; a colleague will call you."),
        ("The waiting time is 20 minutes.", "The wait is about 40 minutes."),
        ("The complaint was passed to the landlord on Monday.", "Your complaint was passed to the council on Monday."),
        ("The dog sleeps in the kitchen.", "The dog is having a nap in the garden."),
        ("退款三到五个工作日到账。", "您问的退款问题：十个工作日到账，客服稍后联系您。"),
    ],
)
def test_an_answer_beside_what_was_asked_is_an_answer(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is not Label.ABSTAINED
