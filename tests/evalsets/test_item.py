from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsets.errors import FieldError
from evalsets.item import alternatives, claims, mentions


def test_the_messages_hold_system_then_context_and_prompt_with_the_prompt_last(make_item):
    system, user = make_item().messages()
    assert system == {"role": "system", "content": "Answer in one sentence."}
    assert user["role"] == "user"
    assert user["content"].startswith("Opened boxes")
    assert user["content"].endswith("days of the purchase.\n\nCan I return an opened box?")


def test_a_blank_system_prompt_or_context_leaves_no_trace(make_item):
    assert make_item(system="", context="").messages() == [{"role": "user", "content": "Can I return an opened box?"}]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "Support 1"),
        ("lang", "de"),
        ("prompt", "  "),
        ("reference", ""),
        ("reference", 5),
        ("context", None),
        ("system", "\ud800"),
        ("must_keep", "text"),
        ("must_keep", ["a | "]),
        ("must_keep", ["a |"]),
        ("must_not", ["x", "x"]),
        ("tags", ["Refund"]),
        ("contract", {"type": "no such type"}),
        ("contract", {}),
        ("contract", []),
        ("contract", {"type": "object", "$ref": "#/nope"}),
        ("contract", {"type": "object", "$ref": "http://127.0.0.1:9/x"}),
        ("contract", {"type": "object", "$schema": 7}),
    ],
)
def test_a_wrong_value_is_refused_with_its_field_and_what_would_be_right(make_item, field, value):
    with pytest.raises(FieldError, match=f"field '{field}' is .*; expected ") as caught:
        make_item(**{field: value})
    assert "\n" not in str(caught.value)


def test_an_item_can_be_put_in_a_set_although_a_schema_is_not_hashable(make_item):
    item = make_item(contract={"type": "object"}, reference="{}")
    assert {item, make_item(contract={"type": "object"}, reference="{}")} == {item}


def test_a_schema_of_an_older_dialect_is_accepted(make_item):
    older = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "string"}]}
    assert make_item(contract=older).contract == older


def test_alternatives_are_split_and_trimmed():
    assert alternatives("30 EUR |  €30 | thirty euros") == ("30 EUR", "€30", "thirty euros")


@pytest.mark.parametrize(
    ("text", "fact", "there"),
    [
        ("It costs 20 USD.", "20", True),
        ("It costs 20.", "20", True),
        ("It costs 120 USD.", "20", False),
        ("It costs 20.50 USD.", "20", False),
        ("It costs 20,000 USD.", "20", False),
        ("It costs 3.20 USD.", "20", False),
        ("Opened boxes can't be returned.", "CAN’T be  returned", True),
        ("Opened boxes cannot be returned.", "can be returned", False),
        ("Not known.", "no", False),
        ("退款需要３天", "3天", True),
        ("退款需要13天", "3天", False),
        ("一百二十元", "二十元", False),
        ("每人二十元", "二十元", True),
        ("You pay €20 or less.", "20 EUR | €20", True),
    ],
)
def test_a_fact_is_found_as_whole_words_and_whole_numbers(text, fact, there):
    assert mentions(text, fact) is there


@given(st.text(alphabet="ab1. 中", min_size=1).filter(lambda t: t.strip() and " | " not in t))
def test_every_text_mentions_itself(text):
    assert mentions(text, text)


@pytest.mark.parametrize(
    ("text", "claim", "made"),
    [
        ("可以退款", "可以退款", True),
        ("不可以退款", "可以退款", False),
        ("不可以退款，但换货以后可以退款", "可以退款", True),
        ("You are eligible for a refund.", "eligible for a refund", True),
        ("You are not eligible for a refund.", "eligible for a refund", False),
        ("You aren’t eligible for a refund.", "eligible for a refund", False),
        ("Nothing of the kind.", "eligible for a refund", False),
    ],
)
def test_a_claim_that_is_denied_is_not_made(text, claim, made):
    assert claims(text, claim) is made
