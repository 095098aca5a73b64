"""Which requests a fault touches: bursts, places, periods, a growing rate, and the blast radius."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.catalogue import parse
from faults.errors import BadFault
from faults.pattern import ALWAYS, read_pattern
from faults.reach import CHAT_PATH, EVERYTHING, Reach

NUMBERS = st.integers(0, 10**5)


@given(number=NUMBERS)
def test_without_a_pattern_each_request_is_drawn_for_itself(number: int) -> None:
    pattern = read_pattern("")
    assert pattern == ALWAYS
    assert pattern.allows(number)
    assert (pattern.draw_key(number, "k"), pattern.size(number)) == ("k", 1.0)


@given(number=NUMBERS, length=st.integers(2, 50))
def test_the_requests_of_a_burst_share_one_draw_and_the_next_burst_has_its_own(number: int, length: int) -> None:
    pattern = read_pattern(f"burst {length}")
    first = number // length * length
    assert {pattern.draw_key(first + step, str(step)) for step in range(length)} == {pattern.draw_key(first, "x")}
    assert pattern.draw_key(first, "x") != pattern.draw_key(first + length, "x")


def test_places_are_counted_from_0_and_come_again_after_a_period() -> None:
    flapping = read_pattern("only 0-1+4/5")
    assert [number for number in range(12) if flapping.allows(number)] == [0, 1, 4, 5, 6, 9, 10, 11]
    once = read_pattern("only 2")
    assert [number for number in range(12) if once.allows(number)] == [2]


@given(length=st.integers(1, 1000))
def test_a_rate_grows_to_its_full_size_and_stays_there(length: int) -> None:
    sizes = [read_pattern(f"ramp {length}").size(number) for number in range(length + 5)]
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] <= sizes[-1] == sizes[length - 1] == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("brust 5", ["brust 5", "burst 5"]),
        ("burst", ["burst", "whole number"]),
        ("burst 0", ["'0'", "from 1"]),
        ("burst 2; burst 3", ["burst 3"]),
        ("only 5-2", ["5-2", "range"]),
        ("only x", ["'x'", "range"]),
        ("only 0-9/5", ["period of 5"]),
        ("ramp many", ["'many'"]),
    ],
)
def test_a_wrong_pattern_is_refused_with_what_would_be_right(text: str, words: list[str]) -> None:
    with pytest.raises(BadFault) as refused:
        read_pattern(text)
    assert all(word in str(refused.value) for word in words), refused.value
    with pytest.raises(BadFault, match="http_status: when"):
        parse(f"http_status:when={text}")


@given(key=st.text(min_size=1), share=st.floats(0, 1))
def test_a_request_outside_the_tenants_or_paths_is_never_met(key: str, share: float) -> None:
    reach = Reach(share=share, tenants=("acme",))
    assert not reach.meets(path=CHAT_PATH, tenant="other", key=key)
    assert not reach.meets(path=CHAT_PATH, tenant=None, key=key)
    assert not reach.meets(path="/v1/models", tenant="acme", key=key)


def test_a_share_is_met_about_as_often_as_it_says_and_by_the_same_requests_each_time() -> None:
    reach = Reach(share=0.3, seed="7")
    met = [key for key in map(str, range(1000)) if reach.meets(path=CHAT_PATH, tenant=None, key=key)]
    assert 250 < len(met) < 350
    again = Reach(share=0.3, seed="7", tenants=("a",))
    assert met == [key for key in map(str, range(1000)) if again.meets(path=CHAT_PATH, tenant="a", key=key)]


def test_everything_is_met_unless_something_is_spared() -> None:
    assert EVERYTHING.everything
    assert EVERYTHING.meets(path=CHAT_PATH, tenant=None, key="k")
    assert not Reach(share=0.5).everything
    assert Reach(paths=("/v1/embeddings",)).meets(path="/v1/embeddings", tenant=None, key="k")


@pytest.mark.parametrize("wrong", [{"share": 1.5}, {"share": -0.1}, {"share": float("nan")}, {"paths": ("v1",)}])
def test_an_impossible_blast_radius_is_refused(wrong: dict) -> None:
    with pytest.raises(BadFault, match="blast radius"):
        Reach(**wrong)
