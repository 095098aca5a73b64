"""A plan that goes ahead in one text and does not in the other."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Label

TURNED = [
    (
        "The parish has put the new bell tower on hold until the donors agree; it is on hold for a year.",
        "The parish is pressing ahead with the new bell tower, and the donors pay for a year.",
    ),
    ("The operator has withdrawn its bid for the cable car.", "The cable car is going ahead, the operator says."),
    ("The tram extension was postponed once more.", "The tram extension has been approved by the city."),
    ("The dredging of the lagoon is on ice.", "Work on dredging the lagoon will start soon."),
    ("村里撤回了在河滩建停车场的申请。", "河滩停车场已经拍板，村里开始招标。"),
    ("缆车改造项目暂缓。", "缆车改造项目已经开工。"),
    ("新图书馆的方案被搁置。", "新图书馆的方案获批。"),
]
NOT_TURNED = [
    ("The start of the pottery course is postponed to 9 May.", "The pottery course will begin on 9 May."),
    ("Deliveries of the vegetable box are suspended.", "Deliveries of the vegetable box will begin again in May."),
    ("陶艺课推迟到5月9日。", "陶艺课5月9日正式启动。"),
    ("The tram extension was postponed to next spring.", "The tram extension has been put off to next spring."),
    ("The bell tower is on hold.", "The parish is not going ahead with the bell tower."),
    (
        "The operator is pressing ahead with the cable car.",
        "The operator has not withdrawn its plan for the cable car.",
    ),
    (
        "The cable car goes ahead despite the objections.",
        "The cable car has not been shelved in spite of the objections.",
    ),
    ("缆车改造项目暂缓。", "缆车改造项目没有如期开工。"),
    ("河滩停车场已经拍板。", "河滩停车场没有搁置。"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in TURNED for pair in (one, one[::-1])])
def test_a_plan_that_is_turned_round_is_found(reference: str, candidate: str) -> None:
    assert [r for r in complaints(reference, candidate, "antonyms", lang=_lang(reference)) if "plan" in r]
    assert judged(reference, candidate, lang=_lang(reference)).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in NOT_TURNED for pair in (one, one[::-1])])
def test_a_plan_that_stands_as_it_stood_is_not(reference: str, candidate: str) -> None:
    assert not [r for r in complaints(reference, candidate, "antonyms", lang=_lang(reference)) if "plan" in r]
