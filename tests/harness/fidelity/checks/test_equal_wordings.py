"""A denial, an opposite or a condition that the other text says by a rule of the language; a lie in the same words is found."""

# ruff: noqa: E501 (pairs stay whole)

import pytest

from harness.fidelity.case import Case, Finding
from harness.fidelity.reading.pair import pair
from harness.fidelity.verdict import findings_of

WRONG = 0.9  # severity from which a finding says that something is wrong
_CHECKS = frozenset({"negation", "antonyms", "conditions", "sequence"})
SAME = [
    # set aside
    ("The lift now stops on floor 6 instead of floor 4.", "The lift now stops on floor 6, not floor 4."),
    ("The toll drops from 12 to 9 euros in May.", "From May the toll is 9 euros rather than 12."),
    ("The fence is made of steel instead of wood.", "The fence is of steel rather than wood."),
    ("年费从300元涨到360元。", "年费是360元，不再是300元。"),
    ("会议由线下改为线上。", "会议改成线上，而不是线下。"),
    # bounds
    ("The trailer may weigh at most 750 kg.", "The trailer may be no heavier than 750 kg."),
    ("Photos must be at most six months old.", "Photos may be no older than six months."),
    (
        "The tank must be kept between 4 and 9 degrees.",
        "The tank may be neither colder than 4 degrees nor warmer than 9.",
    ),
    ("入学儿童最大七岁。", "入学儿童不能大过七岁。"),
    ("开户还不到三天。", "开户没过三天。"),
    # not before
    ("The keys can be collected on 3 June at the earliest.", "The keys cannot be collected before 3 June."),
    ("Checkout is not before 8 a.m.", "Checkout starts at 8 a.m. at the earliest."),
    ("The repair isn't possible before Thursday.", "For the repair, Thursday's the earliest."),
    ("新手机最早周五到货。", "新手机周五之前到不了货。"),
    ("最早下午三点才能入住。", "下午三点之前不能入住。"),
    # undone
    ("The jar is fine as long as the lid has not been opened.", "The jar is fine provided the lid is unopened."),
    ("Make sure that the label is not damaged.", "Make sure the label is undamaged."),
    (
        "Have the ticket validated; the guard will not accept it unvalidated.",
        "Get the ticket validated; the guard does not accept unvalidated tickets.",
    ),
    ("No parcels were lost.", "The parcels arrived without any loss."),
    ("No flight was cancelled.", "There was not a single cancelled flight."),
    # free
    ("三天内取消不收取任何费用。", "三天内取消不用花一分钱。"),
    ("儿童乘车免费。", "儿童坐车不要钱。"),
    ("停车不收费。", "停车分文不取。"),
    ("Cancelling within three days costs nothing.", "If you cancel within three days, no fee is charged."),
    ("The second visit is free of charge.", "You do not pay anything for the second visit."),
    # named state
    ("受大雾影响，今天的渡轮停航。", "因为大雾，今天渡轮都取消了。"),
    ("具体地点待定。", "具体地点还没定。"),
    ("早餐另计。", "价格不含早餐。"),
    ("油压不足，机器会停。", "油压不够，机器会停。"),
    ("检查前要空腹。", "检查前不要吃东西。"),
    # overdue, banned
    ("逾期交租要付违约金。", "未按时交租要付违约金。"),
    ("儿童禁用此滴眼液。", "儿童不要使用此滴眼液。"),
    ("新功能暂缓发布。", "新功能暂不发布。"),
    ("不必重新登记。", "用不着重新登记。"),
    ("忘记口令时请联系前台。", "口令想不起来就联系前台。"),
    # only
    (
        "To collect the parcel you have to show your passport.",
        "We can't hand over the parcel unless you show your passport.",
    ),
    (
        "Tenants must hand in the keys in person.",
        "Nobody else can hand in the keys; tenants have to bring them themselves.",
    ),
    ("除非医生同意，否则不能停药。", "要停药，必须经医生同意。"),
    ("只有业主本人才能领取门卡。", "门卡须由业主本人领取，别人不能代领。"),
    ("Payment is by card only.", "Cash is not accepted; a card is the only way to pay."),
    # or else
    ("Clean the filter weekly, or the pump will not start.", "The pump only starts if you clean the filter weekly."),
    (
        "Save the file first, otherwise the changes won't be applied.",
        "The changes are only applied once you have saved the file.",
    ),
    ("Log in again or the update won't be shown.", "The update is shown only after you log in again."),
    ("请先充值，否则无法通话。", "先充值才能通话。"),
    ("合同必须双方盖章才生效。", "缺了任何一方的章，合同都无效。"),
    # all needed
    ("Both owners have to sign.", "One owner's signature is not enough; it takes both."),
    ("Each tenant must agree.", "A single tenant's consent won't do; every tenant must agree."),
    ("户口本和身份证缺一不可。", "户口本和身份证两样都要带。"),
    ("两把钥匙都要带，缺一不可。", "两把钥匙少一把都不行。"),
    ("Both keys are needed to open the safe.", "The safe does not open with only one key; you need both."),
    # kept, ruled out
    ("The tools cannot be taken out of the workshop.", "The tools have to stay in the workshop."),
    ("A later date has been ruled out.", "A later date is off the table."),
    ("Do not bring glass, cans or knives.", "Glass, cans, knives: off limits, all of them."),
    ("Every dish except the soup is vegan.", "Every dish is vegan; the soup is the exception."),
    ("Do not eat or drink before the scan.", "Have nothing to eat or drink before the scan."),
    # without, more than once
    ("You can have the salad, but without the olives.", "You can have the salad with the olives left out."),
    ("The water will be off for an hour.", "You'll be without water for an hour."),
    ("Rinse the pan only once.", "Do not rinse the pan more than once."),
    ("Stir the paint twice at most.", "Do not stir the paint more than twice."),
    ("这种胶只能加热一次。", "这种胶加热不能超过一次。"),
    # questions
    ("If nobody opens, call Rosa.", "Nobody opens? Call Rosa."),
    ("If there is no reply, ring twice.", "No reply? Ring twice."),
    ("If the card does not work, use the code.", "The card doesn't work? Use the code."),
    ("没人接就打给小李。", "没人接？那就打给小李。"),
    ("如果没有信号，请重启路由器。", "没有信号？重启路由器。"),
    # not reversal
    (
        "Mars is colder than Earth although it is farther from the Sun than Venus.",
        "Earth is warmer than Mars; Mars lies a longer way from the Sun than Venus.",
    ),
    ("Empty the bin before you clean the pending tray.", "Clear out the bin, then clean the pending tray."),
    ("Unlock the shed with the small key.", "The shed opens with the small key."),
    ("只有残疾人才能办理免费通行证。", "不是残疾人,办不了免费通行证。"),
    ("The village is far from the coast.", "The village lies a long way from the coast."),
    # antonyms: sides
    ("You can buy stamps at the counter.", "Stamps are sold at the counter."),
    ("Rented skis must be returned by noon.", "If we let skis to you, they must be returned by noon."),
    ("A wooden bridge is harder to build than a stone one.", "A stone bridge is easier to build than a wooden one."),
    ("Nora finished two minutes ahead of Lena.", "Lena finished two minutes behind Nora."),
    ("二档的价格比一档高。", "一档的价格比二档低。"),
    # antonyms: bounds
    (
        "The tunnel is open to cars, but vans over 3.5 tonnes are banned.",
        "Cars can use the tunnel; there's a ban on vans of more than 3.5 tonnes.",
    ),
    ("The ford is shut to riders over 16 stone.", "Riders heavier than 16 stone are banned from the ford."),
    (
        "If the sensor shows more than 50 degrees, reject the batch.",
        "Should the sensor show over 50 degrees, don't use any of the batch.",
    ),
    ("Delivery is in week 12 at the earliest.", "Delivery is in week 12 or later."),
    ("护照有效期不足半年，因此不能申请签证。", "签证要求护照有效期至少半年，您的达不到，申请不了。"),
    # antonyms: word class
    ("The command leaves your changes staged.", "The command removes nothing; all you changed stays staged."),
    ("Once it is used up, your speed falls to 1 Mbit/s.", "Once it is used up, you are slowed to 1 Mbit/s."),
    ("Arrival is at 9, at the latest.", "Arrival is at 9 or earlier."),
    ("Your landlord may enter only with your consent.", "Your landlord is not allowed to enter without your consent."),
    (
        "A guest may enter only with a pass, except on Sundays.",
        "Unless it is Sunday, no guest is allowed in without a pass.",
    ),
    # further words
    ("The shop is now in Mill Street, not in Bath Road.", "The shop has moved from Bath Road to Mill Street."),
    ("The deposit rises from 150 to 180 pounds.", "The deposit will be 180 pounds instead of 150."),
    ("Use oil rather than butter.", "Use oil in place of butter."),
    ("集合时间由八点改为九点。", "集合时间是九点，不再是八点。"),
    ("Drivers must be at most 75 years old.", "Drivers may be no older than 75."),
    ("The rope has to be at least 20 m long.", "The rope may be no shorter than 20 m."),
    ("包裹不得重于20公斤。", "包裹最多20公斤。"),
    ("The ferry leaves at 10:15 at the earliest.", "The ferry does not leave before 10:15."),
    ("报告最早下周一出来。", "报告下周一之前出不来。"),
    ("Make sure the filter is not blocked.", "Make sure the filter is unblocked."),
    ("The ring is fine if the wax has not been touched.", "The ring is fine if the wax is untouched."),
    ("Nothing was stolen, and no window was broken.", "No window was broken and nothing was stolen."),
    ("No booking was rejected.", "Not one booking was rejected."),
    ("改签不收手续费。", "改签免手续费。"),
    ("前三个月用不着交物业费。", "前三个月免物业费。"),
    ("Delivery costs nothing from 30 euros.", "From 30 euros you don't pay anything for delivery."),
    ("因台风，所有航班停飞。", "因台风，航班全部取消。"),
    ("开庭时间待定。", "开庭时间尚未确定。"),
    ("餐费另计。", "餐费不含在内。"),
    ("超期归还图书会被罚款。", "没有按时归还图书会被罚款。"),
    ("孕妇忌用。", "孕妇不要用。"),
    ("人手不足，周末不营业。", "人手不够，周末不营业。"),
    ("新政策暂缓实施。", "新政策暂不实施。"),
    ("You have to sign in person to withdraw the will.", "The will cannot be withdrawn unless you sign in person."),
    (
        "Only the patient may collect the results.",
        "Nobody else may collect the results, the patient has to come in person.",
    ),
    ("除非经理批准，否则不能加班。", "加班必须经经理批准。"),
    ("You can only apply by post.", "E-mail applications are not accepted; post is the only way."),
    ("Close the lid, or the machine will not start.", "The machine starts only when the lid is closed."),
    ("请先登录，否则看不到订单。", "登录后才能看到订单。"),
    ("Both witnesses must be present.", "One witness is not enough; both must be present."),
    ("身份证和照片缺一不可。", "身份证和照片都要带。"),
    ("The books may not be taken out of the room.", "The books have to stay in the room."),
    ("All rooms except room 4 have a view.", "All rooms have a view; room 4 is the exception."),
    ("Dogs, cats and birds are not allowed.", "Dogs, cats, birds: not allowed, all three."),
    ("Take nothing to eat with you.", "Do not take anything to eat with you."),
    ("I'd like the burger without onions.", "The burger, please, with the onions left out."),
    ("The heating will be off tonight.", "Tonight you'll be without heating."),
    ("Wash the wool only once a year.", "Don't wash the wool more than once a year."),
    ("If nobody is home, use the safe place.", "Nobody home? Use the safe place."),
    ("如果没人开门，就放门口。", "没人开门？放门口就行。"),
    ("We sell eggs at the gate.", "You can buy eggs at the gate."),
    ("Copper is more expensive than steel.", "Steel is cheaper than copper."),
    ("Tim arrived five minutes behind Eva.", "Eva arrived five minutes ahead of Tim."),
    ("Lorries over 12 tonnes are prohibited.", "There is a ban on lorries of more than 12 tonnes."),
    ("Arrive at 6 at the latest.", "Arrive at 6 or earlier."),
    ("You may enter only with a helmet.", "You may not enter without a helmet."),
    ("The ford is passable until 4 pm.", "After 4 pm the ford is not passable."),
    ("记不起密码请点这里。", "忘记密码请点这里。"),
    ("Visitors are welcome whenever they like.", "Visitors are welcome at any time."),
    ("Whoever loses the key pays for the lock.", "If you lose the key, you pay for the lock."),
]
TURNED = [
    # set aside
    ("The toll drops from 12 to 9 euros in May.", "From May the toll is 12 euros rather than 9."),
    ("The fence is made of steel instead of wood.", "The fence is made of wood rather than steel."),
    ("年费从300元涨到360元。", "年费是300元，不是360元。"),
    ("会议由线下改为线上。", "会议是线下，而不是线上。"),
    # bounds
    ("The trailer may weigh at most 750 kg.", "The trailer may be no lighter than 750 kg."),
    ("Photos must be at most six months old.", "Photos must be older than six months."),
    ("The hose is at least 5 m long.", "The hose is no longer than 5 m."),
    ("开户还不到三天。", "开户已超过三天。"),
    ("The pole must be no shorter than 2 m.", "The pole must be no longer than 2 m."),
    # not before
    ("The keys can be collected on 3 June at the earliest.", "The keys must be collected before 3 June."),
    ("Checkout is not before 8 a.m.", "Checkout is at 8 a.m. at the latest."),
    ("新手机最早周五到货。", "新手机周五之前能到货。"),
    ("The repair isn't possible before Thursday.", "The repair will be done by Thursday."),
    # undone
    ("The jar is fine as long as the lid has not been opened.", "The jar is fine provided the lid is open."),
    ("The seal was not broken.", "The seal was broken."),
    ("No parcels were lost.", "Some parcels were lost."),
    ("No flight was cancelled.", "The flight was cancelled."),
    # free
    ("儿童乘车免费。", "儿童坐车要买票。"),
    ("停车不收费。", "停车要收费。"),
    ("The second visit is free of charge.", "There is a charge for the second visit."),
    # named state
    ("具体地点待定。", "具体地点已经定了。"),
    ("早餐另计。", "价格包含早餐。"),
    ("油压不足，机器会停。", "油压足够，机器会停。"),
    # overdue, banned
    ("逾期交租要付违约金。", "按时交租要付违约金。"),
    ("儿童禁用此滴眼液。", "儿童可以使用此滴眼液。"),
    ("不必重新登记。", "必须重新登记。"),
    ("包裹停止派送。", "包裹继续派送。"),
    # only
    ("To collect the parcel you have to show your passport.", "You need not show your passport to collect the parcel."),
    ("Tenants must hand in the keys in person.", "Tenants cannot hand in the keys in person."),
    ("只有业主本人才能领取门卡。", "业主本人不能领取门卡。"),
    # or else
    ("Clean the filter weekly, or the pump will not start.", "The pump only starts if you do not clean the filter."),
    ("合同必须双方盖章才生效。", "双方盖章的合同都无效。"),
    # all needed
    ("Both owners have to sign.", "One owner's signature is enough."),
    ("户口本和身份证缺一不可。", "户口本和身份证都不用带。"),
    ("Both keys are needed to open the safe.", "Both keys are not needed to open the safe."),
    ("Each tenant must agree.", "No tenant must agree."),
    # kept, ruled out
    ("The tools cannot be taken out of the workshop.", "The tools may be taken out of the workshop."),
    ("A later date has been ruled out.", "A later date is on the table."),
    ("Do not bring glass, cans or knives.", "Glass, cans, knives: all of them may be brought."),
    ("Every dish except the soup is vegan.", "Every dish is vegan; the soup is no exception."),
    # without, more than once
    ("You can have the salad, but without the olives.", "You can have the salad, with the olives included."),
    ("The water will be off for an hour.", "The water will be on for an hour."),
    ("Rinse the pan more than once.", "Do not rinse the pan more than once."),
    ("Stir the paint twice at most.", "Stir the paint more than twice."),
    # questions
    ("If nobody opens, call Rosa.", "Somebody opens? Do not call Rosa."),
    ("If there is no reply, ring twice.", "No reply? Do not ring."),
    ("If the card does not work, use the code.", "The card doesn't work? Do not use the code."),
    ("没人接就打给小李。", "没人接？别打给小李。"),
    ("如果没有信号，请重启路由器。", "没有信号？不要重启路由器。"),
    # not reversal
    ("The result is far from certain.", "The result is certain."),
    ("The tank is empty.", "The tank is full."),
    ("Unlock the shed with the small key.", "Lock the shed with the small key."),
    ("只有残疾人才能办理免费通行证。", "残疾人办不了免费通行证。"),
    ("The village is far from the coast.", "The village is close to the coast."),
    # antonyms: sides
    ("You can buy stamps at the counter.", "You can sell stamps at the counter."),
    ("A wooden bridge is harder to build than a stone one.", "A wooden bridge is easier to build than a stone one."),
    ("Nora finished two minutes ahead of Lena.", "Nora finished two minutes behind Lena."),
    ("二档的价格比一档高。", "二档的价格比一档低。"),
    ("The visitors may enter with a badge.", "The visitors may enter without a badge."),
    # antonyms: bounds
    ("Delivery is in week 12 at the earliest.", "Delivery is in week 12 at the latest."),
    ("Vans over 3.5 tonnes are banned.", "Only vans under 3.5 tonnes are banned."),
    ("Passwords over 20 characters are rejected.", "Passwords must be over 20 characters."),
    ("The fee applies to stays over 3 nights.", "The fee applies to stays under 3 nights."),
    ("有效期至少半年才能申请。", "有效期不足半年才能申请。"),
    # antonyms: word class
    ("The door is open.", "The door is closed."),
    ("The visitor's speed rose.", "The visitor's speed fell."),
    ("Arrival is at 9, at the latest.", "Arrival is at 9 or later."),
    ("Your landlord may enter only with your consent.", "Your landlord may enter without your consent."),
    ("The price rose.", "The price fell."),
    # further words
    ("The shop is now in Mill Street, not in Bath Road.", "The shop is now in Bath Road, not in Mill Street."),
    ("The deposit rises from 150 to 180 pounds.", "The deposit will be 150 pounds instead of 180."),
    ("Use oil rather than butter.", "Use butter rather than oil."),
    ("集合时间由八点改为九点。", "集合时间是八点，不再是九点。"),
    ("Drivers must be at most 75 years old.", "Drivers must be older than 75."),
    ("The rope may be no shorter than 20 m.", "The rope may be no longer than 20 m."),
    ("包裹不得重于20公斤。", "包裹至少20公斤。"),
    ("The ferry leaves at 10:15 at the earliest.", "The ferry leaves at 10:15 at the latest."),
    ("报告下周一之前出不来。", "报告下周一之前出来。"),
    ("Make sure the filter is not blocked.", "Make sure the filter is blocked."),
    ("The wax is untouched.", "The wax is touched."),
    ("No window was broken.", "A window was broken."),
    ("No booking was rejected.", "One booking was rejected."),
    ("改签不收手续费。", "改签要收手续费。"),
    ("Delivery costs nothing.", "Delivery costs 5 euros."),
    ("开庭时间待定。", "开庭时间已定。"),
    ("餐费另计。", "费用已含餐费。"),
    ("超期归还图书会被罚款。", "按时归还图书会被罚款。"),
    ("孕妇忌用。", "孕妇可用。"),
    ("人手不足，周末不营业。", "人手充足，周末不营业。"),
    ("新政策暂缓实施。", "新政策立即实施。"),
    (
        "The will cannot be withdrawn unless you sign in person.",
        "The will can be withdrawn even if you do not sign in person.",
    ),
    ("Only the patient may collect the results.", "Anyone but the patient may collect the results."),
    ("You can only apply by post.", "You cannot apply by post."),
    ("Both witnesses must be present.", "Both witnesses must not be present."),
    ("身份证和照片缺一不可。", "身份证和照片带一样就可以。"),
    ("The books may not be taken out of the room.", "The books may be taken out of the room."),
    ("All rooms except room 4 have a view.", "All rooms have a view; room 4 is no exception."),
    ("Dogs, cats and birds are not allowed.", "Dogs, cats, birds: allowed, all three."),
    ("Take nothing to eat with you.", "Take something to eat with you."),
    ("I'd like the burger without onions.", "I'd like the burger with onions."),
    ("The heating will be off tonight.", "The heating will be on tonight."),
    ("If nobody is home, use the safe place.", "If somebody is home, use the safe place."),
    ("We sell eggs at the gate.", "We buy eggs at the gate."),
    ("Copper is more expensive than steel.", "Copper is cheaper than steel."),
    ("Tim arrived five minutes behind Eva.", "Tim arrived five minutes ahead of Eva."),
    ("Lorries over 12 tonnes are prohibited.", "Lorries under 12 tonnes are prohibited."),
    ("You may enter only with a helmet.", "You may enter without a helmet."),
    ("The ford is passable until 4 pm.", "The ford is passable from 4 pm."),
    ("You can come if you have a ticket.", "You can come, whoever you are, ticket or not."),
]


def found(reference: str, candidate: str) -> list[Finding]:
    """What is wrong with the answer."""
    case = Case(id="1", reference=reference, candidate=candidate)
    return [f for f in findings_of(pair(case)) if f.severity >= WRONG]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_an_equal_wording_is_no_contradiction_in_either_direction(one: str, other: str) -> None:
    wrong = [f for texts in ((one, other), (other, one)) for f in found(*texts) if f.check in _CHECKS]
    assert not wrong


@pytest.mark.parametrize(("reference", "candidate"), TURNED)
def test_a_lie_in_such_a_wording_is_found(reference: str, candidate: str) -> None:
    assert found(reference, candidate)


def test_a_no_answers_a_question_whether_one_may() -> None:
    asked = "Can I pour boiling water over the frozen lock?"
    told = "Please do not pour boiling water over the lock, it may burst."
    case = Case(id="1", prompt=asked, reference=told, candidate="No, boiling water may burst the lock.")
    assert not [f for f in findings_of(pair(case)) if f.check == "negation" and f.severity >= WRONG]
