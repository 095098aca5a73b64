"""Compression says the same with fewer tokens."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.prompt import CharCounter, compress
from gateway.prompt.compress import merged, tightened
from gateway.prompt.constraints import implied
from gateway.prompt.examples import entropy, runs, shortened

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
EXAMPLES = (
    "Classify.\n\n"
    "Example 1:\nInput: the food was great and cheap\nOutput: positive\n\n"
    "Example 2:\nInput: my soup came cold after an hour\nOutput: negative\n\n"
    "Example 3:\nInput: friendly people at every single table\nOutput: positive\n\n"
    "Example 4:\nInput: worst evening we had in years\nOutput: negative\n\n"
    "Input: ok?\nOutput:"
)


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(value=JSON)
def test_json_is_compacted_without_changing_it(value: object) -> None:
    laid_out = json.dumps(value, indent=2, ensure_ascii=False)
    assert json.loads(tightened(f"{laid_out}\n").strip() if isinstance(value, dict | list) else laid_out) == value


def test_numbers_keep_their_digits_and_code_its_layout() -> None:
    assert tightened('{\n "price": 1.10\n}') == '{"price":1.10}'
    code = "```python\nx = 1   \n\n\n\ny = 2\n```\n"
    assert tightened(code) == code
    assert tightened('```json\n{\n  "a": 1\n}\n```\n') == '```json\n{"a":1}\n```\n'


@pytest.mark.parametrize(
    ("sentences", "gone"),
    [
        (["Answer in at most 100 words.", "Use at most 50 words."], {0}),
        (["Write at least 3 sentences.", "Write at least 5 sentences."], {0}),
        (["最多100字。", "请用最多50字回答。"], {0}),
        (["Never mention the price.", "Never mention the price."], {1}),
        (["The refund takes at most 30 days.", "The refund takes at most 14 days for discs."], set()),
        (["You must mention the price.", "You must not mention the price."], set()),
        (["Use at most 50 words.", "Use at least 50 words."], set()),
        (["Use at most 50 words.", "Use at most 5 lines."], set()),
        (["The tenant must pay the owner.", "The owner must pay the tenant."], set()),
    ],
)
def test_a_constraint_goes_only_where_another_implies_it(sentences: list[str], gone: set[int]) -> None:
    assert implied(sentences) == gone


def test_a_sentence_said_twice_is_said_once_but_not_one_with_an_exception() -> None:
    rule = "Opened software cannot be refunded by any of our shops. "
    assert merged(rule + "Something else. " + rule) == rule + "Something else. "
    excepted = rule + "Except when it is broken. "
    assert merged(excepted + rule).count("Except") == 1


def test_examples_that_only_show_a_form_become_one_template_with_their_labels() -> None:
    assert len(runs(EXAMPLES)[0]) == 4
    short = shortened(EXAMPLES)
    assert "the food was great and cheap" in short
    assert "Input: […]\nOutput: negative | positive\n" in short
    assert short.endswith("Input: ok?\nOutput:")
    assert "worst evening" not in short


def test_examples_that_repeat_a_pattern_stay() -> None:
    patterned = "".join(f"Q: a b a b a b a b {n}\nA: a b a b a b\n" for n in range(4))
    assert shortened(patterned) == patterned


def test_entropy_is_between_nought_and_one() -> None:
    assert entropy("all words differ here") == 1.0
    assert entropy("same same same") == 0.0
    assert entropy("") == 0.0


def test_compression_stops_as_soon_as_the_prompt_fits() -> None:
    messages = [{"role": "user", "content": "Look:   \n\n\n\n" + EXAMPLES}]
    count = CharCounter()
    whole = count.count_messages(messages)
    slightly = compress(messages, limit_tokens=whole - 1, count=count)
    assert "worst evening" in slightly.messages[0]["content"]
    fully = compress(messages, limit_tokens=20, count=count)
    assert "worst evening" not in fully.messages[0]["content"]
    assert fully.dropped_tokens == whole - fully.prompt_tokens > slightly.dropped_tokens > 0
    assert compress(messages, limit_tokens=whole, count=count).messages == messages
