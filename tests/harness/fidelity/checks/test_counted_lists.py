"""A number that counts what is listed is no addition; one that does not agree with the list is found."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints

from harness.fidelity.reading.fact import Kind
from harness.fidelity.reading.text import read

AGREEING = [
    ("Take a torch, a rope and a whistle into the cave.", "You need three things in the cave: a torch, a whistle and a rope."),
    ("Yes, if you show your permit, the logbook and a receipt.", "That works. Three papers are asked for: logbook, permit, receipt."),
    ("Dry the skates, and oil the blades once a month.", "Two things keep skates in shape: drying them, and oil on the blades once a month."),
    ("Switch off the pump, drain the tank, clean the sieve and close the lid.", "There are four steps: pump off, tank drained, sieve cleaned, lid closed."),
    ("Bring the two forms: the waiver and the consent.", "Bring the waiver and the consent."),
    ("Leeks, onions and garlic are poisonous for dogs.", "Garlic, leeks, onions: poisonous for dogs, all three of them."),
    ("进洞要带手电、绳子和哨子。", "进洞要带三样东西:手电、哨子和绳子。"),
    ("上山请穿登山鞋,不要单独行动。", "上山注意以下两点:穿登山鞋,别一个人走。"),
    ("办证要两样:护照、照片。", "办证要护照和照片。"),
]  # fmt: skip
DISAGREEING = [
    ("Take a torch, a rope and a whistle into the cave.", "You need two things in the cave: a torch and a rope."),
    ("Yes, if you show your permit, the logbook and a receipt.", "That works. Two papers are asked for: logbook, permit."),
    ("Dry the skates, and oil the blades once a month.", "Four things keep skates in shape: drying them, and oil on the blades once a month."),
    ("Bring the two forms: the waiver and the consent.", "Bring the three forms: the waiver and the consent."),
    ("There are two berths left: 14 and 22.", "There are no berths left."),
    ("进洞要带手电、绳子和哨子。", "进洞要带两样东西:手电和绳子。"),
    ("上山请穿登山鞋,不要单独行动。", "上山注意以下五点:穿登山鞋,别一个人走。"),
]  # fmt: skip


@pytest.mark.parametrize(("reference", "candidate"), AGREEING)
def test_a_number_that_counts_the_list_is_no_addition(reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, "numbers")


@pytest.mark.parametrize(("reference", "candidate"), DISAGREEING)
def test_a_number_that_does_not_agree_with_the_list_is_found(reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, "numbers")


@pytest.mark.parametrize(
    ("text", "kind"),
    [("注意以下两点:轻放、防潮。", Kind.NUMBER), ("两点开船。", Kind.TIME), ("下午两点,请准时。", Kind.TIME)],
)
def test_points_of_a_list_are_no_time(text: str, kind: Kind) -> None:
    assert [fact.kind for fact in read(text, "zh").facts] == [kind]
