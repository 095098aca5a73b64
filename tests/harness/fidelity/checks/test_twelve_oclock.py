"""Noon and midnight, and the hours around them."""

import pytest
from fidelity_judging import complaints

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import read

LIES = [
    ("Lunch is at 12 noon.", "Lunch is at 12 midnight."),
    ("The bar closes at 12 am.", "The bar closes at 12 pm."),
    ("The bar closes at 12:30 am.", "The bar closes at 12:30 pm."),
    ("The bar is open until midnight.", "The bar is open until noon."),
    ("The gate opens at 0:00.", "The gate opens at 12 noon."),
    ("The call is at 2 at night.", "The call is at 2 in the afternoon."),
    ("酒吧营业到晚上12点。", "酒吧营业到中午12点。"),
    ("凌晨12点断电。", "中午12点断电。"),
    ("中午12点半开会。", "晚上12点半开会。"),
    ("零点三十分发车。", "中午12点半发车。"),
    ("午夜12点关门。", "正午12点关门。"),
    ("门店0:00关门。", "门店中午12点关门。"),
    ("半夜两点停水。", "下午两点停水。"),
]
TRUTHS = [
    ("Lunch is at 12 noon.", "Lunch is at 12 pm."),
    ("Lunch is at noon.", "Lunch is at 12 o'clock."),
    ("The bar closes at midnight.", "The bar closes at 12 am."),
    ("The bar closes at midnight.", "The bar closes at 24:00."),
    ("The bar closes at 12:30 am.", "The bar closes at half past midnight."),
    ("The bar closes at 0:30.", "The bar closes at 12:30 am."),
    ("It starts at 12 at night.", "It starts at midnight."),
    ("Doors open at 10 at night.", "Doors open at 22:00."),
    ("酒吧营业到晚上12点。", "酒吧开到零点。"),
    ("酒吧营业到晚上12点。", "酒吧开到24:00。"),
    ("酒吧营业到半夜12点。", "酒吧开到午夜。"),
    ("中午12点半开会。", "12:30开会。"),
    ("晚上12点半停水。", "零点三十分停水。"),
    ("凌晨12点断电。", "零时断电。"),
    ("晚上8点开始。", "20:00开始。"),
    ("夜里11点关门。", "23:00关门。"),
    ("深夜两点停水。", "凌晨2点停水。"),
    ("上午11点开始。", "11:00开始。"),
]


def test_a_count_of_tablets_at_night_is_no_hour() -> None:
    facts = read("One tablet in the morning and two at night.").facts
    assert [fact.kind for fact in facts if fact.text == "two"] == [Kind.NUMBER]


@pytest.mark.parametrize(("reference", "candidate"), LIES)
def test_noon_is_not_midnight(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "moments")
    assert complaints(candidate, reference, "moments")


@pytest.mark.parametrize(("reference", "candidate"), TRUTHS)
def test_twelve_may_be_said_in_other_ways(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "moments")
    assert not complaints(candidate, reference, "moments")
