"""No sentence that is read is longer than a pattern may look at every place of from every other."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fidelity.case import Label
from harness.fidelity.reading.stops import MOST, MOST_RUN, with_stops
from harness.fidelity.reading.text import language, read
from tests.harness.fidelity.fidelity_judging import judged

PROSE = (
    "Refunds take 3 days, and they cannot be paid in cash; ask at the desk.\n\nOrders over $1,200 are free of charge. "
    * 9,
    "退款需要三个工作日，不能以现金支付。请在服务台咨询，谢谢！" * 40,
)
ENDLESS = {
    "a loop": "the order is not ",
    "one word": "a",
    "digits": "7",
    "numbers": "12 345 ",
    "blanks": " ",
    "lines": "\n",
    "commas": ", ",
    "a table": "| Ab | 4 ",
    "fields": '{"a": [1, ',
    "Chinese": "没有人不",
    "Chinese with stops of another language": "退款.不能",
    "English with stops of another language": "not so。",
    "emoji": "😀",
}
STOPS = {"en": "[.;!?]", "zh": "[。;!?]"}


def longest(text: str, lang: str) -> int:
    return max(map(len, re.split(STOPS[lang], text)))


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_as_it_is(text: str) -> None:
    assert with_stops(text, language(text) or "en") == text


@pytest.mark.parametrize("unit", ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_is_read_in_sentences(unit: str) -> None:
    text = read(unit * (4000 // len(unit)))
    assert longest(text.plain, text.lang) <= 1.2 * MOST  # "can't" is written out afterwards
    assert not re.search(rf"[A-Za-z\d]{{{MOST_RUN + 1}}}", text.plain)


@given(st.lists(st.sampled_from([*ENDLESS.values(), ". ", "。", "? "]), max_size=60), st.integers(1, 60))
def test_no_sentence_is_too_long_and_no_word_is_lost(units: list[str], times: int) -> None:
    text = "".join(unit * times for unit in units)
    for lang in STOPS:
        found = with_stops(text, lang)
        assert longest(found, lang) <= MOST + 1  # the blank behind a stop
        assert re.sub(r"[\s.。]", "", found) == re.sub(r"[\s.。]", "", text)


@pytest.mark.parametrize("unit", ENDLESS.values(), ids=ENDLESS)
def test_a_reference_without_stops_is_still_faithful_to_itself(unit: str) -> None:
    text = f"Opened software cannot be refunded {unit * 40} and the shop is closed on Sundays."
    assert judged(text, text).label is Label.FAITHFUL, judged(text, text).reasons
