"""What is cut fits, keeps what it must, and never tears anything apart."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torn import BLOCKS, LISTS, LONG, SENTENCES, Thing, marked, one, torn

from gateway.errors import ContextTooLong
from gateway.prompt import CharCounter, fit
from gateway.prompt.passage import OMISSION

COUNT = CharCounter()
THINGS = st.lists(
    st.one_of(
        st.sampled_from(SENTENCES),
        st.sampled_from(SENTENCES),
        st.sampled_from(BLOCKS),
        st.sampled_from((*LONG, *LISTS)),
    ),
    min_size=1,
    max_size=30,
)
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
@given(things=THINGS, instruction=INSTRUCTIONS, share=st.floats(0.05, 1.1))
@pytest.mark.slow
def test_it_never_exceeds_the_limit_and_keeps_system_prompt_and_final_instruction(
    things: Sequence[Thing], instruction: str, share: float
) -> None:
    messages = _chat(marked(things)[0], instruction)
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


@settings(max_examples=300, deadline=None, derandomize=True)
@given(things=THINGS, instruction=INSTRUCTIONS, share=st.floats(0.1, 0.95))
@pytest.mark.slow
def test_of_each_sentence_negation_block_row_and_value_is_left_all_or_nothing(
    things: Sequence[Thing], instruction: str, share: float
) -> None:
    context, atoms = marked(things)
    content = _cut_content(_chat(context, instruction), share)
    assert torn(content, atoms) == []
    position = 0
    for piece in _pieces(content):
        position = f"{context}\n\n{instruction}".find(piece, position)
        assert position >= 0, piece
    content.encode("utf-8")


@pytest.mark.parametrize("thing", [*SENTENCES, *BLOCKS, *LONG, *LISTS], ids=lambda thing: thing.name)
def test_each_thing_is_whole_or_gone_at_every_limit(thing: Thing) -> None:
    filler = one("filler", "The lamp of room {} is kept by the porter. ")
    context, atoms = marked([filler, filler, thing, filler, filler])
    messages = _chat(context, "Who keeps the lamp?")
    most = COUNT.count_messages(messages)
    for limit in range(most // 4, most, max(1, most // 40)):
        content = _cut_content(messages, limit / most)
        assert torn(content, atoms) == [], limit


@pytest.mark.parametrize("thing", [*SENTENCES, *BLOCKS, *LONG, *LISTS], ids=lambda thing: thing.name)
def test_whatever_tears_a_thing_is_seen(thing: Thing) -> None:
    """Each place between two marks is torn once, so that only what stands before it is left, or only what follows."""
    text, atoms = marked([thing])
    assert torn(text, atoms) == []
    assert torn("", atoms) == []
    for atom in atoms:
        start = text.index(atom.text)
        for mark in atom.marks[1:]:
            cut = text.index(mark)
            assert torn(text[:cut], atoms), text[:cut]
            assert torn(text[cut:], atoms), text[cut:]
        if not atom.text.endswith(atom.marks[-1]):
            assert torn(text[: start + len(atom.text) - 1], atoms)
        if atom.needs:
            assert torn(text[start:], atoms) or torn(text[: start + len(atom.text)], atoms)


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
    "text",
    [
        "a" * 20_000,
        "今天没有下雨而且" * 2000,
        "[" * 20_000,
        "not " * 5000,
        "\n" * 20_000,
        "```\n" * 5000,
        "a ```b\n" * 5000,
    ],
)
def test_text_without_any_structure_is_cut_as_well(text: str) -> None:
    cut = fit(_chat(text, "Is it raining?"), limit_tokens=2000, count=COUNT)
    assert cut.prompt_tokens <= 2000
    assert cut.messages[-1]["content"].endswith("Is it raining?")


def _cut_content(messages: list[dict[str, Any]], share: float) -> str:
    try:
        cut = fit(messages, limit_tokens=int(share * COUNT.count_messages(messages)), count=COUNT)
    except ContextTooLong:
        return ""
    return str(cut.messages[-1]["content"])


def _turn(question: str, answer: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


@pytest.mark.parametrize("roles", [("user",), ("user", "assistant")])
def test_of_many_short_messages_the_newest_are_kept_though_their_roles_take_more_than_their_text(roles):
    messages = [{"role": roles[at % len(roles)], "content": f"Number {at}"} for at in range(1_200)]
    kept = fit(messages, limit_tokens=1_200, count=CharCounter())
    assert kept.prompt_tokens <= 1_200
    assert len(kept.messages) > 40
    assert kept.messages[-20:] == messages[-20:]
