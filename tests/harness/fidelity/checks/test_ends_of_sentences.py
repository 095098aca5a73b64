"""Where a sentence ends without a full stop, where it is cut, and a mere yes or no to a question."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.checks import degenerate, truncation
from harness.fidelity.reading.pair import pair

WHOLE = [
    ("Sign with the pen that you were given.", "Sign using the pen you were provided with"),
    ("Show the passport used for the application.", "Show the same passport you applied with"),
    ("Stay inside.", "Do not leave the room you are in"),
    ("Connect the lamp.", "Plug the lamp in"),
    ("Start the heater with the red knob.", "Turn the red knob to switch the heater on"),
    ("The delivery needs a signature.", "The delivery must be signed for"),
    ("Send it back in its box.", "Return it in the box that it came in"),
    ("改签免费。", "改签是免费的"),
    ("发票能补开。", "发票可以补的"),
    ("这张券可以叠加。", "这张券是可以叠加的"),
    ("要带护照。", "护照是必须的"),
    ("不用押金。", "押金不需要"),
    ("包裹后天到达。", "包裹后天到"),
    ("经理今天外出。", "经理今天不在"),
    ("自提件到了。", "自提件已到"),
    ("保修期两年。", "保修期是两年的"),
    ("The form goes to the desk.", "Hand the form in"),
    ("The lamp stays lit.", "Keep the lamp on"),
    ("The box belongs in the cellar.", "Once you have the box, bring it in"),
]
CUT = [
    ("Return it in the box with the label.", "Return it in the box with"),
    ("We notify you when you arrive at the gate.", "We notify you when you arrive at"),
    ("Take the bus to the harbour.", "To get there take the bus to"),
    ("Pay at the desk with your card.", "You can pay at the desk with"),
    ("The parcel was sent to Lyon.", "The parcel was sent to"),
    ("Please log in to the portal.", "Kindly log in to the"),
    ("请联系您的经理。", "请您联系您的"),
    ("退款三天内退到您的银行卡。", "退款可以在三天内退到您的"),
    ("请把表格交到二楼的前台。", "请把表格交到二楼的"),
    ("我们会把发票寄到公司。", "发票我们会寄到"),
    ("每天早上九点开门，晚上八点关门。", "营业时间为每天上午九点到"),
    ("每个月5日起可以缴费，10日截止。", "缴费时间是每月5日到"),
    ("展览下周开始，年底结束。", "展览自下周到"),
    ("每天九点开门，五点关门。", "我们营业时间是每天的"),
    ("周三下午有培训。", "培训是周三的"),
    ("Keys go into the red box.", "Please drop your keys in"),
    ("The form stays on the counter.", "Please leave the form on"),
    ("The card goes into the reader.", "Put the card in"),
    ("A copy is needed before Friday.", "Bring a copy by"),
    ("Page two has a box to tick.", "Check the box on"),
    ("Before ten it has to be turned on.", "Turn it on by"),
    ("The rack takes the bottle, gently.", "Place the bottle carefully in"),
]
SAME = [
    ("Can I pay by cheque?", "Yes, you can pay by cheque.", "Yes."),
    ("Can I pay by cheque?", "Yes, you can pay by cheque.", "Yes, you can"),
    ("Hello, is the deposit refundable?", "No, the deposit is not refundable.", "No."),
    ("能用支票付款吗？", "可以用支票付款。", "可以的"),
    ("能用支票付款吗？", "可以用支票付款。", "是的。"),
    ("押金退吗？", "押金不退。", "不退。"),
    ("有没有停车位？", "没有停车位。", "没有。"),
]
OTHER = [
    ("Can I pay by cheque?", "Yes, you can pay by cheque.", "No."),
    ("Is the deposit refundable?", "No, the deposit is not refundable.", "Yes."),
    ("能用支票付款吗？", "可以用支票付款。", "不可以。"),
    ("有没有停车位？", "没有停车位。", "有的。"),
    ("When does it open?", "It opens at nine.", "Yes."),
    ("几点开门？", "九点开门。", "是的。"),
    ("Can I pay by cheque?", "Yes, but only above 50 euros and with your passport.", "Yes."),
]


def broken(reference: str, candidate: str) -> bool:
    both = pair(Case(id="1", reference=reference, candidate=candidate))
    return any(finding.severity > 0.5 for finding in truncation.check(both))


@pytest.mark.parametrize(("reference", "candidate"), WHOLE)
def test_a_whole_sentence_needs_no_full_stop(reference: str, candidate: str) -> None:
    assert not broken(reference, candidate)


@pytest.mark.parametrize(("reference", "candidate"), CUT)
def test_a_sentence_that_is_cut_is_found(reference: str, candidate: str) -> None:
    assert broken(reference, candidate)


@pytest.mark.parametrize(("prompt", "reference", "candidate"), SAME)
def test_a_mere_yes_or_no_is_an_answer_where_it_is_the_references(prompt: str, reference: str, candidate: str) -> None:
    both = pair(Case(id="1", reference=reference, candidate=candidate, prompt=prompt))
    assert not degenerate.check(both)
    assert not [finding for finding in truncation.check(both) if finding.severity > 0.5]
    assert judged(reference, candidate, prompt=prompt).label is Label.FAITHFUL


@pytest.mark.parametrize(("prompt", "reference", "candidate"), OTHER)
def test_a_mere_yes_or_no_is_none_where_the_reference_says_otherwise_or_more(
    prompt: str, reference: str, candidate: str
) -> None:
    assert judged(reference, candidate, prompt=prompt).label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Parking is free.", "Yes, parking is free."),
        ("Yes, parking is free.", "Parking is free."),
        ("The deposit is not returned.", "No, the deposit is not returned."),
        ("停车免费。", "是的，停车免费。"),
        ("不，押金不退。", "押金不退。"),
        ("不能，押金不退。", "您好，不能，押金不退。"),
        ("Yes, parking is free.", "Hello, yes, parking is free."),
    ],
)
def test_a_leading_yes_or_no_that_agrees_is_no_difference(reference: str, candidate: str) -> None:
    assert not pair(Case(id="1", reference=reference, candidate=candidate)).differs
    assert judged(reference, candidate).risk < 0.1


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Parking is free.", "Yes, parking is not free."),
        ("No, parking is free.", "Yes, parking is free."),
        ("停车免费。", "是的，停车不免费。"),
    ],
)
def test_a_leading_yes_hides_no_contradiction(reference: str, candidate: str) -> None:
    assert pair(Case(id="1", reference=reference, candidate=candidate)).differs
    assert complaints(reference, candidate, "negation") or complaints(reference, candidate, "stance")
