"""No sentence that is read is longer than a pattern may look at every place of from every other."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.fidelity.case import Label
from harness.fidelity.reading.stops import MOST, MOST_APART, MOST_RUN, with_stops
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
        assert longest(found, lang) <= MOST + 2  # a blank, and the other script's stop, behind a stop
        assert re.sub(r"[\s.。]", "", found) == re.sub(r"[\s.。]", "", text)


@pytest.mark.parametrize("unit", ENDLESS.values(), ids=ENDLESS)
def test_a_reference_without_stops_is_still_faithful_to_itself(unit: str) -> None:
    text = f"Opened software cannot be refunded {unit * 40} and the shop is closed on Sundays."
    assert judged(text, text).label is Label.FAITHFUL, judged(text, text).reasons


VALUES = {  # what is said again and again, and a near copy of it is a few characters longer in front
    "money": "and EUR 36,500 ",
    "times": '{"at": "14:30:00", "on": "2026-03-12"}, ',
    "no marks": "and 12,500 EUR of 14 days ",
    "no blanks": "12:30:00|36,500|",
    "Chinese": "发票金额为36,500元和三百二十元",
}


@pytest.mark.parametrize("unit", VALUES.values(), ids=VALUES)
def test_a_value_is_never_cut(unit: str) -> None:
    lang = language(unit) or "en"
    for shift in range(2 * len(unit)):
        found = with_stops("x" * shift + " " + unit * (1200 // len(unit)), lang)
        for value in re.findall(r"\d[\d,:-]*\d", unit):
            assert found.count(value) == 1200 // len(unit) * unit.count(value), (shift, value)
        assert longest(found, lang) <= MOST + 1


@pytest.mark.parametrize("unit", ["and EUR 36,500 ", "at 14:30, for 14 days and "])
def test_near_copies_of_a_long_text_hold_the_same_values(unit: str) -> None:
    values = {fact.key for fact in read("We pay " + unit * 2).facts}
    for shift in range(2 * len(unit)):
        assert {fact.key for fact in read("So " + "we " * shift + "pay " + unit * 40).facts} == values, shift


def test_a_fact_is_kept_by_an_answer_that_is_the_reference() -> None:
    for before in range(15, 35):
        text = f"The invoices {'of the year ' * before}come to EUR 36,500 and are {'to be ' * 50}paid on Monday"
        found = judged(text, text, must_keep=("36,500",))
        assert found.label is Label.FAITHFUL, (before, found.reasons)


@pytest.mark.parametrize("unit", ["ask them! ", "ask the desk; 请咨询客服！", "问客服！ask the desk. "])
def test_a_full_stop_of_each_script_is_never_far(unit: str) -> None:
    text = unit * (12_000 // len(unit))
    scripts = {".": "[a-z]", "。": "[一-鿿]"}
    for lang in STOPS:
        found = with_stops(text, lang)
        for mark in (mark for mark, script in scripts.items() if re.search(script, text)):
            assert max(map(len, found.split(mark))) <= MOST_APART + MOST + 1
