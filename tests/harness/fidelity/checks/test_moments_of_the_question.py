"""A moment of the question that the answer only takes up, and days told one by one or as a span."""

# ruff: noqa: E501 (whole sentences)

import pytest
from fidelity_judging import complaints

TAKEN_UP = [
    (
        "Could the plumber come by on a Sunday?",
        "No, our plumbers are out Monday to Thursday only, because the depot is locked over the weekend.",
        "On a Sunday nobody comes: we have plumbers on the road on Mondays, Tuesdays, Wednesdays and Thursdays, while the depot is open.",
    ),
    (
        "My parcel locker booking starts at 06:15. Will the door open then?",
        "No. The hall is shut from 06:00 to 07:00 for cleaning, and early codes are dropped. Book 07:30.",
        "It won't open for you: 06:15 lies in the hour of cleaning, for which no code is kept. Take 07:30 instead.",
    ),
    (
        "水管工星期天能上门吗？",
        "不行，我们的水管工只在周一至周四出工，周末仓库锁着。",
        "星期天没人上门：水管工周一、周二、周三和周四出来，因为周末仓库不开。",
    ),
]
DAYS = [
    ("The ferry crosses Tuesday to Thursday.", "The ferry crosses on Tuesdays, Wednesdays and Thursdays."),
    ("门诊周二至周四开放。", "门诊周二、周三和周四开放。"),
]
ANOTHER = [
    ("Could the plumber come by on a Sunday?", "No, he comes on Monday.", "Yes, he comes on Sunday."),
    ("My class is at 18:30. When shall I be there?", "Please be there at 18:10.", "Please be there at 18:30."),
    ("", "The ferry crosses Tuesday to Thursday.", "The ferry crosses on Tuesdays and Thursdays."),
    ("水管工星期天能上门吗？", "不行，水管工周一上门。", "可以，水管工星期天上门。"),
    ("", "门诊周二至周四开放。", "门诊周二和周四开放。"),
]


def _lang(text: str) -> str:
    return "en" if text.isascii() else "zh"


@pytest.mark.parametrize(("prompt", "reference", "candidate"), TAKEN_UP)
def test_a_moment_of_the_question_stands_for_no_other(prompt: str, reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "moments", prompt=prompt, lang=_lang(reference))


@pytest.mark.parametrize(("reference", "candidate"), [pair for one in DAYS for pair in (one, one[::-1])])
def test_days_one_by_one_are_the_days_from_the_first_to_the_last(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "moments", lang=_lang(reference))


@pytest.mark.parametrize(("prompt", "reference", "candidate"), ANOTHER)
def test_another_moment_is_found_though_the_question_names_it(prompt: str, reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "moments", prompt=prompt, lang=_lang(reference))
