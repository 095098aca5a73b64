"""Which connections a toxic acts on: drawn from the seed, once per connection, direction and toxic."""

import pytest

from faults.toxiproxy.chain import Direction, LiveLink, Toxic
from faults.toxiproxy.link import Link, Traffic
from faults.toxiproxy.stage import End
from faults.toxiproxy.toxics import EFFECTS


class Nowhere:
    """Sender, receiver and timers of a link that carries nothing."""

    blocked = False

    def time(self) -> float:
        return 0.0

    def write(self, data: bytes) -> None: ...
    def hold(self, held: bool) -> None: ...
    def call_at(self, when, callback, /): ...


def lives(number: int, seed: int = 1) -> list[LiveLink]:
    nowhere = Nowhere()

    def ignore(end: End) -> None: ...

    link = Link(timers=nowhere, sender=nowhere, receiver=nowhere, traffic=Traffic(), on_end=ignore)
    return [LiveLink(link, Direction.UPSTREAM, f"{seed}/p/{index}/upstream") for index in range(number)]


def toxic(toxicity: float, name: str = "t") -> Toxic:
    return Toxic(name=name, stream=Direction.UPSTREAM, effect=EFFECTS["noop"](), toxicity=toxicity)


@pytest.mark.parametrize(("toxicity", "hits"), [(0.0, 0), (1.0, 3000)])
def test_f2_toxicity_zero_never_acts_and_one_always_does(toxicity, hits):
    assert sum(live.hit(toxic(toxicity)) for live in lives(3000)) == hits


@pytest.mark.parametrize("toxicity", [0.05, 0.3, 0.9])
def test_a_toxicity_is_the_share_of_connections(toxicity):
    hits = sum(live.hit(toxic(toxicity)) for live in lives(3000))
    assert hits / 3000 == pytest.approx(toxicity, abs=4 * (toxicity * (1 - toxicity) / 3000) ** 0.5)


def test_a_higher_toxicity_acts_wherever_a_lower_one_did():
    assert all(live.hit(toxic(0.6)) for live in lives(500) if live.hit(toxic(0.3)))


def test_two_toxics_of_one_connection_are_drawn_apart():
    both = [(live.hit(toxic(0.5, "a")), live.hit(toxic(0.5, "b"))) for live in lives(200)]
    assert len(set(both)) == 4


def test_f3_the_same_seed_draws_the_same_and_another_one_does_not():
    drawn = [[live.hit(toxic(0.5)) for live in lives(200, seed)] for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2]
