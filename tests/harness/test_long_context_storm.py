"""The long-context storm: the same requests in each column, and ends that are counted for what they are."""

import math

import pytest

from harness.storm.client import Heard, judged
from harness.storm.plan import QUESTION, Mix, Planned, Size, plan
from harness.storm.table import Column, End, Ended, markdown


def test_a_storm_is_the_same_for_the_same_seed_and_has_every_size():
    one = plan(60, seed=3, mix=Mix())
    assert one == plan(60, seed=3, mix=Mix())
    assert one != plan(60, seed=4, mix=Mix())
    assert {planned.size for planned in one} == set(Size)
    assert all(planned.prompt.endswith(QUESTION) for planned in one)
    words = {planned.size: len(planned.prompt.split()) for planned in one}
    assert words[Size.SHORT] < 80
    assert 300 < words[Size.MEDIUM] < 500
    assert words[Size.LONG] > 1500


ASKED = Planned(number=0, size=Size.SHORT, prompt="?")


def said(text="Five days.", **record):
    return {"choices": [{"message": {"content": text}}], **({"degradation": record} if record else {})}


@pytest.mark.parametrize(
    ("status", "body", "end"),
    [
        (200, said(), End.WHOLE),
        (200, said(level="healthy"), End.WHOLE),
        (200, said(level="degraded", dropped={"prompt_tokens": 900}), End.CUT),
        (200, said("Please try again.", level="critical", abstained=True), End.HONEST),
        (206, {"reason": "degraded"}, End.HONEST),
        (429, {"error": {}}, End.HONEST),
        (200, said(""), End.LOST),
        (200, "<html>", End.LOST),
        (500, {"detail": "out of memory"}, End.LOST),
        (0, None, End.LOST),
    ],
)
def test_an_end_is_what_the_client_can_do_with_it(status, body, end):
    assert judged(ASKED, Heard(status, body, 1.0, "TimeoutError" if status == 0 else "")).end is end


def column(**fields):
    ended = [Ended(size=Size.SHORT, end=End.WHOLE, took_s=float(took)) for took in range(1, 5)]
    ended += [Ended(size=Size.LONG, end=end, took_s=9.0) for end in (End.CUT, End.HONEST, End.LOST, End.LOST)]
    made = {"name": "one", "ended": tuple(ended), "deaths": 1, "failed_allocations": 2, "peak_share": 0.5}
    return Column(**{**made, **fields})


def test_the_table_counts_and_takes_times_of_model_answers_only():
    one = column()
    assert [one.of(end) for end in End] == [4, 1, 1, 2]
    assert one.answered_share() == 0.75
    assert (one.quantile_s(0.5), one.quantile_s(0.99), one.quantile_s(0.99, sizes=[Size.SHORT])) == (3.0, 9.0, 4.0)
    text = markdown([one, column(name="two", ended=())])
    assert "| availability | 75% | nan% |" in text
    assert "|   lost, very long | 2 | 0 |" in text
    assert math.isnan(column(ended=()).quantile_s(0.5))
