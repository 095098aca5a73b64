"""The scorer on the packaged encoder, against the two libraries it stands for."""

from random import Random

import pytest

from harness.errors import ConfigError, ModelError
from harness.fidelity.baseline import compute_baseline
from harness.fidelity.model_folder import encoder_folder, encoder_path
from harness.fidelity.scorer import Scorer, Weighting

pytestmark = [pytest.mark.slow, pytest.mark.models]

PAIRS = [
    ("Opened software cannot be refunded.", "Opened software can be refunded."),
    ("Opened software cannot be refunded.", "Software that has been opened is not refundable."),
    ("Order A-1234 was charged 59.90 USD.", "Order A-1234 was charged 95.90 USD."),
    ("Order A-1234 was charged 59.90 USD.", "You were billed $59.90 for order A-1234."),
    ("Everyone except the design team must attend.", "Everyone including the design team must attend."),
    ("北京今天下雨", "北京今天没有下雨"),
    ("北京今天下雨", "今天北京有雨"),
    ("The cat sat on the mat", "A car was sold yesterday."),
    ("Returns take 14 days. " * 12, "You have two weeks to return it. " * 9),
]
# The figures of the table in the specification: BERTScore F1 and cosine.
KNOWN = [(0.900, 0.923), (0.749, 0.805), (0.935, 0.943), (0.835, 0.875), (0.949, 0.976), (0.954, 0.969), (0.851, 0.904)]


@pytest.fixture(scope="module")
def scorer():
    return Scorer()


def numbers(results):
    return [(s.bertscore_p, s.bertscore_r, s.bertscore_f1, s.cosine, s.composite) for s in results]


def close(left, right, tolerance=1e-5):
    return all(
        x == pytest.approx(y, abs=tolerance)
        for a, b in zip(left, right, strict=True)
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.filterwarnings("ignore")
def test_bertscore_equals_the_library_bert_score(scorer):
    from bert_score import BERTScorer

    library = BERTScorer(model_type=str(encoder_path()), num_layers=6, idf=False)
    expected = library.score([c for _, c in PAIRS], [r for r, _ in PAIRS])
    ours = [found[:3] for found in numbers(scorer.score(PAIRS))]
    assert close(ours, [tuple(map(float, row)) for row in zip(*expected, strict=True)])


@pytest.mark.filterwarnings("ignore")
def test_bertscore_with_idf_equals_the_library_bert_score(scorer):
    from bert_score import BERTScorer

    references = [r for r, _ in PAIRS]
    library = BERTScorer(model_type=str(encoder_path()), num_layers=6, idf=True, idf_sents=references, nthreads=0)
    expected = library.score([c for _, c in PAIRS], references)
    ours = [found[:3] for found in numbers(scorer.score(PAIRS, weighting=Weighting.IDF))]
    assert close(ours, [tuple(map(float, row)) for row in zip(*expected, strict=True)])


@pytest.mark.filterwarnings("ignore")
def test_an_inner_layer_equals_the_library_bert_score_and_leaves_the_cosine_alone(scorer):
    from bert_score import BERTScorer

    expected = BERTScorer(model_type=str(encoder_path()), num_layers=4).score(
        [c for _, c in PAIRS], [r for r, _ in PAIRS]
    )
    inner = numbers(Scorer(layer=4).score(PAIRS))
    assert close([row[:3] for row in inner], [tuple(map(float, row)) for row in zip(*expected, strict=True)])
    assert close([row[3:] for row in inner], [row[3:] for row in numbers(scorer.score(PAIRS))])


@pytest.mark.filterwarnings("ignore")
def test_the_cosine_equals_sentence_transformers(scorer):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(encoder_path()), device="cpu")
    left, right = (library.encode([pair[i] for pair in PAIRS], normalize_embeddings=True) for i in (0, 1))
    expected = [float(a @ b) for a, b in zip(left, right, strict=True)]
    assert [s.cosine for s in scorer.score(PAIRS)] == pytest.approx(expected, abs=1e-5)


def test_the_figures_of_the_specification_come_out(scorer):
    found = [(s.bertscore_f1, s.cosine) for s in scorer.score(PAIRS[: len(KNOWN)])]
    assert close(found, KNOWN, tolerance=5.1e-4)


def test_scores_do_not_depend_on_order_batch_size_or_company(scorer):  # S6
    plain = numbers(scorer.score(PAIRS))
    backwards = numbers(scorer.score(PAIRS[::-1]))[::-1]
    alone = [numbers(Scorer(batch_tokens=1).score([pair]))[0] for pair in PAIRS[:3]]
    with_long = numbers(Scorer(batch_tokens=100_000).score([*PAIRS, ("word " * 450, "other " * 480)]))[:-1]
    assert close(plain, backwards)
    assert close(plain[:3], alone)
    assert close(plain, with_long)


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u200b"])
def test_an_empty_answer_scores_zero_and_says_so(scorer, blank):  # S1
    (found,) = scorer.score([("Refunds take five days.", blank)])
    assert numbers([found]) == [(0, 0, 0, 0, 0)]
    assert found.flags == ("empty",)


def test_an_empty_reference_is_not_measured(scorer):
    (found,) = scorer.score([("", "Refunds take five days.")])
    assert (found.bertscore_f1, found.cosine, found.composite) == (None, None, None)
    assert found.flags == ("empty_reference",)


def test_idf_with_a_single_reference_weighs_uniformly_and_says_so(scorer):  # S2
    (found,) = scorer.score([(PAIRS[0][0], PAIRS[0][0])], weighting=Weighting.IDF)
    assert found.bertscore_f1 == pytest.approx(1)
    assert found.flags == ("idf_uniform",)


def test_weights_go_by_their_name_and_an_unknown_one_is_refused(scorer):
    assert scorer.score(PAIRS, weighting="idf") == scorer.score(PAIRS, weighting=Weighting.IDF)
    assert scorer.score(PAIRS, weighting="uniform") == scorer.score(PAIRS)
    for unknown in ("IDF", "tf-idf", "", None, 1):
        with pytest.raises(ConfigError, match=r"weighting is .*; it must be one of uniform, idf"):
            scorer.score(PAIRS, weighting=unknown)


@pytest.mark.parametrize("wrong", ["a text", ["ab"], [("a", ["b"])], [("a", "b", "c")], [("a", None)], [b"ab"]])
def test_anything_but_pairs_of_texts_is_a_type_error(scorer, wrong):  # S3
    with pytest.raises(TypeError):
        scorer.score(wrong)


def test_long_texts_that_differ_after_the_limit_are_windowed_not_equal(scorer):  # S4
    start = "word " * 520
    (found,) = scorer.score([(start + "refund " * 80, start + "penguin " * 80)])
    assert "windowed" in found.flags
    assert found.bertscore_f1 < 0.99
    assert found.cosine < 0.999


def test_a_text_beyond_every_window_is_not_measured(scorer):
    (found,) = scorer.score([("word " * 20_000, "word")])
    assert found.bertscore_f1 is None
    assert "too_long" in found.flags


def test_a_text_too_large_to_read_is_not_measured_in_no_time(scorer):
    (found,) = scorer.score([("word", "x" * 5_000_000)])
    assert found.cosine is None
    assert "too_long" in found.flags


def test_unrelated_texts_are_far_below_the_gate(scorer):  # S7
    (found,) = scorer.score([("The cat sat on the mat", "A car was sold yesterday.")])
    assert found.bertscore_f1 < 0.3


def test_identical_chinese_texts_score_one(scorer):  # S8
    (found,) = scorer.score([("北京今天下雨", "北京今天下雨")])
    assert numbers([found]) == [pytest.approx((1, 1, 1, 1, 1), abs=1e-6)]


def test_texts_that_differ_only_in_unreadable_characters_are_not_called_equal(scorer):
    (found,) = scorer.score([("🎉", "💥")])
    assert found.bertscore_f1 is None
    assert "indistinguishable" in found.flags


def test_half_a_surrogate_pair_and_the_names_of_special_tokens_are_ordinary_text(scorer):
    cut, special = scorer.score([("Sure \ud83d", "Sure \ud83d"), ("It is [SEP] 5", "It is [SEP] 5 [PAD]")])
    assert cut.bertscore_f1 == pytest.approx(1)
    assert 0 < special.bertscore_p < 1


def test_rescaling_needs_the_baseline_of_this_very_model(scorer, tmp_path):  # S5
    with pytest.raises(ConfigError, match="no baseline"):
        Scorer(baseline=tmp_path / "missing.json")
    measured = compute_baseline(scorer, [text for pair in PAIRS for text in pair], pairs=50, rng=Random(7))
    measured.save(tmp_path / "b.json")
    (rescaled,) = Scorer(baseline=tmp_path / "b.json").score(PAIRS[:1])
    (raw,) = scorer.score(PAIRS[:1])
    assert rescaled.bertscore_f1 == pytest.approx((raw.bertscore_f1 - measured.f1) / (1 - measured.f1), abs=1e-6)
    assert (rescaled.flags, raw.flags) == (("rescaled",), ())
    assert numbers(Scorer(baseline=tmp_path / "b.json").score([("a b", "")])) == [(0, 0, 0, 0, 0)]


def test_a_baseline_needs_two_different_texts(scorer):
    with pytest.raises(ConfigError, match="2 different texts"):
        compute_baseline(scorer, ["a", "a "], pairs=5, rng=Random(0))


def test_bfloat16_stays_close_to_float32(scorer):
    low = numbers(Scorer(precision="bfloat16").score(PAIRS))
    assert close(low, numbers(scorer.score(PAIRS)), tolerance=0.02)


def test_the_disk_cache_gives_the_same_scores_without_the_model(scorer, tmp_path, monkeypatch):
    first = Scorer(cache_dir=tmp_path)
    expected = numbers(first.score(PAIRS))
    first.close()
    second = Scorer(cache_dir=tmp_path)
    monkeypatch.setattr(second._encoder, "encode", lambda texts: pytest.fail(f"encoded again: {texts}"))
    assert numbers(second.score(PAIRS)) == expected
    second.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": 7}, "layers 1 to 6"),
        ({"layer": 0}, "layers 1 to 6"),
        ({"batch_tokens": 0}, "at least 1"),
        ({"device": "cuda:9"}, "no CUDA device|cannot"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_one_line(options, message):
    with pytest.raises(ConfigError, match=message):
        Scorer(**options)


def test_a_device_beyond_the_last_is_refused_in_one_line(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ConfigError, match="device is 'cuda:2', but the CUDA devices here are 0 to 1"):
        Scorer(device="cuda:2")


def test_a_folder_without_a_model_is_refused_in_one_line(tmp_path):
    with pytest.raises(ModelError, match="no model folder"):
        Scorer(tmp_path)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A small model of the RoBERTa kind with random weights and a byte-level tokenizer that claims no limit."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    folder = tmp_path_factory.mktemp("roberta")
    tokenizer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator([text for pair in PAIRS for text in pair], vocab_size=400, special_tokens=special)
    tokenizer.save_model(str(folder))
    RobertaTokenizer.from_pretrained(folder).save_pretrained(folder)
    size = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    torch.manual_seed(5)
    RobertaModel(RobertaConfig(vocab_size=400, max_position_embeddings=130, **size)).save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_another_kind_equals_the_library_too(roberta):
    from bert_score import BERTScorer
    from transformers import AutoTokenizer

    pairs = [pair for pair in PAIRS if pair[0].isascii() and len(pair[0]) < 100]
    library = BERTScorer(model_type=str(roberta), num_layers=2)
    # It asks for a space before the first word in a way that this transformers ignores, and overflows without a limit.
    library._tokenizer = AutoTokenizer.from_pretrained(roberta, add_prefix_space=True, model_max_length=128)
    expected = library.score([c for _, c in pairs], [r for r, _ in pairs])
    ours = [row[:3] for row in numbers(Scorer(roberta, layer=2).score(pairs))]
    assert close(ours, [tuple(map(float, row)) for row in zip(*expected, strict=True)])


def test_a_tokenizer_that_claims_no_limit_is_held_to_the_positions_of_its_model(roberta):
    (found,) = Scorer(roberta).score([("refund " * 300, "refund " * 299 + "must")])
    assert "windowed" in found.flags
    assert 0 < found.bertscore_f1 < 1


def test_an_encoder_is_never_downloaded():
    with pytest.raises(ModelError, match="hf download nobody/nothing"):
        encoder_folder("nobody/nothing")
