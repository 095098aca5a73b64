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
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same_told_from_another_side_is_faithful(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.FAITHFUL, found.reasons


@pytest.mark.parametrize(("reference", "candidate"), OTHER)
def test_a_lie_by_the_same_means_is_found(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.MISLEADING, found.reasons
