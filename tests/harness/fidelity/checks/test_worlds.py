"""States told by their outcome, fixed holidays, and who does what, which side of a comparison, what is left to do."""

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Case
from harness.fidelity.reading.doers import doers
from harness.fidelity.reading.pair import pair
from harness.fidelity.reading.text import read
from harness.fidelity.verdict import findings_of

SAME = [
    ("The tickets for Saturday are sold out.", "Every last seat for Saturday's show is gone."),
    ("The flight has been cancelled due to fog.", "Because of the fog, the plane isn't going."),
    ("Please be there by 7:45 am.", "Please be there by a quarter-to-eight in the morning."),
    ("The offer expires on 31 December.", "The offer expires on New Year's Eve."),
    ("We are closed on 25 December.", "We are closed on Christmas Day."),
    ("Revenue doubled compared with last year.", "We took in twice as much as the year before."),
    ("Three of the five servers are down.", "2 of the 5 servers are up; the other 3 are down."),
    ("本店周二至周日营业。", "除了周一，我们天天营业。"),
    ("流量本月已用完。", "这个月的流量一点不剩了。"),
    ("学校明天停课。", "明天不用来学校。"),
    ("商店1月1日休息。", "商店元旦休息。"),
]
OTHER = [
    ("The engineer will phone you.", "You have to phone the engineer.", "roles"),
    ("The tenant must give the landlord notice.", "The landlord must give the tenant notice.", "roles"),
    ("维修费由我们承担。", "维修费得住户自己出。", "roles"),
    (
        "The savings account pays a lower rate than the deposit.",
        "You earn more interest in the savings account than in the deposit.",
        "comparison",
    ),
    ("Your order is on hold; please add a flat number.", "Your order is packed; nothing more is needed.", "conditions"),
    ("这种药每次吃两片。", "这种药每次吃两盒。", "numbers"),
    ("We are closed on 24 December.", "We are closed on Christmas Day.", "moments"),
]


def _certain(reference: str, candidate: str) -> set[str]:
    both = pair(Case(id="1", reference=reference, candidate=candidate))
    return {f.check for f in findings_of(both) if f.certain or f.severity >= 1.0}


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_the_same_said_by_its_outcome_or_its_name_is_no_certain_finding(reference: str, candidate: str) -> None:
    assert not _certain(reference, candidate)


@pytest.mark.parametrize(("reference", "candidate", "check"), OTHER)
def test_another_doer_side_measure_or_day_is_a_certain_finding(reference: str, candidate: str, check: str) -> None:
    assert check in _certain(reference, candidate)


def test_a_receipt_to_return_something_does_nothing() -> None:
    assert not list(doers(read("You need a receipt to collect it; the store accepts returns.")))


def test_the_reader_may_be_the_tenant_that_the_reference_speaks_of() -> None:
    assert "roles" not in _certain("Tenants pay for the water.", "You pay for the water.")


def test_a_rewording_by_the_outcome_is_faithful() -> None:
    assert judged("The flight has been cancelled due to fog.", "Because of the fog, the plane isn't going.").risk < 0.5
