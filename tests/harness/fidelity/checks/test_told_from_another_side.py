"""Ends for lengths, parts of a whole, comparisons and bounds from the other side: the same, and lies by the same means."""

# ruff: noqa: E501 (pairs stay whole)

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

SAME = [
    ("The library is nearer to the station than the museum.", "The museum is farther from the station than the library."),
    ("The tour starts at 2 p.m. and lasts two hours.", "The tour starts at 2 p.m. and is over at 4 p.m."),
    ("The ferry leaves at 11:30 and arrives at 13:00.", "The ferry leaves at 11:30 and arrives an hour and a half later."),
    ("瑜伽班周一由陈老师带，周五由刘老师带。", "瑜伽班周五由刘老师带，周一由陈老师带。"),
    ("进入机房必须提前登记。", "没有提前登记的人，是进不了机房的。"),
    ("30% of the tickets go to members and 75% of the rest are sold online.", "30% of the tickets go to members; of the rest three quarters are sold online."),
    ("Drones must stay within 120 metres of the pilot.", "Never let the drone get farther than 120 metres from the pilot."),
    ("The lift may carry up to 400 kilograms.", "The lift carries no more than 400 kilograms."),
    ("Unfortunately, the pool is closed on Monday.", "The pool is closed on Monday."),
    ("Mr. Hart paid the invoice to Ms. Lind.", "Ms. Lind was paid the invoice by Mr. Hart."),
    ("早会九点四十五分开始。", "早会十点差一刻开始。"),
    ("儿童床长1.4米。", "儿童床一米四长。"),
    ("童鞋一律打八五折。", "童鞋都按原价的百分之八十五卖。"),
    ("带壳的鸡蛋不能用微波炉加热。", "带壳的鸡蛋哪能用微波炉加热呢？"),
    ("公司对因不可抗力造成的损失不负责。", "因不可抗力造成的损失，公司不负责。"),
    ("如果下大雨，音乐会就取消。", "音乐会除非下大雨才取消。"),
    ("The price for the fence is 900 euros net.", "Without VAT the price for the fence is 900 euros."),
    ("If it snows, the market moves to the hall.", "The market is outdoors unless it snows, in which case it moves to the hall."),
    ("A wash and cut costs 30 euros, or 24 euros without the wash.", "A wash and cut costs 30 euros, or 24 euros if you skip the wash."),
    ("Where you live does not matter for membership.", "For membership it does not matter where you live."),
    ("Contactless payments need no PIN.", "You do not need a PIN for contactless payments."),
    ("The bridge cost 7.5 million euros.", "The bridge cost seven and a half million euros."),
    ("It is too late to change the menu.", "The menu can no longer be changed."),
    ("如需退款，请于收货后七日内申请，逾期不予受理。", "要退款的话，收货后7天以内申请，过期就不给退了。"),
    ("A locker costs one euro.", "A locker costs a euro."),
    ("The pump failed because the filter was blocked.", "Because the filter was blocked, the pump failed."),
    ("The mill opened in 1871 and burned down in 1904.", "The mill burned down in 1904, thirty-three years after it opened in 1871."),
    ("The last bus leaves at 23:45.", "The last bus leaves at a quarter to midnight."),
    ("0.5% of the jars came back broken.", "One jar in every two hundred came back broken."),
    ("泳池8月5日关闭一天，次日恢复开放。", "泳池8月5日关闭一天，6号恢复开放。"),
    ("昨晚的大风刮倒了一棵树。", "昨夜的大风刮倒了一棵树。"),
    ("共有八百人报名，其中学生两百人。", "共有八百人报名，四分之一是学生。"),
    ("Twelve of the singers are under 18.", "Twelve of the singers are not yet eighteen."),
    ("Nobody has been hired for the post yet.", "So far the post has not been given to anyone."),
    ("Children under ten must be with an adult in the pool.", "Nobody younger than ten may be in the pool without an adult."),
    ("这家店只收现金。", "在这家店只能付现金，其他付款方式一概不接受。"),
    ("The escalator works again.", "The escalator is no longer out of order."),
]  # fmt: skip
OTHER = [
    ("The library is nearer to the station than the museum.", "The museum is nearer to the station than the library."),
    ("The tour starts at 2 p.m. and lasts two hours.", "The tour starts at 2 p.m. and is over at 5 p.m."),
    ("瑜伽班周一由陈老师带，周五由刘老师带。", "瑜伽班周五由陈老师带，周一由刘老师带。"),
    ("进入机房必须提前登记。", "没有提前登记的人，也进得了机房。"),
    ("30% of the seats are sold online.", "Three quarters of the seats are sold online."),
    ("Drones must stay within 120 metres of the pilot.", "Drones must stay farther than 120 metres from the pilot."),
    ("这款零食只能给五岁以上的儿童食用。", "这款零食五岁以上的儿童可以食用，五岁以下的儿童也可以食用。"),
    ("这次停水只涉及三号楼的一部分住户。", "这次停水，凡是三号楼的住户统统都受影响。"),
    ("Mr. Hart paid Ms. Lind for the piano.", "Ms. Lind paid Mr. Hart for the piano."),
    ("The guest was welcomed by Ms. Lind.", "The guest welcomed Ms. Lind."),
    ("The deadline is 30 May at noon.", "The deadline is 30 May at noon, but it can be put off by a week."),
    ("教练说他恢复得很好，下周可以上场。", "教练说他恢复得不好，下周不能上场。"),
    ("The price includes delivery.", "On this price, delivery comes on top."),
    ("早会九点四十五分开始。", "早会十点一刻开始。"),
    ("物业每季度检查一次消防栓。", "物业每个月检查一次消防栓。"),
    ("并不是所有的药店都收医保卡。", "所有的药店都不收医保卡。"),
    ("Not all of our cheeses are vegetarian.", "None of our cheeses are vegetarian."),
    ("全场七折，家电和特价商品除外。", "全场七折，家电和特价商品也一起打折。"),
    ("体检的人里只有个别人血压高。", "体检的人里多半血压高。"),
    ("Each visitor may borrow two umbrellas.", "A family may borrow two umbrellas between them."),
    ("金属受热一般会膨胀。", "金属受热一般会缩小。"),
    ("导航功能计划下个版本上线，目前还在测试。", "导航功能已经上线，测试也做完了。"),
    ("The visa takes eight to ten weeks.", "The visa takes two weeks."),
    ("Vouchers may be used within a year, provided the seal has not been broken.", "For twelve months the vouchers can be used."),
    ("喷漆时要开窗。千万不能靠近明火，否则会爆炸。", "喷漆的时候把窗户打开就行。"),
    ("The pump failed because the filter was blocked.", "The filter was blocked because the pump had failed."),
    ("因为水管冻裂了，地下室被淹。", "因为地下室被淹，水管冻裂了。"),
    ("图书馆每天开到晚上九点。", "图书馆每天从晚上九点开始开放。"),
    ("如需退款，请于收货后七日内申请，逾期不予受理。", "如需退款，请于收货七日后申请。"),
    ("The last bus leaves at 23:45.", "The last bus leaves at a quarter past midnight."),
    ("泳池8月5日关闭一天，次日恢复开放。", "泳池8月5日关一天，8号恢复开放。"),
    ("The patch has been rolled out to all servers.", "The patch has yet to be rolled out to all servers."),
    ("The wine for the cod is a dry Riesling.", "This is about which wine to drink with the cod."),
    ("发票抬头应写公司全称。", "操作成功。"),
    ("The parcel is at the depot in Gent.", "Your request was processed successfully."),
    ("Always pour the acid into the water, never the water into the acid.", "Always pour the water into the acid, never the acid into the water."),
    ("To register, bring the form and a passport.", "To register, bring the form or a passport."),
    ("赵敏把修好的手表交给了钱进。", "钱进把修好的手表交给了赵敏。"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same_told_from_another_side_is_faithful(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.FAITHFUL, found.reasons


@pytest.mark.parametrize(("reference", "candidate"), OTHER)
def test_a_lie_by_the_same_means_is_found(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.MISLEADING, found.reasons
