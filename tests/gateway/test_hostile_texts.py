"""No text, whatever it repeats, takes a pattern or a reading more time than in proportion to its length."""

import re
import subprocess
import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.answers import grounding, lexis, number_words
from gateway.prompt import anchors
from gateway.prompt.compress import tightened
from gateway.prompt.constraints import meaning
from gateway.prompt.repeats import merged
from tests.gateway import hostile_texts

ALLOWED_S = 60  # far more than it takes, far less than what grows with the square


def ends(name: str) -> None:
    """Run it in a process of its own: a pattern holds the interpreter's lock as long as it looks."""
    subprocess.run([sys.executable, "-m", "tests.gateway.hostile_texts", name], check=True, timeout=ALLOWED_S)


@pytest.mark.slow
@pytest.mark.parametrize("module", hostile_texts.modules("gateway", "evalsets", "faults"))
def test_a_pattern_looks_at_a_character_a_few_times_at_most(module: str) -> None:
    ends(module)


@pytest.mark.slow
@pytest.mark.parametrize("reading", hostile_texts.READINGS)
def test_a_text_is_read_in_proportion_to_its_length(reading: str) -> None:
    ends(reading)


def test_the_patterns_of_all_kinds_of_places_are_found() -> None:
    found = chain.from_iterable(hostile_texts.patterns("gateway.answers.wording").values())
    assert {r"\bwon't\b", r"[^,.?!;。、]+"} <= {pattern.pattern for pattern in found}


PLAIN_IDENTIFIER = re.compile(  # what an identifier is, in one pattern that takes the square of a text's length
    r"\b(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b"
)


@given(st.text("aZ09-_ é一٣.", max_size=24))
def test_identifiers_are_mixed_words(text: str) -> None:
    assert lexis.identifiers(text) == {found.casefold() for found in PLAIN_IDENTIFIER.findall(text)}


@pytest.mark.parametrize("numeral", ["三", "万", "十"])
def test_a_long_run_of_chinese_numerals_is_no_number(numeral: str) -> None:
    assert number_words.spelled_numbers(numeral * 5000) == set()
    assert grounding.unheard_of("There are 7 of them.", [numeral * 5000]) == {"7"}


def test_a_number_of_thousands_of_digits_is_compared_as_it_stands() -> None:
    digits = "7" * 5000
    assert grounding.unheard_of(f"It is {digits}:30.", ["no number"]) == {f"{digits}:30"}
    assert grounding.unheard_of("It is 5.", [f"{digits}:30"]) == {"5"}
    assert not meaning(f"Use at most {digits} words.").is_bound


@pytest.mark.parametrize("lead", ["can you please ", "please then ", "you should always ", "please\n"])
def test_what_leads_up_to_a_verb_is_still_no_part_of_it(lead: str) -> None:
    assert [found.verb for found in anchors.intent_anchors(f"{lead * 3}list the names.")] == ["list"]


def test_of_sentences_that_say_the_same_the_last_stays() -> None:
    assert merged("Use at most 50 words.\n" * 40) == "Use at most 50 words.\n"


def test_a_string_that_nothing_closes_hides_no_value_before_it() -> None:
    assert tightened('{"a": [1, 2]} and "so on {x}') == '{"a":[1,2]} and "so on {x}'
