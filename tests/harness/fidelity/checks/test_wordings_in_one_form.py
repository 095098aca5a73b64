"""The majority is most, leave is told with can or may; not to know of one thing is not to know of another."""

import pytest
from fidelity_judging import complaints, judged

from harness.fidelity.case import Case, Label
from harness.fidelity.reading.pair import pair

SAME = [
    ("Most tenants pay online.", "The majority of tenants pay online."),
    ("The majority of the trains are late.", "Most trains are late."),
    ("Guests can use the pool.", "Guests may use the pool."),
    ("You may park here.", "You can park here."),
    ("这张票可以退。", "这张票是可以退的。"),
]
OTHER = [
    ("Most tenants pay online.", "All tenants pay online."),
    ("You may park here.", "You must park here."),
    ("Guests can use the pool.", "Guests may not use the pool."),
    ("这张票可以退。", "这张票是不可以退的。"),
]
ADMITTED_OF_ANOTHER = [
    ("We don't know when the Porto branch reopens.", "We don't know when the Dublin branch reopens."),
    ("We cannot say when flight KL204 leaves.", "We cannot say when flight KL240 leaves."),
    ("我们不知道杭州门店何时开业。", "我们不知道广州门店何时开业。"),
]
ADMITTED = [
    ("We don't know when the Porto branch reopens.", "It is not known to us when the Porto branch reopens."),
    ("我们不知道杭州门店何时开业。", "我们不清楚杭州门店何时开业。"),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_one_thing_in_two_wordings_is_no_difference(reference: str, candidate: str) -> None:
    assert not pair(Case(id="1", reference=reference, candidate=candidate)).differs
    assert judged(reference, candidate).label is Label.FAITHFUL


@pytest.mark.parametrize(("reference", "candidate"), OTHER)
def test_another_thing_is_found(reference: str, candidate: str) -> None:
    assert pair(Case(id="1", reference=reference, candidate=candidate)).differs
    assert any(complaints(reference, candidate, check) for check in ("quantifiers", "modality", "negation", "stance"))


@pytest.mark.parametrize(("reference", "candidate"), ADMITTED_OF_ANOTHER)
def test_not_to_know_of_another_thing_misleads(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is Label.MISLEADING


@pytest.mark.parametrize(("reference", "candidate"), ADMITTED)
def test_not_to_know_of_the_same_thing_is_faithful(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is Label.FAITHFUL
