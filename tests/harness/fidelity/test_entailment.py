"""An inference model by configuration: a tiny one with random weights is read, and its findings reach the verdict."""

from pathlib import Path

import pytest
from fidelity_judging import UNMEASURED

from harness.errors import ModelError
from harness.fidelity.case import Case, Finding
from harness.fidelity.entailment import Entailment
from harness.fidelity.verdict import judge

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "shop", "is", "open", "closed", "."]


def tiny(folder: Path, labels: tuple[str, ...]) -> Path:
    """A BERT of one layer with these labels, random weights and eleven words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, id2label=dict(enumerate(labels)), label2id={v: k for k, v in enumerate(labels)},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Entailment:
    return Entailment(tiny(tmp_path_factory.mktemp("nli"), ("contradiction", "entailment", "neutral")))


@pytest.mark.slow
def test_probabilities_do_not_depend_on_the_batch(model: Entailment) -> None:
    pairs = [("the shop is open.", "the shop is closed."), ("open", "the shop is open. " * 20)]
    together = model.contradictions(pairs)
    alone = [model.contradictions([pair])[0] for pair in pairs]
    assert together == pytest.approx(alone, abs=1e-5)
    assert all(0.0 < likely < 1.0 for likely in together)


@pytest.mark.slow
def test_a_model_without_contradictions_is_refused_by_its_labels(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="good, bad"):
        Entailment(tiny(tmp_path, ("good", "bad")))
    with pytest.raises(ModelError, match="holds no model"):
        Entailment(tmp_path / "nothing")


@pytest.mark.slow
def test_what_the_model_contradicts_raises_the_risk(model: Entailment, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(id="1", reference="The shop is open.", candidate="Come in whenever you like.")
    found = (Finding(check="entailment", severity=0.9, reason="the inference model sees a contradiction"),)
    before = judge([case], [UNMEASURED])[0]
    monkeypatch.setattr(model, "findings", lambda cases: [found] * len(cases))
    after = judge([case], [UNMEASURED], entailment=model)[0]
    assert after.risk > before.risk + 0.1
    assert found[0] in after.findings
