"""What depends on what, and whom a duty binds: exchanged it is a lie for certain, in another order no difference."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.reading.dependence import exchanged
from harness.fidelity.reading.dependent_clauses import halves
from harness.fidelity.reading.pair import pair
from harness.fidelity.reading.text import read

EXCHANGED = [
    ("Because the tank was dry, the pump stopped.", "Because the pump stopped, the tank was dry."),
    ("The tram was late due to the icy rails.", "The rails were icy because the tram was late."),
    ("The seal had burst, so the cellar was flooded.", "The cellar was flooded, so the seal had burst."),
    ("When the hatch opens, the horn sounds.", "When the horn sounds, the hatch opens."),
    ("The hatch opens when the horn sounds.", "The horn sounds as soon as the hatch opens."),
    ("If the transfer bounces, the seat is released.", "If the seat is released, the transfer bounces."),
    ("The transfer bounces if the seat is released.", "If the transfer bounces, the seat is released."),
    ("As long as the fan runs, the heater glows.", "As long as the heater glows, the fan runs."),
    ("Once the lease is signed, the keys are posted.", "Once the keys are posted, the lease is signed."),
    ("If the lid is not shut, the oven beeps.", "If the oven beeps, the lid is not shut."),
    ("如果转账被退回，座位会被释放。", "如果座位被释放，转账会被退回。"),
    ("转账被退回的话，座位会释放。", "座位释放的话，转账会被退回。"),
    ("当舱门打开时，喇叭会响。", "当喇叭响时，舱门会打开。"),
    ("舱门打开时，喇叭会响。", "喇叭响时，舱门会打开。"),
    ("由于轨道结冰，电车晚点了。", "由于电车晚点，轨道结冰了。"),
    ("轨道结冰，所以电车晚点。", "电车晚点，所以轨道结冰。"),
    ("只要风扇在转，加热器就亮着。", "只要加热器亮着，风扇就在转。"),
    ("电车晚点是因为轨道结冰。", "轨道结冰是因为电车晚点。"),
    ("签约后，钥匙会寄出。", "钥匙寄出后，会签约。"),
]
IN_ANOTHER_ORDER = [
    ("Because the tank was dry, the pump stopped.", "The pump stopped because the tank was dry."),
    ("The pump stopped because the tank was dry.", "The tank was dry, so the pump stopped."),
    ("When the hatch opens, the horn sounds.", "The horn sounds when the hatch opens."),
    ("If the transfer bounces, the seat is released.", "The seat is released if the transfer bounces."),
    ("Once the lease is signed, the keys are posted.", "The keys are posted once the lease is signed."),
    ("If the guest is under 14, a parent must stay. Older guests may stay alone.", "A parent must stay if the guest is under 14. Older guests may stay alone."),
    ("如果转账被退回，座位会被释放。", "座位会被释放，如果转账被退回。"),
    ("由于轨道结冰，电车晚点了。", "电车晚点了，因为轨道结冰。"),
    ("只要风扇在转，加热器就亮着。", "加热器就亮着，只要风扇在转。"),
]  # fmt: skip
NO_EXCHANGE = [
    *IN_ANOTHER_ORDER,
    ("If the fog stays, the ship does not sail.", "If the ship sails, the fog does not stay."),  # the same, turned by logic
    ("The ship sails only if the fog lifts.", "If the ship sails, the fog has lifted."),
    ("When the hatch opens, the horn sounds. When the horn sounds, the crew leaves.", "The crew leaves when the horn sounds. The horn sounds when the hatch opens."),
    ("Check if the hatch is open when the horn sounds.", "When the horn sounds, check if the hatch is open."),
    ("If the fog lifts, the ship sails.", "The ship sails as soon as the fog lifts."),
    ("雾不散的话，船不开。", "船开的话，雾散了。"),
    ("一旦下雪，缆车就停运。", "缆车停运，因为下雪了。"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), EXCHANGED)
def test_exchanged_clauses_are_found_for_certain_whatever_joins_them(reference: str, candidate: str) -> None:
    for one, other in ((reference, candidate), (candidate, reference)):
        found = judged(one, other)
        assert found.label is Label.MISLEADING
        assert any(f.check == "sequence" and f.certain and f.severity == 1.0 for f in found.findings)


@pytest.mark.parametrize(("reference", "candidate"), NO_EXCHANGE)
def test_what_depends_on_the_same_thing_is_not_exchanged(reference: str, candidate: str) -> None:
    for one, other in ((reference, candidate), (candidate, reference)):
        assert exchanged(read(one), read(other)) is None
        assert not complaints(one, other, "sequence")


@pytest.mark.parametrize(("reference", "candidate"), IN_ANOTHER_ORDER)
def test_clauses_that_moved_as_a_whole_are_no_difference(reference: str, candidate: str) -> None:
    for one, other in ((reference, candidate), (candidate, reference)):
        both = pair(Case(id="1", reference=one, candidate=other))
        assert both.moved_whole
        assert not both.differs
        assert judged(one, other).label is Label.FAITHFUL


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        *EXCHANGED,
        ("The boiler hums. The hall is warm.", "The hall is warm. The boiler hums."),
        ("If the fog lifts, the ship sails.", "After the fog lifts, the ship sails."),
        ("Although the hall is old, the roof is new.", "Although the roof is new, the hall is old."),
        ("Press the green key, turn the dial.", "Turn the dial, press the green key."),
    ],
)
def test_words_that_moved_otherwise_are_a_difference_that_nothing_explains(reference: str, candidate: str) -> None:
    both = pair(Case(id="1", reference=reference, candidate=candidate))
    assert not both.moved_whole
    if reference.count(",") < 2 and "Press" not in reference:
        assert not both.reordered


def test_a_question_after_a_verb_of_asking_is_no_condition() -> None:
    assert halves("Find out if the hatch is open", "en") is None
    assert halves("Nobody knows when the hatch opens", "en") is None
    assert halves("The horn sounds if the hatch is open", "en") == (
        "the hatch is open",
        "The horn sounds",
        False,
        "given",
    )
    assert halves("及时回复,客户会满意", "zh") is None


BOUND = [
    ("Drivers must wear a vest. Passengers may wear a vest.", "Drivers may wear a vest. Passengers must wear a vest."),
    ("Tenants can paint the walls, but the owner must mend the roof.", "Tenants must paint the walls, but the owner can mend the roof."),
    ("Nurses should sign the list, visitors must sign the list.", "Nurses must sign the list, visitors should sign the list."),
    ("If the guest is under 14, a parent must stay. Older guests may stay alone.", "If the guest is under 14, a parent may stay. Older guests must stay alone."),
    ("司机必须穿背心，乘客可以穿背心。", "司机可以穿背心，乘客必须穿背心。"),
    ("学生应该预约，老师必须预约。", "学生必须预约，老师应该预约。"),
]  # fmt: skip
BOUND_AS_BEFORE = [
    ("Drivers must wear a vest. Passengers may wear a vest.", "Passengers may wear a vest. Drivers must wear a vest."),
    ("Drivers must wear a vest. Passengers may wear a vest.", "Drivers have to wear a vest; passengers can wear one."),
    ("Tenants can paint the walls, but the owner must mend the roof.", "The owner must mend the roof, but tenants can paint the walls."),
    ("司机必须穿背心，乘客可以穿背心。", "乘客可以穿背心，司机必须穿背心。"),
    ("学生应该预约，老师必须预约。", "老师必须预约，学生应该预约。"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), BOUND)
def test_a_duty_and_a_leave_that_change_hands_are_found_for_certain(reference: str, candidate: str) -> None:
    for one, other in ((reference, candidate), (candidate, reference)):
        found = judged(one, other)
        assert found.label is Label.MISLEADING
        assert any(f.check == "modality" and f.certain and f.severity == 1.0 for f in found.findings)


@pytest.mark.parametrize(("reference", "candidate"), BOUND_AS_BEFORE)
def test_duties_told_in_another_order_bind_the_same(reference: str, candidate: str) -> None:
    for one, other in ((reference, candidate), (candidate, reference)):
        assert not complaints(one, other, "modality")
        assert judged(one, other).label is Label.FAITHFUL
