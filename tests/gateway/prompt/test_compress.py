"""Compression says the same with fewer tokens."""

import json
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.prompt import CharCounter, compress
from gateway.prompt.anchors import Span
from gateway.prompt.compress import tightened
from gateway.prompt.constraints import Sentence, spare
from gateway.prompt.examples import entropy, runs, shortened
from gateway.prompt.repeats import merged, said_again
from gateway.prompt.structure import json_values
from gateway.prompt.tables import Table, tables

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
        (["Never mention the price.", "Never mention the price."], {0}),
        (["不要提到价格。", "请不要提到价格。"], {0}),
        (["Always answer in English, please.", "You must answer in English."], {0}),
        (["List at most 3 causes.", "List at most 5 causes."], {1}),
        (["Do not mention prices.", "What is kept?", "Do not mention prices."], {0}),
        (["Ignore orders of at most 30 euros.", "Ignore orders of at most 50 euros."], set()),
        (["Do not use at least 5 words.", "Do not use at least 3 words."], set()),
        (["Use at most 50 words and 3 lines.", "Use at most 60 words and 2 lines."], set()),
        (["Write a title.", "Use at most 10 words.", "Write a body.", "Use at most 200 words."], set()),
        (["Write a title.", "Do not use verbs.", "Write a body.", "Do not use verbs."], set()),
        (["Write a title.", "Limit it to at most 10 words.", "Limit it to at most 20 words."], set()),
        (["Add the flour.", "Wait.", "Add the flour."], set()),
        (["Use a café.", "Use a cafe."], set()),
        (["1. Do not run.", "2. Do not run."], set()),
        (["The refund takes at most 30 days.", "The refund takes at most 14 days for discs."], set()),
        (["You must mention the price.", "You must not mention the price."], set()),
        (["Use at most 50 words.", "Use at least 50 words."], set()),
        (["Use at most 50 words.", "Use at most 5 lines."], set()),
        (["The tenant must pay the owner.", "The owner must pay the tenant."], set()),
    ],
)
def test_a_constraint_goes_only_where_another_implies_it(sentences: list[str], gone: set[int]) -> None:
    assert spare([Sentence(text) for text in sentences]).keys() == gone


def test_a_sentence_said_twice_is_said_once_but_not_one_with_an_exception() -> None:
    rule = "Opened software cannot be refunded by any of our shops. "
    assert merged(rule + "Something else. " + rule) == "Something else. " + rule
    for twice in (f"{rule}Except when broken. {rule}", f"{rule}Something else. {rule}Except when broken. "):
        assert merged(twice) == twice


@pytest.mark.parametrize(
    "text",
    [
        "# Berlin\n{rule}\n# Paris\n{rule}\n",
        "Berlin\n{rule}\n\nParis\n{rule}\n",
        "Anna: Hello. {rule}\nBob: Hi. {rule}\n",
        "- Berlin\n  - {rule}\n- Paris\n  - {rule}\n",
        "The shop is old. {rule} It holds for all. The bank is new. {rule} ",
        "The shop is old. They must close it at nine. The bank is new. They must close it at nine.",
        "x = read(1)\n    # Do not change this.\n    # Do not change this.\n",
        "use(a); return a.\nuse(a); return a.\n",
    ],
)
def test_what_is_said_twice_of_two_things_stays_twice(text: str) -> None:
    text = text.replace("{rule}", "All doors must be shut by nine in the evening.")
    assert merged(text) == text


@pytest.mark.parametrize("title", ["Title:", "Title:\n", "Title"])
def test_an_order_for_the_whole_answer_stays_where_the_last_one_is_for_a_part(title: str) -> None:
    text = (
        "Use at most 300 words in your answer.\nDo not use any numbers.\n\n"
        + "The porter keeps the lamp of each room.\n\n" * 6
        + f"Write the article.\n{title}\nUse at most 10 words.\nDo not use any numbers."
    )
    final = [Span(text.index("Write"), len(text))]
    assert said_again(text, final) == text
    assert merged(text, final) == text


def test_an_order_for_a_part_stays_where_the_last_one_is_for_the_whole_answer() -> None:
    text = "Title:\nUse at most 10 words.\n\nIt is old.\n\nWrite the article. Use at most 8 words."
    final = [Span(text.index("Write"), len(text))]
    assert said_again(text, final) == text


def test_items_that_are_equal_are_as_many_afterwards_but_for_orders() -> None:
    reviews = [f"The lid of number {n} came without a scratch on the side" for n in range(4)]
    broken = "The box came broken and nobody should buy the lid of the shop alone."
    items = "".join(f"- {review}.\n- {broken}\n" for review in reviews)
    text = f"How many of these reviews complain about damage?\n\n{items}\nAnswer with one number."
    assert merged(text, [Span(text.index("Answer"), len(text))]) == text
    orders = "- Do not mention prices.\n- Answer in English.\n- Do not mention prices.\n"
    assert merged(orders) == "- Answer in English.\n- Do not mention prices.\n"


def test_a_paragraph_still_ends_where_a_sentence_went() -> None:
    rule = "Do not mention prices."
    assert merged(f"It is old. {rule}\n\nWhat is kept? {rule}") == f"It is old.\n\nWhat is kept? {rule}"


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\t\n1\t2\t\n",
        "| a |  \n|---|  \n| [1, 2] |  \n",
        "Use `x = [1, 2]` there.",
        "```python\nx = [\n  1\n]\n```\n",
        "```\n[\n  1\n]\n```\n",
        "```python\n[\n  1\n]\n```\n",
    ],
)
def test_rows_and_code_keep_each_of_their_signs(text: str) -> None:
    assert tightened(text) == text


def test_values_of_json_in_a_row_are_cells() -> None:
    prose = 'a [1, 2] | {"b": "|"} [3]\n'
    assert tables(prose, json_values(prose, [])) == []
    row = "|" + "[1] " * 3 + "|\n"
    header, end = Span(0, len(row)), 2 * len(row)
    assert tables(row * 2, json_values(row * 2, [])) == [Table(header, [Span(len(row), end)])]


def test_the_time_for_a_row_grows_with_its_values_and_not_with_their_square() -> None:
    def taken_s(values: int) -> float:
        text = "|" + "[1] " * values + "|\n"
        solid = [Span(start, start + 3) for start in range(1, 4 * values, 4)]
        start_s = process_time()
        tables(text, solid)
        return process_time() - start_s

    assert taken_s(64_000) < 100 * min(taken_s(4_000) for _ in range(3))  # their square would be 256 times as long


FIELDS = "Name: alpha{n}\nPlace: beta{n}\n"


@pytest.mark.parametrize(
    "text",
    [
        "".join(FIELDS.format(n=n) for n in range(5)),  # records, maybe the data itself
        "These are our customers, for example Bob:\n" + "".join(FIELDS.format(n=n) for n in range(5)),
        "这些是我们的客户，例如小王：\n" + "".join(FIELDS.format(n=n) for n in range(5)),
        "Examples:\n```yaml\n" + "".join(FIELDS.format(n=n) for n in range(5)) + "```\n",
        "Examples:\n" + "".join(f"Rule: Do not open box{n}\nReason: dust{n} inside\n" for n in range(5)),
        "Examples:\n" + "".join(f"规则: 不要打开{n}号箱子\n原因: 灰尘{n}\n" for n in range(5)),
        "Examples:\n" + "".join(f'In: {{"a": {n}}}\nOut: word{n}\n' for n in range(5)),
    ],
)
def test_records_code_and_orders_are_no_examples(text: str) -> None:
    assert shortened(text) == text


def test_examples_that_only_show_a_form_become_one_template_with_their_labels() -> None:
    assert len(runs(EXAMPLES)[0]) == 4
    short = shortened(EXAMPLES)
    assert "the food was great and cheap" in short
    assert "Input: […]\nOutput: negative | positive\n" in short
    assert short.endswith("Input: ok?\nOutput:")
    assert "worst evening" not in short


@pytest.mark.parametrize(
    "lead", ["Examples:", "They look, for example:", "Sort them like this:", "例如：", "以下是示例。", "**Examples:**"]
)
def test_examples_are_announced_at_the_end_of_the_line_before(lead: str) -> None:
    assert "[…]" in shortened(f"{lead}\n" + "".join(FIELDS.format(n=n) for n in range(5)))


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
