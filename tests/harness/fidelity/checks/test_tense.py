"""Done, under way, to come, given up: a verb told at another stage is another fact."""

import pytest

from harness.fidelity.case import Case
from harness.fidelity.checks.tense import check
from harness.fidelity.reading.pair import pair


def told_otherwise(reference: str, candidate: str) -> bool:
    return any(f.certain for f in check(pair(Case(id="1", reference=reference, candidate=candidate))))


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The parcel has arrived.", "The parcel will arrive."),
        ("The parcel has been delivered.", "Your parcel will be delivered soon."),
        ("We have refunded you.", "We will refund you."),
        ("We refunded you yesterday.", "We are going to refund you."),
        ("I have finished the report.", "I will finish the report."),
        ("The concert was cancelled.", "The concert is going to be cancelled."),
        ("The letter has gone out.", "The letter goes out tomorrow."),
        ("The lift is being repaired.", "The lift has been repaired."),
        ("The lift is being repaired.", "They will repair the lift."),
        ("The lift is about to be repaired.", "The lift has been repaired."),
        ("We used to deliver on Sundays.", "We now deliver on Sundays."),
        ("Your table is ready.", "Your table will be ready shortly."),
        ("The bridge opened.", "The bridge will open."),
        ("The train left.", "The train is about to leave."),
        ("款项已退。", "款项将退。"),
        ("包裹已送达。", "包裹将送达。"),
        ("包裹已送达。", "您的包裹明天送达。"),
        ("包裹刚刚送到。", "包裹马上送到。"),
        ("我们刚退了款。", "我们马上退款。"),
        ("电梯正在维修。", "电梯已经修好了。"),
        ("电梯正在维修。", "电梯即将维修。"),
        ("店里以前周日营业。", "店里现在周日营业。"),
        ("会议已经开始。", "会议即将开始。"),
        ("快递到了。", "快递快到了。"),
        ("订单已取消。", "订单将被取消。"),
        ("我们已通知客户。", "我们会通知客户。"),
    ],
)
def test_another_stage_is_told(reference: str, candidate: str) -> None:
    assert told_otherwise(reference, candidate)
    assert told_otherwise(candidate, reference)


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("The train leaves at 9.", "The train will leave at 9."),
        ("The amount is refunded within 5 days.", "The amount will be refunded within 5 days."),
        ("The parcel has arrived.", "The parcel arrived."),
        ("The parcel has arrived.", "Your parcel is here; it got here already."),
        ("We have refunded you.", "You were refunded."),
        ("The concert was cancelled.", "They have called off the concert."),
        ("The letter goes out tomorrow.", "We will send the letter out tomorrow."),
        ("The lift is being repaired.", "They are repairing the lift."),
        ("The lift has not been repaired yet.", "The lift will be repaired later."),
        ("We used to deliver on Sundays.", "We no longer deliver on Sundays."),
        ("We used to deliver on Sundays.", "In the past we delivered on Sundays."),
        ("Your order will be shipped once it has been paid.", "When you have paid, we ship your order."),
        ("If the item was damaged, it will be replaced.", "A damaged item will be replaced."),
        ("Your delivery has been scheduled for Monday.", "We will deliver on Monday."),
        ("The first parcel has arrived and the second will arrive soon.", "One parcel has arrived, another will."),
        ("We are sending you a new key.", "We will send you a new key."),
        ("Members can cancel whenever they have booked.", "Members will be able to cancel what they booked."),
        ("Your laptop will be repaired by Thursday.", "We will have your laptop fixed by Thursday."),
        ("If it snows, the school stays closed.", "The school will be shut in case of snow."),
        ("款项已退。", "钱已经退给您了。"),
        ("我们已将款项退还。", "我们把款项退还给您了。"),
        ("包裹将于明天送达。", "包裹明天送达。"),
        ("包裹已安排明天送达。", "包裹将于明天送达。"),
        ("电梯正在维修。", "电梯维修中。"),
        ("付款后将发货。", "付款之后就发货。"),
        ("尚未发货。", "稍后发货。"),
        ("退款会在三天内到账。", "退款三天内到账。"),
        ("会议九点开始。", "会议将于九点开始。"),
        ("店里以前周日营业。", "店里周日不再营业。"),
        ("签收后如已拆封，将不予退货。", "拆封后不能退。"),
        ("It will be cancelled on 9 September unless you pay.", "Pay by 9 September to save it from being cancelled."),
        ("Refunds usually show up within five days.", "As a rule you will see it within five days."),
        ("The train will wait for ten minutes.", "The train is being held for ten minutes."),
        ("超时订单将自动取消。", "过了点系统就给取消了。"),
        ("证书将在6月18日过期。", "到6月18日证书就失效了。"),
        ("请将卡插入机器。", "把卡插进机器里。"),
        ("我们已受理您的申请，将在三天内回复。", "您的申请我们收到了，三天内会回复。"),
        (
            "Your parcel reached our depot at 6:40 and will be delivered today.",
            "Your parcel got to our depot at 6:40. Expect it today.",
        ),
    ],
)
def test_the_same_stage_in_other_words_is_left_alone(reference: str, candidate: str) -> None:
    assert not told_otherwise(reference, candidate)
    assert not told_otherwise(candidate, reference)
