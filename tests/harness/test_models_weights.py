"""A damaged model folder is named before anything is started."""

import json
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models.weights import check_model_folder


def safetensors(data: bytes, *, claimed: int | None = None) -> bytes:
    header = {"w": {"dtype": "U8", "shape": [len(data)], "data_offsets": [0, claimed or len(data)]}}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(safetensors(b"abc"))
    return tmp_path


def test_a_whole_folder_is_taken(model: Path) -> None:
    check_model_folder(model)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.json", None, "config.json is missing"),
        ("config.json", b"{", "config.json is damaged"),
        ("config.json", b"[]", "need a JSON object, got list"),
        ("tokenizer.json", None, "tokenizer.json is missing"),
        ("model.safetensors", None, "holds no weights"),
        ("model.safetensors", b"", "does not begin as a safetensors file"),
        ("model.safetensors", b"x" * 40, "does not begin as a safetensors file"),
        ("model.safetensors", safetensors(b"abc")[:-1], "bytes and should have"),
        ("model.safetensors", safetensors(b"abc") + b"d", "bytes and should have"),
        ("model.safetensors", (4).to_bytes(8, "little") + b"null", "its header is not readable"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{]", "its header is not readable"),
        (
            "model.safetensors.index.json",
            b'{"weight_map": {"w": "part-2.safetensors"}}',
            "part-2.safetensors is missing",
        ),
    ],
)
def test_the_first_file_that_is_missing_or_damaged_is_named(
    model: Path, file: str, content: bytes | None, says: str
) -> None:
    if content is None:
        (model / file).unlink()
    else:
        (model / file).write_bytes(content)
    with pytest.raises(ModelError) as caught:
        check_model_folder(model)
    assert says in str(caught.value)
    assert str(model) in str(caught.value)
