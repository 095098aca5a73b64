"""Values told by a calculation, and places counted from the other side."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.reading.text import read
from harness.fidelity.reading.vacancies import same_places

RECKONED = [
    ("Sales in March were twice those in February.", "February brought in just half of what we sold in March."),
    ("企业版的并发数是标准版的四倍。", "标准版能支持的并发，只有企业版的25%。"),
    ("The warranty lasts three years from May 2022.", "The warranty runs until May 2025."),
    ("The deadline, originally 28 April, has been extended by five days.", "You now have until 3 May."),
    ("展览从9月1日开始，9月14日结束。", "展览九月一号开幕，一共办两个星期。"),
    ("The gate closes 20 minutes before departure, at 14:10.", "The gate closes at ten to two in the afternoon."),
    ("The loan of 2,400 euros is repaid in twelve equal instalments.", "You pay back 200 euros in each instalment."),
    ("Three quarters of the seats are reserved for members.", "Only 25% of the seats are not reserved for members."),
    ("The talk is limited to 45 minutes.", "The talk is limited to three quarters of an hour."),
    ("入学材料须不迟于6月30日提交。", "交入学材料的最后期限是六月的最后一天。"),
    ("Bring: 1) your passport, 2) two photos.", "Bring your passport and a pair of photos."),
    ("18 of the 30 places are already taken.", "There is room for a dozen more people out of thirty."),
    ("书法班共有30个名额，已报满18个。", "书法班还能再收十二个人，总数是三十。"),
]
MISCOUNTED = [
    ("Sales in March were twice those in February.", "March brought in just half of what we sold in February."),
    ("The warranty lasts three years from May 2022.", "The warranty runs until May 2024."),
    ("The pass is valid from 10 July to 16 July.", "The pass is good for a fortnight from 10 July."),
    ("The gate closes 20 minutes before departure, at 14:10.", "The gate closes at half past two in the afternoon."),
    ("The loan of 2,400 euros is repaid in twelve equal instalments.", "You pay back 240 euros in each instalment."),
    ("Three quarters of the seats are reserved for members.", "Only 35% of the seats are not reserved for members."),
    ("22 of the 40 places are taken.", "The course can still take twenty-two more people out of forty."),
    ("The form may be handed in no earlier than 1 May.", "Hand in the form by 1 May at the latest."),
    ("报名最早6月1日开始。", "报名最迟6月1日。"),
    ("The tiles are sold at 30% off the list price.", "You pay 30% of the list price for the tiles."),
    ("摄影班有25个名额，已有10人报名。", "摄影班总共二十五个名额，只剩十个空位了。"),
]


@pytest.mark.parametrize(("reference", "candidate"), RECKONED)
def test_a_value_that_can_be_computed_from_the_reference_is_supported(reference: str, candidate: str) -> None:
    assert not [r for name in ("numbers", "moments", "negation") for r in complaints(reference, candidate, name)]
    assert judged(reference, candidate).risk < 0.5


@pytest.mark.parametrize(("reference", "candidate"), MISCOUNTED)
def test_a_value_that_comes_out_otherwise_is_a_lie(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).risk >= 0.5


def test_texts_that_count_no_places_are_not_compared() -> None:
    assert same_places(read("We have 3 cats."), read("Three cats live here.")) is None
