"""A thing that somebody else hands over is an answer; a question that we hand over is none."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label

ANSWERS = [
    ("Did the crane pass?", "No, the crane failed its inspection.", "Yes, the inspector has passed it as safe."),
    ("What about our grant?", "The grant was refused.", "The committee passed it on Tuesday."),
    ("Where is my parcel?", "It is still at the depot.", "The courier has passed it on to the neighbour."),
    ("Is the lathe free?", "The lathe is locked until Friday.", "The foreman put it through its paces and passed it."),
    ("What do I do with the baton?", "Drop the baton at the line.", "Pass it to the next runner inside the zone."),
    ("Where's the manuscript?", "It is at the printer's.", "The editor sent it on to the author with notes."),
    ("Did the bill pass?", "No.", "Yes, they've passed it."),
    ("样品在哪?", "样品留在库房。", "样品昨天已经转过去了。"),
    ("奖金发了吗?", "奖金下月发。", "奖金已经转过去了。"),
]
ABSTENTIONS = [
    ("Did the crane pass?", "No, the crane failed its inspection.", "I've passed it on to a colleague who will get back to you."),
    ("What about our grant?", "The grant was refused.", "Your question has been passed on to the grants office."),
    ("Where is my parcel?", "It is still at the depot.", "Yes, of course, I'll put you through to a colleague right away."),
    ("Is the lathe free?", "The lathe is locked until Friday.", "Forwarded it to our team; someone will reply soon."),
    ("样品在哪?", "样品留在库房。", "您的问题已经转给同事了,请稍等。"),
]  # fmt: skip


@pytest.mark.parametrize(("prompt", "reference", "candidate"), ANSWERS)
def test_a_thing_that_changes_hands_is_an_answer(prompt: str, reference: str, candidate: str) -> None:
    assert judged(reference, candidate, prompt=prompt).label is not Label.ABSTAINED


@pytest.mark.parametrize(("prompt", "reference", "candidate"), ABSTENTIONS)
def test_a_question_that_is_handed_over_is_none(prompt: str, reference: str, candidate: str) -> None:
    assert judged(reference, candidate, prompt=prompt).label is Label.ABSTAINED
