import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.fidelity.bertscore import (
    Baseline,
    BertScore,
    bertscore,
    inverse_document_frequency,
    load_baseline,
)
from harness.fidelity.composite import agreement, composite, divergence
from harness.fidelity.embedding import cosine
from harness.fidelity.encoder import Encoded, unit_rows

BASELINE = Baseline(p=0.2, r=0.3, f1=0.25, revision="r" * 64, layer=6, pairs=10)


def encoded(ids, *, dims=8, seed=0):
    """A text of one special token at each end; a token id always has the same embedding."""
    every = [1, *ids, 2]
    rows = unit_rows(np.stack([np.random.default_rng(i).normal(size=dims) for i in every]).astype(np.float32))
    content = np.array([False, *[True] * len(ids), False])
    spans = np.array([(0, 0), *[(i, i + 1) for i in range(len(ids))], (0, 0)], dtype=np.int32)
    sentence = unit_rows(rows.mean(axis=0)[None])[0]
    return Encoded(ids=np.array(every), spans=spans, content=content, tokens=rows, sentence=sentence)


texts = st.lists(st.integers(3, 50), min_size=1, max_size=12).map(encoded)


@given(reference=texts, candidate=texts)
def test_scores_stay_in_range_and_swap_precision_and_recall_with_the_texts(reference, candidate):
    score, swapped = bertscore(reference, candidate), bertscore(candidate, reference)
    assert all(-1 <= value <= 1 for value in score)
    assert score.p == pytest.approx(swapped.r, abs=1e-6)
    assert score.r == pytest.approx(swapped.p, abs=1e-6)


@given(text=texts)
def test_a_text_against_itself_scores_one(text):
    assert bertscore(text, text) == pytest.approx((1, 1, 1), abs=1e-6)


@given(text=texts, more=texts)
def test_idf_weights_leave_identical_texts_at_one(text, more):
    idf = inverse_document_frequency([text, more])
    assert bertscore(text, text, idf=idf) == pytest.approx((1, 1, 1), abs=1e-6)


def test_idf_of_tokens_that_every_reference_holds_falls_back_to_uniform_weights():
    text = encoded([5, 6])
    idf = inverse_document_frequency([text, text])
    assert bertscore(text, encoded([5, 9]), idf=idf).r == bertscore(text, encoded([5, 9])).r


def test_idf_with_a_single_reference_is_refused():
    with pytest.raises(ConfigError, match="at least 2 references, got 1"):
        inverse_document_frequency([encoded([5])])


def test_a_rare_token_weighs_more_than_a_common_one():
    common, rare = encoded([5, 6]), encoded([5, 7])
    idf = inverse_document_frequency([common, rare, encoded([5, 8])])
    missing_rare = bertscore(rare, encoded([5]), idf=idf)
    assert missing_rare.r < bertscore(rare, encoded([5])).r


def test_rescaling_maps_the_baseline_to_zero_and_one_to_one():
    assert BASELINE.rescaled(BertScore(0.2, 0.3, 0.25)) == pytest.approx((0, 0, 0))
    assert BASELINE.rescaled(BertScore(1, 1, 1)) == pytest.approx((1, 1, 1))


def test_a_baseline_survives_its_file(tmp_path):
    BASELINE.save(tmp_path / "b.json")
    assert load_baseline(tmp_path / "b.json", revision="r" * 64, layer=6) == BASELINE


@pytest.mark.parametrize(("revision", "layer"), [("x" * 64, 6), ("r" * 64, 5)])
def test_a_baseline_of_another_model_or_layer_is_refused(tmp_path, revision, layer):
    BASELINE.save(tmp_path / "b.json")
    with pytest.raises(ConfigError, match="but the scorer runs"):
        load_baseline(tmp_path / "b.json", revision=revision, layer=layer)


def test_rescaling_without_a_baseline_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no baseline for this model"):
        load_baseline(tmp_path / "none.json", revision="r", layer=6)


@pytest.mark.parametrize("p", [1.0, float("nan"), -2.0])
def test_an_impossible_baseline_is_refused(tmp_path, p):
    with pytest.raises(ConfigError, match="baseline p is"):
        replace(BASELINE, p=p)


def test_a_file_that_is_no_baseline_is_refused(tmp_path):
    (tmp_path / "b.json").write_text(json.dumps({"p": 1}))
    with pytest.raises(ConfigError, match="not a baseline"):
        load_baseline(tmp_path / "b.json", revision="r", layer=6)


@given(a=texts, b=texts)
def test_divergence_is_never_negative_and_the_composite_never_above_one(a, b):
    assert divergence(a.sentence, b.sentence) >= 0
    assert 0 < agreement(a.sentence, b.sentence) <= 1
    assert composite(a.sentence, b.sentence) <= 1 + 1e-9
    assert -1 <= cosine(a.sentence, b.sentence) <= 1


def test_the_composite_of_a_text_with_itself_is_one():
    a = encoded([5, 6]).sentence
    assert composite(a, a) == pytest.approx(1)
