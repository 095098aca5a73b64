"""Conditions of which all must hold in one text, and any one in the other."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label

OTHERWISE = [
    (
        "If the lid is shut and the tank is full, the boiler starts.",
        "If the lid is shut or the tank is full, the boiler starts.",
    ),
    (
        "The boiler starts when both the lid switch and the float switch are closed.",
        "The boiler starts when either the lid switch or the float switch is closed.",
    ),
    (
        "The permit is granted once all of the neighbours have signed.",
        "The permit is granted once one of the neighbours has signed.",
    ),
    ("All of these three papers must be in the folder.", "Any of these three papers must be in the folder."),
    ("You need a helmet and a harness to climb.", "You need a helmet or a harness to climb."),
    ("Both keepers have to sign the sheet.", "One of the keepers has to sign the sheet."),
    ("水箱注满并且盖子合上，两个条件同时满足锅炉才会点火。", "水箱注满或者盖子合上，两个条件满足一个锅炉就会点火。"),
    ("登记须同时提供房产证和身份证。", "登记须提供房产证和身份证其中之一。"),
    ("三位邻居均签字后，许可才会发放。", "三位邻居任一签字后，许可就会发放。"),
    ("如果门关好且电源接通，指示灯会亮。", "如果门关好或电源接通，指示灯会亮。"),
    ("两名值班员都要在表上签名。", "两名值班员之一要在表上签名。"),
]
ALIKE = [
    (
        "If the lid is shut and the tank is full, the boiler starts.",
        "When the tank is full and the lid is shut, the boiler starts.",
    ),
    ("Both keepers have to sign the sheet.", "The two keepers both have to sign the sheet."),
    ("You must not bring dogs and cats.", "You must not bring dogs or cats."),
    ("Any of our branches takes parcels.", "All of our branches take parcels."),
    ("两名值班员都要在表上签名。", "两名值班员均要在表上签名。"),
    ("如果门关好且电源接通，指示灯会亮。", "如果门关好并且电源接通，指示灯就会亮。"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in OTHERWISE for pair in (one, one[::-1])])
def test_conditions_joined_otherwise_are_found(reference: str, candidate: str) -> None:
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in ALIKE for pair in (one, one[::-1])])
def test_conditions_joined_alike_are_not(reference: str, candidate: str) -> None:
    assert not [r for r in complaints(reference, candidate, "quantifiers", lang=_lang(reference)) if "joins" in r]
