"""Which of two things has more, in whatever form it is compared."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.reading.comparisons import comparison, same_order
from harness.fidelity.reading.text import read

RANKED_ALIKE = [
    ("The lake is deeper than the river.", "The river is shallower than the lake."),
    ("The lake is deeper than the river.", "The river is not as deep as the lake."),
    ("Plan A costs more than plan B.", "Plan B is cheaper than plan A."),
    ("Plan A costs more than plan B.", "Of the two, plan A is the dearer one."),
    ("The annual plan is the cheapest.", "No plan is cheaper than the annual one."),
    ("Glass is heavier than plastic.", "Compared with glass, plastic weighs less."),
    ("Room 5 is quieter than room 6.", "There is less noise in room 5 than in room 6."),
    ("一号店比二号店大。", "二号店没有一号店大。"),
    ("今年的利润比去年高。", "去年的利润低于今年。"),
    ("玻璃杯比塑料杯重。", "跟玻璃杯比起来，塑料杯要轻一些。"),
    ("The bus station is west of the cathedral.", "The cathedral is east of the bus station."),
    ("邮局在社区医院的东边。", "社区医院位于邮局以西。"),
    ("The library rents the hall from the school.", "The school rents out the hall to the library."),
    ("三个方案里，方案甲最贵。", "另外两个方案都比方案甲便宜。"),
]
RANKED_OTHERWISE = [
    ("The lake is deeper than the river.", "The river goes down further than the lake does."),
    ("The lake is deeper than the river.", "The lake is not as deep as the river."),
    ("Plan A costs more than plan B.", "You will pay less with plan A than with plan B."),
    ("The annual plan is the cheapest.", "No plan costs more than the annual one."),
    ("Berlin has as many branches as Hamburg.", "Hamburg has fewer branches than Berlin."),
    ("Ann is taller than Bo.", "Bo towers over Ann."),
    ("Glass is heavier than plastic.", "As against glass, plastic weighs more."),
    ("高铁比飞机便宜。", "坐飞机比坐高铁省钱。"),
    ("新版比旧版省电。", "论省电，新版不如旧版。"),
    ("The bus station is west of the cathedral.", "The cathedral is on the western side of the bus station."),
    ("派出所在菜市场的南面。", "从派出所看，菜市场在它的南边。"),
    ("The centre rents the hall from the school.", "The school hires the hall from the centre."),
    ("小学向文化馆借了两百把椅子。", "文化馆从小学那里借来了两百把椅子。"),
    ("四条线路里，蓝线最快。", "别的线路都比蓝线快。"),
]
NO_COMPARISON = [
    "Wait no more than 5 minutes.",
    "Come as soon as possible.",
    "The interest is 3 percent.",
    "比赛七点开始。",
]


@pytest.mark.parametrize(("reference", "candidate"), RANKED_ALIKE)
def test_the_same_order_in_another_form_is_no_lie(reference: str, candidate: str) -> None:
    assert same_order(read(reference), read(candidate)) is True
    assert judged(reference, candidate).risk < 0.5


@pytest.mark.parametrize(("reference", "candidate"), RANKED_OTHERWISE)
def test_the_other_order_is_a_lie_in_every_form(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "comparison")
    assert judged(reference, candidate).risk >= 0.5


@pytest.mark.parametrize("text", NO_COMPARISON)
def test_a_bound_an_idiom_or_a_noun_compares_no_two_things(text: str) -> None:
    assert comparison(read(text)) is None
