"""What is done to a thing that was named before, told with a pronoun; a sum and its plan told in another order."""

# ruff: noqa: E501 (rows stay whole)

import pytest
from fidelity_judging import complaints

KEPT = [
    ("attributes", "The crate is skipped: 404 tells the robot that it can't be lifted, so it is sent nowhere.", "A code of 404 means that this crate cannot be lifted, so the robot skips it and sends it nowhere."),
    ("roles", "The choir raised 3,200 francs, 800 short of its goal of 4,000.", "The goal had been 4,000 francs; the choir raised 3,200, which leaves a gap of 800."),
]  # fmt: skip
TURNED = [
    ("attributes", "Only the treasurer may raise the limit; a clerk can lower it, though.", "Only the treasurer may lower the limit; a clerk can raise it, though."),
    ("attributes", "The crate is skipped, and the barrel is weighed.", "The barrel is skipped, and the crate is weighed."),
    ("attributes", "The choir raised 3,200 francs, and the band 4,000.", "The choir raised 4,000 francs, and the band 3,200."),
]  # fmt: skip


@pytest.mark.parametrize(("check", "reference", "candidate"), KEPT)
def test_what_stays_with_its_thing_is_no_exchange(check: str, reference: str, candidate: str) -> None:
    assert not complaints(reference, candidate, check)


@pytest.mark.parametrize(("check", "reference", "candidate"), TURNED)
def test_what_changes_its_thing_is_found(check: str, reference: str, candidate: str) -> None:
    assert complaints(reference, candidate, check)
