"""An inference model by configuration: a tiny one with random weights is read, and its findings reach the verdict."""

import argparse
from pathlib import Path

import pytest
from fidelity_judging import UNMEASURED

from harness.commands.model_options import add_model_options, entailment_of
from harness.errors import ConfigError, ModelError
from harness.fidelity.case import Case, Finding, Label
from harness.fidelity.entailment import TRUST, Entailment
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("likely", "label"), [(0.89, Label.FAITHFUL), (0.9, Label.MISLEADING), (1.0, Label.MISLEADING)]
)
def test_a_clear_contradiction_alone_makes_an_answer_misleading(
    model: Entailment, monkeypatch: pytest.MonkeyPatch, likely: float, label: Label
) -> None:
    monkeypatch.setattr(model, "contradictions", lambda pairs: [likely] * len(pairs))
    same, unknowing = (
        Case(id="1", reference="The lift is out of order.", candidate=candidate)
        for candidate in ("The lift is out of order.", "Sorry, I do not know.")
    )
    found = judge([same, unknowing], [UNMEASURED] * 2, entailment=model)
    assert [one.label for one in found] == [label, Label.ABSTAINED if label is Label.FAITHFUL else label]
    assert all(any(f"(probability {likely:.2f})" in reason for reason in one.reasons) for one in found)


@pytest.mark.slow
def test_how_far_it_is_trusted_is_an_option(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_model_options(parser)
    folder = str(tiny(tmp_path, ("contradiction", "entailment", "neutral")))
    assert entailment_of(parser.parse_args([])) is None
    opened = [entailment_of(parser.parse_args(["--nli", folder, *more])) for more in ((), ("--nli-trust", "0.9"))]
    assert [one is not None and one.trust for one in opened] == [TRUST, 0.9]
    with pytest.raises(ConfigError, match="--nli-trust: needs --nli"):
        entailment_of(parser.parse_args(["--nli-trust", "0.5"]))
