"""What is cut fits, keeps what it must, and never tears anything apart."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ContextTooLong
from gateway.prompt import CharCounter, fit
from gateway.prompt.anchors import negation_scopes
from gateway.prompt.passage import OMISSION

COUNT = CharCounter()
SENTENCES = st.sampled_from(
    [
        "Opened software cannot be refunded.",
        "Except when the disc is broken.",
        "Orders over 59.90 USD ship free, e.g. order A-1234.",
        "The café is open daily 🎉👩‍👩‍👧.",
        "北京今天没有下雨。",
        "但是上海会下雨！",
        "除了设计组，所有人都必须参加。",
        "Do not give the code to anybody, even to our own staff.",
    ]
)
BLOCKS = st.sampled_from(
    [
        "```python\nx = 1. \n\nprint('a. b')\n```\n",
        '{"order": "A-1234", "note": "paid. not sent", "items": [1, 2, {"a": "b! c"}]}\n',
        "| item | days |\n|---|---|\n| book. new | 14 |\n| disc | 0 |\n",
        "Never do this:\n- open the seal\n- lose the receipt\n",
        "# Terms\n",
        "\n\n",
    ]
)
CONTEXTS = st.lists(st.one_of(SENTENCES, SENTENCES, BLOCKS), min_size=1, max_size=40)
INSTRUCTIONS = st.sampled_from(
    [
        "Can I return opened software? Answer as JSON.",
        "上海今天下雨吗？请用一句话回答。",
        "Summarise it. Do not mention prices.",
    ]
)


def _chat(context: str, instruction: str, system: str = "Use only the text.") -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": f"{context}\n\n{instruction}"}]


def _pieces(content: str) -> list[str]:
    return [piece.strip() for piece in content.split(OMISSION)]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(parts=CONTEXTS, instruction=INSTRUCTIONS, share=st.floats(0.05, 1.1))
@pytest.mark.slow
def test_it_never_exceeds_the_limit_and_keeps_system_prompt_and_final_instruction(
    parts: Sequence[str], instruction: str, share: float
) -> None:
    messages = _chat(_text(parts), instruction)
    limit = int(share * COUNT.count_messages(messages))
    try:
        cut = fit(messages, limit_tokens=limit, count=COUNT)
    except ContextTooLong:
        assert COUNT.count_messages(_chat("", instruction)) + 20 > limit
        return
    assert cut.prompt_tokens == COUNT.count_messages(cut.messages) <= limit
    assert cut.messages[0] == messages[0]
    last = re.split(r"(?<=[.。？?])\s*", instruction.strip())
    assert cut.messages[-1]["content"].endswith(last[-1] or last[-2])
    assert (cut.dropped_tokens == 0) == (cut.messages == messages)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(parts=CONTEXTS, instruction=INSTRUCTIONS, share=st.floats(0.1, 0.95))
@pytest.mark.slow
def test_what_is_left_is_whole_sentences_blocks_rows_and_values_in_their_order(
    parts: Sequence[str], instruction: str, share: float
) -> None:
    context = _text(parts)
    content = _cut_content(_chat(context, instruction), share)
    position = 0
    original = f"{context}\n\n{instruction}"
    for piece in _pieces(content):
        position = original.find(piece, position)
        assert position >= 0, piece
    for piece in _pieces(content):
        assert piece.count("```") % 2 == 0
        for line in piece.splitlines():
            if line.startswith(("|", "{")):
                assert line in original.splitlines()
            if line.startswith("{"):
                json.loads(line)
    content.encode("utf-8")
    for joined in ("👩‍👩‍👧",):
        assert content.count(joined) == content.count("👧")
    for row in ("| book. new | 14 |", "| disc | 0 |"):
        assert content.count(row) <= content.count("| item | days |") or content.count("| item | days |") > 0


@settings(max_examples=150, deadline=None, derandomize=True)
@given(parts=CONTEXTS, instruction=INSTRUCTIONS, share=st.floats(0.1, 0.95))
@pytest.mark.slow
def test_a_negation_stays_with_what_it_negates_and_an_exception_with_its_rule(
    parts: Sequence[str], instruction: str, share: float
) -> None:
    context = _text(parts)
    content = _cut_content(_chat(context, instruction), share)
    kept = [context[scope.start : scope.end] for scope in negation_scopes(context)]
    for piece in _pieces(content):
        for scope in negation_scopes(piece):
            assert any(piece[scope.start : scope.end] in whole or whole in piece for whole in [*kept, instruction])
    if "- open the seal" in content or "- lose the receipt" in content:
        assert "Never do this:" in content
    for exception in ("Except when", "但是上海"):
        for found in re.finditer(exception, context):
            before = context[: found.start()].rstrip()[-6:]
            if exception in content and context.count(exception) == 1 and before and not re.search(r"#|\|$", before):
                assert before in content


def test_the_sentence_that_answers_is_kept_out_of_the_middle_with_its_exception() -> None:
    filler = [f"The {thing} of room {n} is kept by the porter." for n in range(60) for thing in ("key", "lamp")]
    rule = "Opened software cannot be refunded. Except when it is defective, then 59.90 USD is paid back."
    context = " ".join([*filler[:70], rule, *filler[70:]])
    cut = fit(_chat(context, "Can I get a refund for opened software?"), limit_tokens=300, count=COUNT)
    assert rule in cut.messages[-1]["content"]
    assert OMISSION in cut.messages[-1]["content"]


def test_chinese_questions_find_their_sentence_by_pairs_of_characters() -> None:
    filler = [f"第{n}号会议室由前台管理。" for n in range(120)]
    context = "".join([*filler[:60], "已拆封的软件不能退款。", *filler[60:]])
    cut = fit(_chat(context, "软件拆封以后可以退款吗？"), limit_tokens=300, count=COUNT)
    assert "已拆封的软件不能退款。" in cut.messages[-1]["content"]


def test_an_instruction_before_the_text_is_kept_too() -> None:
    text = " ".join(f"Sentence {n} says little." for n in range(300))
    cut = fit(
        [{"role": "user", "content": f"Translate the notice into French:\n\n{text}"}], limit_tokens=150, count=COUNT
    )
    assert cut.messages[0]["content"].startswith("Translate the notice into French:")


def test_old_turns_go_whole_and_the_newest_stays() -> None:
    old = [m for n in range(40) for m in _turn(f"Question {n} about the weather?", f"Answer {n}: rain.")]
    messages = [{"role": "system", "content": "Be brief."}, *old, {"role": "user", "content": "And order A-7?"}]
    cut = fit(messages, limit_tokens=200, count=COUNT)
    roles = [message["role"] for message in cut.messages[1:]]
    assert roles[0] == roles[-1] == "user"
    assert all(a != b for a, b in pairwise(roles))
    assert cut.messages[-1] == messages[-1]
    assert len(cut.messages) < len(messages)


def test_tool_calls_and_their_results_are_never_parted() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Find it. " + "Old text about nothing. " * 100},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "A long result line about nothing.\n" * 50},
        {"role": "user", "content": "What was found?"},
    ]
    cut = fit(messages, limit_tokens=400, count=COUNT)
    ids = [m["tool_call_id"] for m in cut.messages if m["role"] == "tool"]
    assert ids == [c["id"] for m in cut.messages for c in m.get("tool_calls") or ()]


def test_a_prompt_that_cannot_be_made_to_fit_is_refused_with_figures() -> None:
    with pytest.raises(ContextTooLong, match=r"take \d+ tokens, the bound is 30"):
        fit(_chat("x", "Why?", system="Long. " * 100), limit_tokens=30, count=COUNT)


def test_a_prompt_of_five_megabytes_is_refused_by_size() -> None:
    with pytest.raises(ContextTooLong, match=r"5\d{6} characters"):
        fit(_chat("It is so. " * 500_000, "Why?"), limit_tokens=8000, count=COUNT)


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "今天没有下雨而且" * 2000, "[" * 20_000, "not " * 5000, "\n" * 20_000, "```\n" * 5000]
)
def test_text_without_any_structure_is_cut_as_well(text: str) -> None:
    cut = fit(_chat(text, "Is it raining?"), limit_tokens=2000, count=COUNT)
    assert cut.prompt_tokens <= 2000
    assert cut.messages[-1]["content"].endswith("Is it raining?")


def _text(parts: Sequence[str]) -> str:
    """Sentences on one line, blocks on lines of their own."""
    text = ""
    for part in parts:
        if part.endswith("\n") and text and not text.endswith("\n"):
            text += "\n"
        text += part if part.endswith("\n") else part + " "
    return text


def _cut_content(messages: list[dict[str, Any]], share: float) -> str:
    try:
        cut = fit(messages, limit_tokens=int(share * COUNT.count_messages(messages)), count=COUNT)
    except ContextTooLong:
        return ""
    return str(cut.messages[-1]["content"])


def _turn(question: str, answer: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
