"""The cross-encoder: what it is given, what it is trusted with, and that it comes whole."""

import random

import pytest
from fidelity_judging import UNMEASURED

from harness.errors import ConfigError, ModelError
from harness.fidelity import cross_encoder as module
from harness.fidelity.case import Case, Label
from harness.fidelity.cross_encoder import ADAPTER, CrossEncoder, shipped_cross_encoder, with_adapter, write_adapter
from harness.fidelity.fit_joined import fit
from harness.fidelity.risk import Joined
from harness.fidelity.verdict import judge

REFERENCE = "The hire car has to be returned with a full tank by Friday."
TRUTH = "The rental car must be returned by Friday with a full tank."
LIE = "The hire car has to be returned with a full tank by Sunday."
PAIRS = [
    (REFERENCE, TRUTH),
    (REFERENCE, LIE),
    ("周一闭馆，周二到周日开放。", "每周二至周日开放，周一不开。"),
    ("周一闭馆，周二到周日开放。", "周二闭馆，周三到周日开放。"),
    ("Shops close at eight.", "Shops close at nine."),
]


class Says:
    """Answers every pair alike, and remembers what it was asked."""

    def __init__(self, doubt: float | None) -> None:
        self.doubt = doubt
        self.asked: list[tuple[str, str]] = []

    def doubts(self, pairs):  # type: ignore[no-untyped-def]
        self.asked += pairs
        return [self.doubt] * len(pairs)


def told(candidate: str, doubt: float | None, **more: object):  # type: ignore[no-untyped-def]
    case = Case(id="x", reference=REFERENCE, candidate=candidate, **more)  # type: ignore[arg-type]
    return judge([case], [UNMEASURED], reader=Says(doubt))[0]


def test_its_doubt_moves_the_risk_both_ways_and_is_told() -> None:
    alone = told(TRUTH, None)
    assert told(TRUTH, 0.02).risk < told(TRUTH, 0.5).risk < told(TRUTH, 0.98).risk
    assert not any("cross_encoder" in reason for reason in alone.reasons)
    assert any("cross_encoder: read together" in reason for reason in told(TRUTH, 0.98).reasons)


@pytest.mark.parametrize(
    "more", [{"must_keep": ("by Friday",)}, {"contract": {"type": "object"}}], ids=["must_keep", "contract"]
)
def test_it_makes_no_form_right_that_is_wrong(more: dict[str, object]) -> None:
    judged = told("The hire car has to be returned with a full tank.", 0.001, **more)
    assert judged.label is Label.MISLEADING


def test_equal_and_empty_texts_are_not_read() -> None:
    reader = Says(1.0)
    texts = [(REFERENCE, f"  {REFERENCE}\n"), (REFERENCE, ""), (REFERENCE, LIE)]
    cases = [Case(id=str(i), reference=one, candidate=other) for i, (one, other) in enumerate(texts)]
    judged = judge(cases, [UNMEASURED] * 3, reader=reader)
    assert reader.asked == [(REFERENCE, LIE)]
    assert judged[0].label is Label.FAITHFUL


def test_an_abstention_stays_one_whatever_it_says() -> None:
    sorry = "Sorry, I cannot check that at the moment. Please try again later."
    case = Case(id="x", reference=REFERENCE, candidate=sorry, degraded=True)
    assert judge([case], [UNMEASURED], reader=Says(1.0))[0].label is Label.ABSTAINED


@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_no_word_is_taken_for_certain(doubt: float) -> None:
    assert 0.0 < Joined().risk(1.0 - doubt, doubt) < 1.0
    assert Joined().risk(0.7, doubt, least=0.99) >= 0.99


def test_the_better_judge_gets_the_greater_weight() -> None:
    import numpy as np

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400).astype(float)
    good, poor = (2 * y - 1) * 3 + rng.normal(size=400), (2 * y - 1) * 0.3 + rng.normal(size=400)
    own, read, _ = fit(poor, good, y)
    assert 0 <= own < read


@pytest.mark.models
class TestShipped:
    """With the packaged encoder."""

    def test_a_truth_is_doubted_less_than_a_lie(self) -> None:
        free = "Please bring the hire car back on Friday at the latest, and fill up the tank first."
        doubts = shipped_cross_encoder().doubts([*PAIRS, (REFERENCE, free)])
        truth, lie, truth_zh, lie_zh, near, far = (doubt or 0.0 for doubt in doubts)
        assert far < truth < lie
        assert truth_zh < lie_zh
        assert far < 0.5 < near

    def test_no_answer_depends_on_the_others_nor_on_their_order(self) -> None:
        together = CrossEncoder().doubts(PAIRS)
        alone = [CrossEncoder().doubts([pair])[0] for pair in PAIRS[:2]]
        mixed = CrossEncoder().doubts([PAIRS[1], *PAIRS[2:], PAIRS[0], PAIRS[1]])
        assert alone == pytest.approx(together[:2], abs=1e-5)
        assert [mixed[0], mixed[-2], mixed[-1]] == pytest.approx([together[1], together[0], together[1]], abs=1e-5)

    def test_a_pair_longer_than_it_reads_is_not_read(self) -> None:
        assert shipped_cross_encoder().doubts([("one two three " * 200, "one"), ("", "x" * 3)])[0] is None

    def test_characters_unknown_to_the_vocabulary_are_the_same_or_not(self) -> None:
        tokens = with_adapter(ADAPTER).tokens
        same, other = tokens.pairs([("鑫鑫鼎", "鼎"), ("鑫鑫鼎", "淼")])
        assert same is not None
        assert other is not None
        first, second, third = same.ids[1:4]
        assert first == second != third
        assert same.ids[5] == third
        assert other.ids[5] not in (first, third)
        assert same.segments == [0, 0, 0, 0, 0, 1, 1]

    def test_half_a_character_and_a_text_without_end_break_nothing(self) -> None:
        half = "Shops close at nine \ud83d"
        doubts = CrossEncoder().doubts([("Shops close at eight.", half), ("Shops close.", "a " * 300_000), ("x", "y")])
        assert [doubt is None for doubt in doubts] == [False, True, False]
        assert CrossEncoder().doubts([]) == []

    def test_special_tokens_in_a_text_are_text(self) -> None:
        tokens = with_adapter(ADAPTER).tokens
        read = tokens.pairs([("a [SEP] b", "[CLS]")])[0]
        assert read is not None
        assert read.ids.count(read.ids[-1]) == 2

    def test_what_was_trained_comes_back(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        import torch

        reader = module.open_base(seed=3)
        torch.manual_seed(3)
        with torch.no_grad():
            for name, weight in reader.encoder.named_parameters():
                if name.endswith("dense.weight"):
                    weight.add_(0.02 * torch.randn(weight.shape[0], 2) @ torch.randn(2, weight.shape[1]))
                elif name.endswith("LayerNorm.bias") and name.startswith("encoder"):
                    weight.add_(0.05)
        write_adapter(tmp_path / "a.safetensors", reader)
        back = with_adapter(tmp_path / "a.safetensors")
        read = [one for one in reader.tokens.pairs(PAIRS) if one is not None]
        reader.encoder.eval()
        with torch.inference_mode():
            assert back.logits(read).tolist() == pytest.approx(reader.logits(read).tolist(), abs=0.05)
            assert back.logits(read).tolist() != pytest.approx(with_adapter(ADAPTER).logits(read).tolist(), abs=0.05)

    def test_a_damaged_or_foreign_adapter_is_told(self, tmp_path) -> None:  # type: ignore[no-untyped-def]
        from safetensors.torch import load_file, save_file

        (tmp_path / "cut").write_bytes(ADAPTER.read_bytes()[:5000])
        with pytest.raises(ConfigError, match="is no adapter"):
            CrossEncoder(tmp_path / "cut")
        with pytest.raises(ConfigError, match="is no adapter"):
            CrossEncoder(tmp_path / "missing")
        save_file(load_file(ADAPTER), tmp_path / "foreign", metadata={"base_revision": "0" * 64})
        with pytest.raises(ModelError, match="other weights"):
            CrossEncoder(tmp_path / "foreign")

    def test_distinct_pairs_are_read_once(self, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        encoder = CrossEncoder()
        read: list[int] = []
        inner = encoder._read
        monkeypatch.setattr(encoder, "_read", lambda pairs: read.append(len(pairs)) or inner(pairs))
        rng = random.Random(0)
        encoder.doubts([rng.choice(PAIRS[:3]) for _ in range(30)])
        encoder.doubts(PAIRS[:4])
        assert read == [3, 1]
