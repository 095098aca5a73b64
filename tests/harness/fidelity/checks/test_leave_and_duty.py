"""Leave told with "may", a duty told as advice, a condition of leave that is lost."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import judged

HARMLESS = [
    ("Can my sister fetch the spare key?", "Yes, if she shows her passport.", "Your sister may fetch it, if she shows her passport."),
    ("Is my aunt allowed to sign for it?", "Yes, with a letter of authority.", "Your aunt may sign for it with a letter of authority."),
    ("The kettle is scaled. What now?", "Pour in vinegar, wait an hour and rinse it. The lid must stay off.", "You should pour in vinegar, give it an hour and rinse it; never with the lid on."),
    ("May I borrow the atlas?", "Atlases can't be borrowed, but you may copy single pages.", "Atlases have to stay here; copying single pages is allowed."),
    ("Must the fan run?", "It only needs to run above 30 degrees.", "There is no need to run it unless it gets above 30 degrees."),
    ("猫能吃吗?", "手术前六小时不要喂食,可以喂水。", "手术前需要空腹6小时,喂点水没关系。"),
]  # fmt: skip
UNSURE = [
    ("When does the ferry leave?", "The ferry leaves at nine.", "The ferry may leave at nine."),
    ("Can I pay by card?", "The card is accepted at every till.", "The card may be accepted at every till."),
    (
        "How is the valve treated?",
        "The valve must be closed before you start.",
        "The valve should be closed before you start.",
    ),
    ("阀门怎么办?", "开机前必须关闭阀门。", "开机前建议关闭阀门。"),
]
LOST_CONDITIONS = [
    (
        "Only with a helmet and a bell; without a bell nobody rides at night.",
        "Yes, as long as you wear a helmet you can ride at night.",
    ),
    ("Yes, if you bring the deed and a witness.", "Yes, as long as you bring the deed."),
    ("可以，但必须带户口本和照片。", "可以，只要带户口本就行。"),
]
KEPT_CONDITIONS = [
    (
        "Only with a helmet and a bell; without a bell nobody rides at night.",
        "Yes, as long as you wear a helmet and have a bell you can ride at night.",
    ),
    ("Yes, if you bring the deed and a witness.", "Yes, as long as a witness comes along and you bring the deed."),
    ("可以，但必须带户口本和照片。", "可以，只要带照片和户口本就行。"),
]


def _severest(reference: str, candidate: str, check: str, prompt: str = "") -> float:
    found = judged(reference, candidate, prompt=prompt).findings
    return max((f.severity for f in found if f.check == check), default=0.0)


@pytest.mark.parametrize(("prompt", "reference", "candidate"), HARMLESS)
def test_leave_and_advice_to_do_what_is_bid_are_as_binding(prompt: str, reference: str, candidate: str) -> None:
    assert _severest(reference, candidate, "modality", prompt) < 0.4


@pytest.mark.parametrize(("prompt", "reference", "candidate"), UNSURE)
def test_a_duty_or_a_fact_made_weaker_is_found(prompt: str, reference: str, candidate: str) -> None:
    assert _severest(reference, candidate, "modality", prompt) >= 0.4


@pytest.mark.parametrize(("reference", "candidate"), LOST_CONDITIONS)
def test_leave_under_a_part_of_its_conditions_is_certain(reference: str, candidate: str) -> None:
    assert any(
        f.check == "omission" and f.certain and f.severity >= 0.95 for f in judged(reference, candidate).findings
    )


@pytest.mark.parametrize(("reference", "candidate"), KEPT_CONDITIONS)
def test_leave_under_all_of_its_conditions_is_none(reference: str, candidate: str) -> None:
    assert _severest(reference, candidate, "omission") < 0.4
