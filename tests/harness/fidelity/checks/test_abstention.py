"""An honest "I cannot answer" is recognised; a business answer is not taken for one."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

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
def test_an_answer_that_is_none_misleads_nobody_although_the_reference_admits_something(reference, candidate):
    found = judged(reference, candidate, degraded=True, must_keep=("20 EUR | 不清楚",))
    assert found.label is Label.ABSTAINED, found.reasons
