"""The cross-encoder: what it is given, what it is trusted with, and that it comes whole."""

import random
from dataclasses import replace

import pytest
from fidelity_judging import UNMEASURED

from harness.errors import ConfigError, ModelError
from harness.fidelity import cross_encoder as module
from harness.fidelity.cascade import ask_both
from harness.fidelity.case import Case, Label
from harness.fidelity.cross_encoder import (
    BASES,
    LARGE,
    SMALL,
    CrossEncoder,
    Opinion,
    adapter_of,
    shipped_cross_encoder,
    with_adapter,
    write_adapter,
)
from harness.fidelity.fit_joined import fit
from harness.fidelity.risk import JOINED, Joined, freedom, shipped_model
from harness.fidelity.verdict import decide, judge, see

REFERENCE = "The hire car has to be returned with a full tank by Friday."
TRUTH = "The rental car must be returned by Friday with a full tank."
LIE = "The hire car has to be returned with a full tank by Sunday."
FREE = "Bring the rental back by Friday, and fill it up first."  # of which the checks are not sure
PAIRS = [
    (REFERENCE, TRUTH),
    (REFERENCE, LIE),
    ("周一闭馆，周二到周日开放。", "每周二至周日开放，周一不开。"),
    ("周一闭馆，周二到周日开放。", "周二闭馆，周三到周日开放。"),
    ("Shops close at eight.", "Shops close at nine."),
]


class Says:
    """Answers every pair alike, and remembers what it was asked."""

    def __init__(self, misleads: float | None, abstains: float = 0.01) -> None:
        self.told_of_each = None if misleads is None else (misleads, abstains)
        self.asked: list[tuple[str, str]] = []

    def told(self, name, pairs):  # type: ignore[no-untyped-def]
        self.asked += [pair for pair in pairs if pair not in self.asked]
        return [self.told_of_each] * len(pairs)


def told(candidate: str, misleads: float | None, abstains: float = 0.01, **more: object):  # type: ignore[no-untyped-def]
    case = Case(id="x", reference=REFERENCE, candidate=candidate, **more)  # type: ignore[arg-type]
    return judge([case], [UNMEASURED], reader=Says(misleads, abstains))[0]


def test_its_doubt_moves_the_risk_both_ways_and_is_told() -> None:
    alone = told(FREE, None)
    assert told(FREE, 0.02).risk < told(FREE, 0.5).risk < told(FREE, 0.98).risk
    assert not any("cross_encoder" in reason for reason in alone.reasons)
    assert any("cross_encoder: read together" in reason for reason in told(FREE, 0.98).reasons)


def test_its_doubt_quotes_where_the_texts_part() -> None:
    def why(candidate: str) -> str:
        (seen,) = see([Case(id="x", reference=REFERENCE, candidate=candidate)])
        judged = decide(replace(seen, opinion=Opinion(0.98, None)), UNMEASURED, model=shipped_model())
        return next(reason for reason in judged.reasons if reason.startswith("cross_encoder"))

    assert "something else: “Sunday” for “Friday” (" in why(LIE)
    assert "something else: “call depot” put in (" in why(f"{TRUTH} Please call the depot.")  # what only moved is not
    assert "“by Friday” left out" in why(TRUTH)  # but where nothing else differs
    far = "Vans, boats and bikes that were lent in May return to halls, yards and sheds with little fuel, unwashed."
    assert len(why(far)) < 200


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("如果屏幕损坏，保修无效。", "您好,如果屏幕损坏，保修无效。"),
        ("剂量为5毫升。", "剂量为五毫升。"),
        ("The shop opens at 9:00.", "The shop opens at nine o'clock."),
    ],
)
def test_where_the_checks_explain_every_word_it_is_not_heard(reference: str, candidate: str) -> None:
    reader = Says(0.98)
    case = Case(id="x", reference=reference, candidate=candidate)
    assert judge([case], [UNMEASURED], reader=reader)[0].label is Label.FAITHFUL
    assert not reader.asked


def test_its_reason_is_there_however_many_others_are() -> None:
    wrong = "No hire van may never be bought with an empty tank after Sunday at 5 pm for $20, unless Tom and Ann agree"
    reasons = told(wrong, 0.9).reasons
    assert len(reasons) == 5
    assert [reason.partition(":")[0] for reason in reasons].count("cross_encoder") == 1


@pytest.mark.parametrize(
    "more", [{"must_keep": ("by Friday",)}, {"contract": {"type": "object"}}], ids=["must_keep", "contract"]
)
def test_it_makes_no_form_right_that_is_wrong(more: dict[str, object]) -> None:
    judged = told("The hire car has to be returned with a full tank.", 0.001, **more)
    assert judged.label is Label.MISLEADING


def test_it_does_not_overrule_a_comparison_that_is_turned_round() -> None:
    reference, turned = "The ferry is slower than the tunnel train.", "Of the two, the tunnel train takes more time."
    case = Case(id="x", reference=reference, candidate=turned)
    assert judge([case], [UNMEASURED], reader=Says(0.02))[0].label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [
        ("Flight LH454 was cancelled.", "They have called off LH445."),
        ("航班CA1501已取消。", "CA1510这个航班取消了。"),
    ],
)
def test_it_does_not_overrule_another_code(reference: str, candidate: str) -> None:
    case = Case(id="x", reference=reference, candidate=candidate)
    assert judge([case], [UNMEASURED], reader=Says(0.02))[0].label is Label.MISLEADING


@pytest.mark.parametrize(
    ("reference", "lie", "truth"),
    [
        ("The train leaves at 15:00.", "Departure of the train is at 4 pm.", "Departure of the train is at 3 pm."),
        ("会议在15:00开始。", "会议下午四点开始。", "会议下午三点开始。"),
        ("价格为1.2万元。", "价格是1.2亿元。", "价格是12000元。"),
        ("Trains run every 15 minutes.", "A train comes once an hour.", "A train comes four times an hour."),
        ("You have 30 days to return it.", "Send it back within 60 days.", "Send it back within 30 days."),
    ],
)
def test_it_does_not_overrule_another_value_in_a_rewording(reference: str, lie: str, truth: str) -> None:
    cases = [Case(id=text, reference=reference, candidate=text) for text in (lie, truth)]
    told, honest = judge(cases, [UNMEASURED] * 2, reader=Says(0.02))
    assert (told.label, honest.label) == (Label.MISLEADING, Label.FAITHFUL)


@pytest.mark.parametrize(
    ("reference", "lie"),
    [
        ("Not yet: both pods run on one node.", "Go ahead: the pods are spread over several nodes."),
        ("不能。您名下有房，不符合条件。", "可以的，是否有自有住房不影响。"),
        ("用 lst[-3:] 取最后三个元素。", "最后三个元素用 lst[:-3] 来取。"),
        ("cancellation", "technical"),
    ],
)
def test_it_does_not_overrule_yes_for_no_nor_other_signs_in_code_nor_another_label(reference: str, lie: str) -> None:
    case = Case(id="x", reference=reference, candidate=lie)
    assert judge([case], [UNMEASURED], reader=Says(0.02))[0].label is Label.MISLEADING


def test_what_only_looks_like_a_code_is_no_other_one() -> None:
    reference = (
        "Cloud spend for January through June was $1.25 million. About half of that was compute, storage a fifth."
    )
    candidate = "H1 came to 1,250 thousand dollars. Compute took some 50% of it, storage roughly 20%."
    case = Case(id="x", reference=reference, candidate=candidate)
    assert judge([case], [UNMEASURED], reader=Says(0.02))[0].label is Label.FAITHFUL


def test_equal_and_empty_texts_are_not_read() -> None:
    reader = Says(1.0)
    texts = [(REFERENCE, f"  {REFERENCE}\n"), (REFERENCE, ""), (REFERENCE, FREE)]
    cases = [Case(id=str(i), reference=one, candidate=other) for i, (one, other) in enumerate(texts)]
    judged = judge(cases, [UNMEASURED] * 3, reader=reader)
    assert reader.asked == [(REFERENCE, FREE)]
    assert judged[0].label is Label.FAITHFUL


SORRY = "Sorry, I cannot check that at the moment. Please try again later."
HALF = "I can't say for certain, but the hire car is due back on Sunday."
UNSURE = "I can't say for certain, but the hire car may be due back some time soon."
CLUELESS = "Guessing would help nobody here."


@pytest.mark.parametrize(
    ("candidate", "abstains", "label"),
    [
        (SORRY, 0.3, Label.ABSTAINED),
        (SORRY, 0.001, Label.MISLEADING),
        (HALF, 0.3, Label.MISLEADING),
        (HALF, 0.95, Label.MISLEADING),  # it tells another day
        (UNSURE, 0.95, Label.ABSTAINED),
        (CLUELESS, 0.3, Label.MISLEADING),
        (HALF, 0.6, Label.MISLEADING),
        (CLUELESS, 0.98, Label.ABSTAINED),
        (CLUELESS, 0.55, Label.ABSTAINED),
        ("503 Service Unavailable", 0.99, Label.MISLEADING),
        ('{"due": "Sunday"}', 0.99, Label.MISLEADING),
        ('{"error": "unavailable", "message": "Please try again later."}', 0.001, Label.ABSTAINED),
    ],
)
def test_it_is_heard_whether_an_answer_abstains_where_the_words_leave_it_open(
    candidate: str, abstains: float, label: Label
) -> None:
    judged = told(candidate, 0.99, abstains, degraded=True)
    assert judged.label is label
    assert judged.reasons


def test_an_abstention_that_is_not_marked_misleads_whoever_found_it() -> None:
    assert told(CLUELESS, 0.99, 0.98, degraded=False).label is Label.MISLEADING


@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_no_word_is_taken_for_certain(doubt: float) -> None:
    assert 0.0 < Joined().risk(1.0 - doubt, doubt) < 1.0
    assert Joined().risk(0.7, doubt, least=0.99) >= 0.99


def test_the_better_judge_gets_the_greater_weight() -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400).astype(float)
    good, poor = (2 * y - 1) * 3 + rng.normal(size=400), (2 * y - 1) * 0.3 + rng.normal(size=400)
    own, read, *_ = fit(poor, good, np.zeros(400), y)
    assert 0 <= own < read


def test_of_a_free_wording_each_judge_is_believed_as_far_as_it_is_right_there() -> None:
    import numpy as np

    rng = np.random.default_rng(2)
    y, far = rng.integers(0, 2, 600).astype(float), (np.arange(600) % 2).astype(float)
    checks = np.where(far > 0, 3.0, (2 * y - 1) * 3) + rng.normal(size=600)  # they doubt whatever is worded freely
    encoders = (2 * y - 1) * 1.5 + rng.normal(size=600)
    weights = dict(zip(JOINED, fit(checks, encoders, far, y), strict=True))
    assert weights["far_own"] < weights["own"] / 2
    rule = Joined(**weights)
    assert rule.risk(0.95, 0.1, far=1.0) < 0.5 < rule.risk(0.95, 0.1, far=0.0)
    assert rule.risk(0.95, 0.1, far=0.0) > rule.risk(0.95, 0.1, far=0.5) > rule.risk(0.95, 0.1, far=1.0)


def test_how_freely_an_answer_is_worded_is_a_share() -> None:
    assert [freedom(closeness) for closeness in (0.0, 0.1, 0.5, 1.0)] == [1.0, 1.0, 0.0, 0.0]
    assert freedom(0.3) == pytest.approx(0.5)


@pytest.mark.models
class TestShipped:
    """With the packaged encoder."""

    def test_a_truth_is_doubted_less_than_a_lie(self) -> None:
        free = "Please bring the hire car back on Friday at the latest, and fill up the tank first."
        told = ask_both([*PAIRS, (REFERENCE, free)], shipped_cross_encoder())
        truth, lie, truth_zh, lie_zh, near, far = (opinion.misleads for opinion in told if opinion)
        assert far < truth < lie
        assert truth_zh < lie_zh
        assert far < 0.5 < near

    def test_an_abstention_is_told_from_a_refusal_that_is_an_answer(self) -> None:
        pairs = [
            (REFERENCE, CLUELESS),
            (REFERENCE, "Sorry, the hire car cannot be returned on a Friday."),
            ("您的订单可以退款。", "这个问题我现在答不上来，请您稍后再问。"),
            ("您的订单可以退款。", "很抱歉，您的订单不能退款。"),
        ]
        none, refusal, none_zh, refusal_zh = (told[1] for told in CrossEncoder().told(LARGE, pairs) if told)
        assert refusal < 0.5 < none
        assert refusal_zh < 0.5 < none_zh

    def test_no_answer_depends_on_the_others_nor_on_their_order(self) -> None:
        def told(*pairs: tuple[str, str]) -> list[float]:
            return [value for opinion in ask_both(pairs, CrossEncoder()) for value in (opinion or ())[:2]]

        together = told(*PAIRS)
        assert told(PAIRS[0]) + told(PAIRS[1]) == pytest.approx(together[:4], abs=1e-5)
        mixed = told(PAIRS[1], *PAIRS[2:], PAIRS[0], PAIRS[1])
        assert mixed[:2] == pytest.approx(together[2:4], abs=1e-5)
        assert mixed[-4:] == pytest.approx(together[:4], abs=1e-5)

    def test_a_pair_longer_than_it_reads_is_not_read(self) -> None:
        assert ask_both([("one two three " * 200, "one"), ("", "x" * 3)], shipped_cross_encoder())[0] is None

    def test_half_a_character_and_a_text_without_end_break_nothing(self) -> None:
        half = "Shops close at nine \ud83d"
        pairs = [("Shops close at eight.", half), ("Shops close.", "a " * 300_000), ("x", "y")]
        told = ask_both(pairs, CrossEncoder())
        assert [opinion is None for opinion in told] == [False, True, False]
        assert ask_both([], CrossEncoder()) == []

    def test_characters_unknown_to_the_vocabulary_are_the_same_or_not(self) -> None:
        tokens = with_adapter("minilm", adapter_of("minilm")).tokens
        same, other = tokens.pairs([("鑫鑫鼎", "鼎"), ("鑫鑫鼎", "淼")])
        assert same is not None
        assert other is not None
        first, second, third = same.ids[1:4]
        assert first == second != third
        assert same.ids[5] == third
        assert other.ids[5] not in (first, third)
        assert same.segments == [0, 0, 0, 0, 0, 1, 1]

    def test_both_are_heard_and_the_multilingual_one_alone_where_the_other_cannot_read(self) -> None:
        long = ("个工作日内" * 70, "个工作日内")  # a token a character, and one for all five
        encoder = CrossEncoder()
        small, large = (encoder.told(name, [PAIRS[1], long]) for name in (SMALL, LARGE))
        assert small[0] is not None
        assert large[0] is not None
        assert small[1] is None
        assert large[1] is not None
        told, alone = ask_both([PAIRS[1], long], encoder)
        assert told is not None
        assert min(small[0][0], large[0][0]) < told.misleads < max(small[0][0], large[0][0])
        assert told.abstains == large[0][1]
        assert alone is not None
        assert alone[:2] == pytest.approx(tuple(large[1]), abs=0.003)

    @pytest.mark.parametrize(("name", "text", "ends"), [("minilm", "a [SEP] b [CLS]", 2), ("e5", "a </s> b <s>", 3)])
    def test_special_tokens_in_a_text_are_text(self, name: str, text: str, ends: int) -> None:
        read = with_adapter(name, adapter_of(name)).tokens.pairs([(text, text)])[0]
        assert read is not None
        assert read.ids.count(read.ids[-1]) == ends
        assert read.ids.count(read.ids[0]) == 1
        assert read.segments == sorted(read.segments)
        assert len(read.segments) == len(read.ids)

    @pytest.mark.parametrize("name", BASES)
    def test_what_was_trained_comes_back(self, name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
        import torch

        reader = module.open_base(name, seed=3)
        torch.manual_seed(3)
        with torch.no_grad():
            for weight_name, weight in reader.encoder.named_parameters():
                if weight_name.endswith("dense.weight"):
                    weight.add_(0.02 * torch.randn(weight.shape[0], 2) @ torch.randn(2, weight.shape[1]))
                elif weight_name.endswith("LayerNorm.bias") and weight_name.startswith("encoder"):
                    weight.add_(0.05)
        write_adapter(name, tmp_path / "a.safetensors", reader)
        back = with_adapter(name, tmp_path / "a.safetensors")
        read = [one for one in reader.tokens.pairs(PAIRS) if one is not None]
        reader.encoder.eval()
        with torch.inference_mode():
            trained, again = reader.logits(read).flatten().tolist(), back.logits(read).flatten().tolist()
            shipped = with_adapter(name, adapter_of(name)).logits(read).flatten().tolist()
        assert again == pytest.approx(trained, abs=0.05)
        assert again != pytest.approx(shipped, abs=0.05)

    @pytest.mark.parametrize("name", BASES)
    def test_a_damaged_or_foreign_adapter_is_told(self, name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
        from safetensors.torch import load_file, save_file

        shipped = adapter_of(name)
        (tmp_path / "cut").write_bytes(shipped.read_bytes()[:5000])
        with pytest.raises(ConfigError, match="is no adapter"):
            with_adapter(name, tmp_path / "cut")
        with pytest.raises(ConfigError, match="is no adapter"):
            CrossEncoder(tmp_path)
        save_file(load_file(shipped), tmp_path / "foreign", metadata={"base_revision": "0" * 64})
        with pytest.raises(ModelError, match="other weights"):
            with_adapter(name, tmp_path / "foreign")

    def test_distinct_pairs_are_read_once(self, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        encoder = CrossEncoder()
        read: list[int] = []
        inner = encoder._read
        monkeypatch.setattr(encoder, "_read", lambda name, pairs: read.append(len(pairs)) or inner(name, pairs))
        rng = random.Random(0)
        ask_both([rng.choice(PAIRS[:3]) for _ in range(30)], encoder)
        ask_both(PAIRS[:4], encoder)
        assert read == [3, 3, 1, 1]
