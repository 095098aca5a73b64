"""Folders of sentence-transformers: modules are applied or refused, and every file that counts makes a revision."""

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from harness.errors import ConfigError, ModelError
from harness.fidelity.baseline import compute_baseline
from harness.fidelity.model_folder import encoder_path, model_revision
from harness.fidelity.scorer import Scorer
from harness.fidelity.sentence_head import Dense, SentenceHead, head_of

PAIRS = [("The ferry leaves at noon.", "At noon the boat departs."), ("渡轮中午开。", "The ferry is late.")]
TRANSFORMER = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}


def folder_of(path: Path, *kinds: str, **settings: Any) -> Path:
    """A folder whose modules are an encoder (not there), pooling by the mean, and `kinds`."""
    modules = [TRANSFORMER]
    for at, kind in enumerate(("Pooling", *kinds), start=1):
        modules.append({"idx": at, "name": str(at), "path": f"{at}_{kind}", "type": f"sentence_transformers.x.{kind}"})
        (path / f"{at}_{kind}").mkdir()
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": "mean"}))
    if "Dense" in kinds:
        (path / "2_Dense" / "config.json").write_text(json.dumps(settings))
    return path


def test_a_head_pools_then_goes_through_its_layers_in_order() -> None:
    last = np.array([[2.0, 0.0], [0.0, 4.0]], dtype=np.float32)
    dense = Dense(weight=np.array([[1.0, 1.0]], dtype=np.float32), bias=np.array([-4.0], dtype=np.float32), tanh=False)
    assert SentenceHead(layers=(dense,))(last) == pytest.approx([-1.0])
    turned = Dense(weight=np.array([[1, 0], [1, 1]], dtype=np.float32), bias=None, tanh=True)
    pooled = np.array([1.0, 2.0]) / np.sqrt(5)
    expected = np.tanh([pooled[0], pooled.sum()])
    assert SentenceHead(layers=(None, turned))(last) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert SentenceHead(layers=(None, turned)).width(2) == 2
    with pytest.raises(ModelError, match="takes 2 values and gets 3"):
        SentenceHead(layers=(turned,)).width(3)


@pytest.mark.parametrize(
    ("kinds", "settings", "says"),
    [
        (["LayerNorm"], {}, "'LayerNorm' is not supported; Pooling, Dense and Normalize are"),
        (["WeightedLayerPooling"], {}, "'WeightedLayerPooling' is not supported"),
        (["Dense"], {"activation_function": "torch.nn.modules.activation.GELU"}, "'GELU' is not supported"),
        (["Dense"], {"use_residual": True}, "use_residual is not supported"),
        (["Dense"], {"module_input_name": "token_embeddings"}, "'token_embeddings' is not supported"),
    ],
)
def test_what_is_not_applied_is_refused_by_name(
    tmp_path: Path, kinds: list[str], settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        head_of(folder_of(tmp_path, *kinds, **settings))


def test_a_default_prompt_is_refused_and_one_of_nothing_is_none(tmp_path: Path) -> None:
    folder_of(tmp_path, "Normalize")
    told = {"prompts": {"query": "query: ", "bare": ""}, "default_prompt_name": "query"}
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(told))
    with pytest.raises(ConfigError, match=r"default_prompt_name is 'query' \('query: '\).*Set it to null"):
        head_of(tmp_path)
    for name in ("bare", None):
        (tmp_path / "config_sentence_transformers.json").write_text(json.dumps({**told, "default_prompt_name": name}))
        assert head_of(tmp_path).layers == (None,)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("modules.json", "{", "no list of modules"),
        ("modules.json", "[1]", "no list of modules"),
        ("1_Pooling/config.json", "[]", "no object"),
        ("2_Dense/config.json", "?", "is no JSON"),
        ("2_Dense/config.json", "{}", "holds no weights"),
        ("2_Dense/model.safetensors", "?", "cannot be read"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(tmp_path: Path, file: str, content: str, says: str) -> None:
    folder_of(tmp_path, "Dense")
    (tmp_path / file).write_text(content)
    with pytest.raises(ModelError, match=says) as told:
        head_of(tmp_path)
    assert "\n" not in str(told.value)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(encoder_path(), tmp_path_factory.mktemp("copied") / "model"))


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activation", ["Tanh", "Identity"])
def test_the_cosine_of_a_model_with_a_dense_module_equals_sentence_transformers(
    tmp_path: Path, activation: str
) -> None:
    import torch
    from sentence_transformers import SentenceTransformer, models

    torch.manual_seed(7)
    dense = models.Dense(384, 24, activation_function=getattr(torch.nn, activation)())
    modules = [models.Transformer(str(encoder_path())), models.Pooling(384, pooling_mode="mean"), dense]
    library = SentenceTransformer(modules=[*modules, models.Normalize()], device="cpu")
    library.save(str(tmp_path))
    left, right = (library.encode([pair[i] for pair in PAIRS], normalize_embeddings=True) for i in (0, 1))
    expected = [float(a @ b) for a, b in zip(left, right, strict=True)]
    assert [s.cosine for s in Scorer(tmp_path).score(PAIRS)] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("tokenizer_config.json", "{}"),
        ("vocab.json", "{}"),
        ("merges.txt", "a b"),
        ("spiece.model", "x"),
        ("special_tokens_map.json", "{}"),
        ("added_tokens.json", "{}"),
        ("modules.json", "[]"),
        ("1_Pooling/config.json", "{}"),
        ("2_Dense/model.safetensors", "x"),
        ("config_sentence_transformers.json", "{}"),
        ("sentence_bert_config.json", "{}"),
    ],
)
def test_every_file_that_the_embeddings_depend_on_makes_another_revision(copied: Path, file: str, content: str) -> None:
    changed, before = copied / file, model_revision(copied)
    kept = changed.read_bytes() if changed.is_file() else None
    changed.parent.mkdir(exist_ok=True)
    try:
        changed.write_text(content)
        assert model_revision(copied) != before
    finally:
        changed.unlink() if kept is None else changed.write_bytes(kept)
    assert model_revision(copied) == before


@pytest.mark.slow
@pytest.mark.models
def test_the_cache_and_the_baseline_of_another_tokenizer_are_not_taken(copied: Path, tmp_path: Path) -> None:
    cased = Path(shutil.copytree(copied, tmp_path / "cased"))
    settings = json.loads((cased / "tokenizer_config.json").read_text())
    (cased / "tokenizer_config.json").write_text(json.dumps({**settings, "do_lower_case": False}))
    pairs = [("The Train leaves Berlin.", "A train departs from Berlin at Noon.")]
    first = Scorer(copied, cache_dir=tmp_path / "cache")
    first.score(pairs)
    baseline = compute_baseline(first, [one for pair in PAIRS for one in pair], pairs=2, rng=Random(1))
    first.close()
    second = Scorer(cased, cache_dir=tmp_path / "cache")
    assert second.score(pairs) == Scorer(cased).score(pairs)
    second.close()
    assert baseline.revision != second.revision


@pytest.mark.slow
@pytest.mark.models
def test_lower_case_that_the_tokenizer_does_not_know_is_refused(copied: Path, tmp_path: Path) -> None:
    lowered = Path(shutil.copytree(copied, tmp_path / "lowered"))
    settings = {"max_seq_length": 256, "do_lower_case": True}
    (lowered / "sentence_bert_config.json").write_text(json.dumps(settings))
    Scorer(lowered)  # its tokenizer does the same
    tokenizer = json.loads((lowered / "tokenizer.json").read_text("utf-8"))
    tokenizer["normalizer"]["lowercase"] = False
    (lowered / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    changed = json.loads((lowered / "tokenizer_config.json").read_text("utf-8"))
    (lowered / "tokenizer_config.json").write_text(json.dumps({**changed, "do_lower_case": False}))
    with pytest.raises(ConfigError, match="do_lower_case is true"):
        Scorer(lowered)
