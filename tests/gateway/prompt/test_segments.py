"""Texts fall apart where a reader would pause, and nowhere else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.prompt.anchors import intent_anchors, is_instruction, negation_scopes
from gateway.prompt.relevance import query_terms, scores
from gateway.prompt.segments import Kind, segments
from gateway.prompt.structure import code_blocks, json_values


def _cut(text: str) -> list[str]:
    return [text[one.start : one.end].strip() for one in segments(text)]


@pytest.mark.slow
@settings(deadline=None, derandomize=True)
@given(text=st.text(alphabet=st.sampled_from("aB1 .!?,;:\n|#-*`~[]{}\"'\\，。！？：但不没\t例（）_"), max_size=300))
def test_the_segments_are_the_text_in_order(text: str) -> None:
    found = segments(text)
    assert "".join(text[one.start : one.end] for one in found) == text
    assert all(one.parent is None or one.parent < index for index, one in enumerate(found))
    for span in (*code_blocks(text), *json_values(text, code_blocks(text))):
        assert not any(span.start < one.start < span.end for one in found)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "See e.g. no. 5 of Dr. Smith, v2.1. Then pay 3.50 USD.",
            ["See e.g. no. 5 of Dr. Smith, v2.1.", "Then pay 3.50 USD."],
        ),
        ('He said "stop." Then he left!', ['He said "stop."', "Then he left!"]),
        ("北京下雨。上海呢？好！", ["北京下雨。", "上海呢？", "好！"]),
        (
            "A long line of a letter that wraps\nin the middle of it. Next.",
            ["A long line of a letter that wraps\nin the middle of it.", "Next."],
        ),
        ("Such software cannot\nBe returned.", ["Such software cannot\nBe returned."]),
        ('It is {"a": "b. C! d"} now. Yes.', ['It is {"a": "b. C! d"} now.', "Yes."]),
        ("Run `a. B` first. Go.", ["Run `a. B` first.", "Go."]),
    ],
)
def test_sentences_end_where_they_end(text: str, parts: list[str]) -> None:
    assert _cut(text) == parts


def test_items_rows_and_sections_know_what_they_cannot_do_without() -> None:
    text = "# Terms\nDo not:\n- open it. It voids all.\n- lose it\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    found = segments(text)
    assert [one.kind for one in found] == [
        Kind.HEADING,
        Kind.SENTENCE,
        Kind.ITEM,
        Kind.SENTENCE,
        Kind.ITEM,
        Kind.ROW,
        Kind.ROW,
    ]
    assert [one.parent for one in found][1:5] == [0, 1, 2, 1]
    assert found[6].parent == 5


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Opened software cannot be refunded, sorry.", "cannot be refunded"),
        ("They don't ship to Malta.", "don't ship to Malta"),
        ("Everyone except the design team must attend.", "except the design team must attend"),
        ("北京今天没有下雨，上海有。", "没有下雨"),
        ("除了设计组，所有人参加", "除了设计组"),
    ],
)
def test_a_negation_reaches_to_the_end_of_its_clause(text: str, scope: str) -> None:
    assert [text[span.start : span.end] for span in negation_scopes(text)] == [scope]


@pytest.mark.parametrize("text", ["It is non-stop fun at no. 5.", "非常好", "未来可期", "别人的书", "无论如何"])
def test_words_that_only_look_like_negations_are_none(text: str) -> None:
    assert negation_scopes(text) == []


@pytest.mark.parametrize(
    ("text", "verb", "thing"),
    [
        ("Please translate the notice into French.", "translate", "the notice into French"),
        ("It rained. Then list three causes.", "list", "three causes"),
        ("请总结以下内容。", "总结", "以下内容"),
        ("并且，用JSON回答。", "用", "JSON回答"),
    ],
)
def test_an_instruction_is_a_verb_with_its_object(text: str, verb: str, thing: str) -> None:
    assert [(anchor.verb, anchor.object) for anchor in intent_anchors(text)] == [(verb, thing)]


def test_questions_ask_and_statements_do_not() -> None:
    assert all(map(is_instruction, ["Can I return it?", "Answer as JSON.", "今天下雨吗", "How long does it take"]))
    assert not any(map(is_instruction, ["It can be returned.", "今天下雨。", "The answer is 5."]))


def test_rare_shared_words_and_identifiers_count_most() -> None:
    texts = ["Orders ship daily.", "Order A-1234 was refunded.", "Cats sleep.", "Orders are refunded in May."]
    ranked = scores(texts, "When was order A-1234 refunded?")
    assert ranked[1] == max(ranked)
    assert query_terms("What is it?") == frozenset()
    assert scores(texts, "What is it?") == [0.0] * 4


@pytest.mark.parametrize(
    "text",
    [
        "Never do this in here.\n```\nx = 1\n```\n\nCan I return it? Answer as JSON.",
        "Do not lose:\n- the seal\n- the receipt\n\nThe shop is open.",
        "以下物品不得带入：\n- 刀具\n- 酒水\n\n大门八点开。",
        "Nothing of it is paid.\n| item | days |\n|---|---|\n| disc | 0 |\n\nThe shop is open.",
    ],
)
def test_what_denies_a_block_or_a_list_does_not_reach_beyond_its_paragraph(text: str) -> None:
    found = segments(text)
    assert found[1].parent == 0
    assert all(one.parent is None for one in found if one.kind is Kind.SENTENCE)


def test_a_denying_lead_in_reaches_the_items_behind_a_blank_line() -> None:
    found = segments("Never do this:\n\n- open the seal\n\n- lose the receipt\n\nThe shop is open.")
    assert [one.parent for one in found] == [None, 0, 0, None]
