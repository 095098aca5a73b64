"""A courtesy before an answer takes nothing from it; courtesies alone are none."""

import pytest
from fidelity_judging import complaints

from harness.fidelity.reading import talk

ANSWERED = [
    ("The museum closes at 18:00.", "Thank you for getting in touch, the museum closes at 18:00."),
    ("The museum closes at 18:00.", "Thanks for asking - the museum closes at 18:00."),
    ("The museum closes at 18:00.", "Great question, the museum closes at 18:00."),
    ("The museum closes at 18:00.", "Happy to help: the museum closes at 18:00."),
    ("Your visa was issued in Lyon.", "Your request has been noted; your visa was issued in Lyon."),
    ("The course is on Friday in hall 2.", "Here are the details:\n- Course: Friday\n- Hall: 2"),
    ("图书馆八点闭馆。", "感谢您的来电，图书馆八点闭馆。"),
    ("图书馆八点闭馆。", "很高兴为您解答，图书馆八点闭馆。"),
    ("课程周五在二号厅。", "以下是相关信息：课程周五在二号厅。"),
    ("签证已在里昂签发。", "您的问题很重要，签证已在里昂签发。"),
]
HOLLOW = [
    "Thank you for getting in touch.",
    "Thank you for contacting us. We appreciate your patience, and we look forward to helping you.",
    "Great question! We are always happy to help.",
    "Hello, here is the information you asked for.",
    "Your request has been received. Thank you for your patience. Have a great day!",
    "感谢您的咨询，很高兴为您服务！",
    "您好，您的问题很重要，我们将竭诚为您服务。",
    "以下是您需要的信息：",
]


@pytest.mark.parametrize(("reference", "candidate"), ANSWERED)
def test_an_answer_after_a_courtesy_is_one(reference: str, candidate: str) -> None:
    assert not talk.empty(candidate)
    assert not complaints(reference, candidate, "degenerate")
    assert not complaints(reference, candidate, "addition")
    assert not complaints(reference, candidate, "substitution")


@pytest.mark.parametrize("candidate", HOLLOW)
def test_nothing_but_courtesy_is_no_answer(candidate: str) -> None:
    reference = "图书馆八点闭馆。" if "。" in candidate or "：" in candidate else "The museum closes at 18:00."
    assert complaints(reference, candidate, "degenerate")


def test_another_value_after_a_courtesy_is_found() -> None:
    assert complaints("The museum closes at 18:00.", "Thanks for asking, the museum closes at 20:00.", "moments")
    assert complaints("The museum closes at 18:00.", "Happy to help: the museum in Lyon closes at 18:00.", "names")
    assert complaints("图书馆八点闭馆。", "感谢您的来电，图书馆九点闭馆。", "moments")
