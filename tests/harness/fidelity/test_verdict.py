"""The checks alone: the specification's table, identity, generated lies and paraphrases, and any text at all.

The whole verdict, as a run is judged by it: `test_verdict_properties.py`.
"""

# ruff: noqa: E501 (rows stay whole)

from random import Random

import pytest
from fidelity_judging import UNMEASURED, judged
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.fidelity.case import Case, Label
from harness.fidelity.perturb_lies import lies
from harness.fidelity.perturb_truths import paraphrases
from harness.fidelity.verdict import judge

TABLE = [
    ("Opened software cannot be refunded.", "Opened software can be refunded.", Label.MISLEADING),
    ("Opened software cannot be refunded.", "Software that has been opened is not refundable.", Label.FAITHFUL),
    ("Order A-1234 was charged 59.90 USD.", "Order A-1234 was charged 95.90 USD.", Label.MISLEADING),
    ("Order A-1234 was charged 59.90 USD.", "You were billed $59.90 for order A-1234.", Label.FAITHFUL),
    ("Everyone except the design team must attend.", "Everyone including the design team must attend.", Label.MISLEADING),
    ("北京今天下雨", "北京今天没有下雨", Label.MISLEADING),
    ("北京今天下雨", "今天北京有雨", Label.FAITHFUL),
]  # fmt: skip
SEEDS = [
    "The parcel of Ms. Okafor must be picked up in Leeds by 5 March, except on Sundays.",
    "Every customer can return order B-2207 within 14 days, and the refund of 59.90 EUR is paid to the card.",
    "The bus to Oslo leaves at 17:30 and the bus to Bergen leaves at 18:10.",
    "Smoking is not allowed in the lobby, and dogs must be kept on a lead.",
    "除市场部外，所有人必须在5月3日上午9点参加会议。",
    "成人票80元，儿童票40元，订单A-1234可以在7天内退款。",
    "该商品不支持退货，但可以在三十天内换货。",
]


@pytest.mark.parametrize(("reference", "candidate", "label"), TABLE)
def test_the_table_of_the_specification_is_judged_right(reference: str, candidate: str, label: Label) -> None:
    assert judged(reference, candidate).label is label


@pytest.mark.slow
@given(text=st.sampled_from(SEEDS), seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_a_lie_raises_the_risk_and_is_called_misleading(text: str, seed: int) -> None:
    honest = judged(text, text)
    for lie in lies(text, Random(seed)):
        told = judged(text, lie.text)
        assert told.label is Label.MISLEADING, lie
        assert told.risk > honest.risk + 0.4, lie


@pytest.mark.parametrize("text", SEEDS)
def test_other_words_for_the_same_are_faithful(text: str) -> None:
    for other in paraphrases(text):
        assert judged(text, other.text).label is Label.FAITHFUL, other


def test_a_sum_with_thousands_is_reworded_as_a_whole() -> None:
    texts = {one.kind: one.text for one in paraphrases("The balance is 4,318.70 EUR, not 12 EUR.", "en")}
    assert texts["money"] == "The balance is €4,318.70, not 12 EUR."


@pytest.mark.parametrize("text", SEEDS)
def test_identity_is_faithful(text: str) -> None:
    said = judged(text, text)
    assert said.label is Label.FAITHFUL
    assert said.risk < 0.1


@pytest.mark.slow
@given(
    reference=st.text(max_size=80), candidate=st.text(max_size=80), context=st.text(max_size=30), lang=st.sampled_from([None, "en", "zh"])
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_no_text_at_all_breaks_the_judge(reference: str, candidate: str, context: str, lang: str | None) -> None:
    said = judged(reference, candidate, context=context, lang=lang, must_keep=("a | b",))
    assert 0 <= said.risk <= 1
    assert said.reasons


PIECES = st.lists(
    st.sampled_from(
        [
            "not",
            "不",
            "没有",
            "5",
            "days",
            "百分之",
            "三点",
            "half",
            "past",
            "to",
            "17:30",
            "A-1",
            "$",
            "元",
            ",",
            "。",
            "(",
            "{",
            '"',
            "if",
            "unless",
            "only",
            "除",
            "一",
            "十五",
            "万",
            "%",
            "and",
            "by",
            "被",
            "比",
            "than",
            "no",
            "one",
            "24/7",
            "1e999",
            "－",
            "½",
            "²",
        ]
    ),
    max_size=25,
)


@pytest.mark.slow
@given(reference=PIECES, candidate=PIECES, gap=st.sampled_from(["", " "]))
@settings(max_examples=40, deadline=None)
def test_no_mixture_of_telling_pieces_breaks_the_judge(reference: list[str], candidate: list[str], gap: str) -> None:
    said = judged(gap.join(reference), gap.join(candidate))
    assert 0 <= said.risk <= 1


def test_the_same_cases_give_the_same_judgements_in_any_order() -> None:
    cases = [Case(id=str(i), reference=r, candidate=c) for i, (r, c, _) in enumerate(TABLE)]
    forth = judge(cases, [UNMEASURED] * len(cases))
    back = judge(cases[::-1], [UNMEASURED] * len(cases))
    assert forth == back[::-1]


def test_as_many_similarities_as_cases_are_needed() -> None:
    with pytest.raises(ValueError, match="shorter"):
        judge([Case(id="1", reference="a", candidate="b")], [])


def test_an_answer_that_says_nothing_is_misleading() -> None:
    for text in ("", "   ", "N/A", "ok", "暂无", "Thank you for your question.", "{answer}"):
        assert judged("The store opens at nine.", text).label is Label.MISLEADING, text


@pytest.mark.slow
def test_a_long_text_is_compared_as_a_whole() -> None:
    filler = "".join(f"Shelf {n} of hall {n * 7} holds the boxes of customer {n * 13}. " for n in range(300))
    said = judged(f"{filler}The parcel arrives on Monday.", f"{filler}The parcel arrives on Friday.")
    assert any("Friday" in reason for reason in said.reasons)
    assert said.label is Label.MISLEADING
