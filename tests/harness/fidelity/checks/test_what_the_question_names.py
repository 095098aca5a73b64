"""A code, a name or a value that the question names may be left out of the answer; another one in its place is found."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import judged

CHECKS = frozenset({"identifiers", "names", "numbers", "moments"})
LEFT_OUT = [
    ("The dryer shows F07. What now?", "F07 means that the door is open: close it and press start.", "That code stands for an open door. Shut it and press start."),
    ("Can I restart heron-12?", "Not yet: heron-12 still holds the lock.", "Wait a little, it still holds the lock."),
    ("Is the Ashby kiln free on Tuesday?", "The Ashby kiln is free on Tuesday from ten.", "It is, from ten."),
    ("When does the ferry leave on 4 May?", "On 4 May the ferry leaves at 08:15.", "At a quarter past eight in the morning."),
    ("烘干机显示E31怎么办?", "E31表示门没关好，关好门再按启动键。", "这是说门没有关好，关好再按启动键就行。"),
    ("周六游泳馆几点开门?", "周六游泳馆八点开门。", "八点开。"),
]  # fmt: skip
REPLACED = [
    ("The dryer shows F07. What now?", "F07 means that the door is open: close it and press start.", "F17 stands for an open door. Shut it and press start."),
    ("Can I restart heron-12?", "Not yet: heron-12 still holds the lock.", "Wait a little, heron-21 still holds the lock."),
    ("When does the ferry leave on 4 May?", "On 4 May the ferry leaves at 08:15.", "On 14 May it leaves at a quarter past eight."),
    ("Which kiln is free, K2 or K3?", "K3 is free.", "It is free."),
    ("Can I keep it for 3 weeks?", "For 3 weeks at most.", "As long as you like."),
    ("烘干机显示E31怎么办?", "E31表示门没关好，关好门再按启动键。", "E13是说门没有关好，关好再按启动键就行。"),
    ("周六游泳馆几点开门?", "周六游泳馆八点开门。", "周日八点开。"),
]  # fmt: skip


def _complaints(prompt: str, reference: str, candidate: str) -> list[str]:
    findings = judged(reference, candidate, prompt=prompt).findings
    return [f.reason for f in findings if f.check in CHECKS and f.severity >= 0.25]


@pytest.mark.parametrize(("prompt", "reference", "candidate"), LEFT_OUT)
def test_what_the_question_names_may_be_left_out(prompt: str, reference: str, candidate: str) -> None:
    assert not _complaints(prompt, reference, candidate)


@pytest.mark.parametrize(("prompt", "reference", "candidate"), REPLACED)
def test_what_stands_for_it_or_was_asked_for_is_found(prompt: str, reference: str, candidate: str) -> None:
    assert _complaints(prompt, reference, candidate)
