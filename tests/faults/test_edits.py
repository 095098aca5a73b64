"""What the text faults do to text, whole or in pieces."""

from collections import deque
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faults.semantic.active import Active, Meeting, Touch
from faults.semantic.spec import DEFAULT_RATES, Kind, Spec
from faults.semantic.units import Splitter, cut_at_offsets, one_piece
from faults.semantic.workshop import Workshop, open_workshop

WORKSHOP = open_workshop(one_piece)
ANSWER_KINDS = [kind for kind in Kind if kind.on_answer]
WORDS = ["退款", "订单", "的", "refund", "don't", "A-1", "5.5", " ", ".", "。", "!", "\n", "’", ", "]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30).map("".join) | st.text(max_size=40)


def meet(kind: Kind, **fields: object) -> Meeting:
    spec = Spec(id="f", kind=kind, **fields)  # type: ignore[arg-type]
    active = Active.__new__(Active)  # outside a loop there is no Event to make
    return make(active, spec)


def make(active: Active, spec: Spec) -> Meeting:
    active.spec, active.rows, active.seen, active.touched, active.timer = spec, deque(maxlen=10), 0, 0, None
    active.gone = Flag()  # type: ignore[assignment]
    touch = Touch(fault_id="f", kind=spec.kind, key="k", number=0)
    return Meeting(active=active, rng=Random(f"{spec.seed}/{spec.kind}/k"), touch=touch)


class Flag:
    def __init__(self) -> None:
        self.on = False

    def is_set(self) -> bool:
        return self.on

    def set(self) -> None:
        self.on = True


def edit(kind: Kind, chunks: list[str], **fields: object) -> str:
    editor = WORKSHOP.editor(meet(kind, **fields), "An older answer.")
    return "".join(map(editor.feed, chunks)) + editor.flush()


def prompt(kind: Kind, text: str, workshop: Workshop = WORKSHOP, **fields: object) -> str:
    return workshop.edit_prompt(text, [meet(kind, **fields)])


@given(text=TEXTS)
def test_units_joined_are_the_text(text: str) -> None:
    assert "".join(Splitter(["退款", "订单"]).split(text)) == text


@given(text=TEXTS, cuts=st.lists(st.integers(0, 60)), kind=st.sampled_from(ANSWER_KINDS), seed=st.integers(0, 9))
@example(text="我的退款，退款退款的订单", cuts=[3], kind=Kind.ANSWER_SYNONYMS, seed=1)
def test_an_edit_does_not_depend_on_how_the_stream_was_cut(text: str, cuts: list[int], kind: Kind, seed: int) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[start:end] for start, end in pairwise(places)]
    whole = edit(kind, [text], seed=seed, keep=3, rate=0.5)
    assert edit(kind, chunks, seed=seed, keep=3, rate=0.5) == whole
    assert edit(kind, list(text), seed=seed, keep=3, rate=0.5) == whole


@given(text=TEXTS, kind=st.sampled_from([kind for kind in ANSWER_KINDS if kind in DEFAULT_RATES]))
def test_rate_0_changes_nothing(text: str, kind: Kind) -> None:
    assert edit(kind, list(text), rate=0.0) == text


@given(text=TEXTS, at=st.integers(0, 30), kind=st.sampled_from(ANSWER_KINDS))
def test_when_a_fault_goes_nothing_that_came_after_is_touched(text: str, at: int, kind: Kind) -> None:
    meeting = meet(kind, rate=0.5, keep=1)
    editor = WORKSHOP.editor(meeting, "An older answer.")
    editor.feed(text[:at])
    meeting.active.gone.set()
    assert (editor.feed(text[at:]) + editor.flush()).endswith(text[at:])


def test_dropping_takes_about_the_share_that_was_asked_for_and_keeps_the_rest() -> None:
    words = [f"w{number}" for number in range(4000)]
    left = edit(Kind.ANSWER_DROP, [" ".join(words)]).split()
    assert 0.13 < 1 - len(left) / len(words) < 0.17
    assert left == [word for word in words if word in set(left)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Refund is late.", "The Re"),
        ("您的退款已到。", "您的返款已到。"),
    ],
)
def test_synonyms_keep_capitals_and_work_in_both_languages(text: str, expected: str) -> None:
    changed = {edit(Kind.ANSWER_SYNONYMS, [text], rate=1.0, seed=seed) for seed in range(8)}
    assert text not in changed
    assert any(expected in one for one in changed)


def test_a_draw_without_a_synonym_goes_to_the_next_word_that_has_one() -> None:
    filler = "xyzzy " * 20
    assert edit(Kind.ANSWER_SYNONYMS, [f"{filler}refund"], rate=0.5) != f"{filler}refund"


@pytest.mark.parametrize(
    ("text", "blurred"),
    [
        ("You must list exactly 3 rules.", "You could mention something about about 3 rules."),
        (
            "Answer in JSON, in at most 20 words. Do not guess.",
            "Respond to in some form, in some words. Feel free to guess.",
        ),
        ("请用三句话总结，不要猜。", "请简单聊聊，可以猜。"),
        ("Nothing to weaken here", "Nothing to weaken here"),
    ],
)
def test_blurring_weakens_verbs_and_drops_constraints(text: str, blurred: str) -> None:
    assert prompt(Kind.PROMPT_BLUR, text) == blurred


INSTRUCTION = "You must answer in English. The order is A-1. Never guess. It costs 5.90 USD."


@pytest.mark.parametrize(
    ("text", "fields", "now"),
    [
        (
            INSTRUCTION,
            {"moved": 1.0},
            "The order is A-1. It costs 5.90 USD. You could respond to in some language. Rarely guess.",
        ),
        (INSTRUCTION, {"dropped": 1.0}, "The order is A-1. It costs 5.90 USD."),
        ("Never guess. Always ask.", {"dropped": 1.0}, "Sometimes ask."),
        ("必须用中文。订单是A-1。", {"moved": 1.0}, "订单是A-1。可以用某种语言。"),
        ("Never guess.", {"moved": 1.0}, "Rarely guess."),
        ("No constraint  here. None.", {"moved": 1.0, "dropped": 0.0}, "No constraint  here. None."),
        (INSTRUCTION, {"rate": 0.0001, "seed": 1}, INSTRUCTION),
    ],
)
def test_sentences_with_a_constraint_are_moved_to_the_end_or_lost(text: str, fields: dict, now: str) -> None:
    assert prompt(Kind.PROMPT_BLUR, text, **fields) == now


def test_reordering_swaps_sentences_and_keeps_decimals_whole() -> None:
    text = "It costs 59.90 USD. No refund! 可以退款。为什么？"
    assert edit(Kind.ANSWER_REORDER, [text], rate=1.0) == "No refund! It costs 59.90 USD. 为什么？可以退款。"


@pytest.mark.parametrize(
    ("at", "keep", "left"),
    [
        ("sentence", 1, "One, 5.5 two."),
        ("word", 2, "One, 5."),
        ("chunk", 3, "One, 5"),
        ("word", 0, ""),
        ("sentence", 9, None),
    ],
)
def test_truncation_counts_chunks_words_or_sentences(at: str, keep: int, left: str | None) -> None:
    text = "One, 5.5 two. Three."
    assert edit(Kind.ANSWER_TRUNCATE, [text], at=at, keep=keep) == (text if left is None else left)


def test_mojibake_duplicates_languages_and_stale_answers() -> None:
    assert edit(Kind.ANSWER_MOJIBAKE, ["退款"], rate=1.0) == "退款".encode().decode("latin-1")
    assert edit(Kind.ANSWER_MOJIBAKE, ["refund"], rate=1.0) == b"refund".decode("utf-16-le")
    assert edit(Kind.ANSWER_DUPLICATE, ["Pay 5 退"], rate=1.0) == "Pay Pay 5 5 退 退"
    assert edit(Kind.ANSWER_LANGUAGE, ["The refund 订单"], rate=1.0) == "这 退款 order"
    assert edit(Kind.ANSWER_STALE, ["The", " refund."]) == "An older answer."
    assert "中文" in prompt(Kind.PROMPT_LANGUAGE, "What is it?")
    assert "English" in prompt(Kind.PROMPT_LANGUAGE, "这是什么？")


def test_tokens_that_share_a_character_are_one_piece() -> None:
    assert cut_at_offsets("a退b", [(0, 1), (1, 2), (1, 2), (2, 3)]) == ["a", "退", "b"]
    assert cut_at_offsets("  ab", [(2, 4)]) == ["  ab"]
    assert cut_at_offsets("ab cd", [(0, 2), (3, 5)]) == ["ab", " cd"]
    assert cut_at_offsets("", []) == []


def test_what_was_touched_is_recorded_within_bounds() -> None:
    meeting = meet(Kind.ANSWER_DROP, rate=1.0)
    editor = WORKSHOP.editor(meeting, None)
    assert editor.feed("word " * 499 + "word") + editor.flush() == ""
    assert meeting.touch.count == 500
    assert len(meeting.touch.edits) == 200
    assert meeting.active.touched == 1
