"""Counts put together from pieces equal what the tokenizer says of the whole, whatever the text."""

import json
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from gateway.prompt import TokenCounter
from gateway.prompt.pieces import CUTTING, PieceCounts, counts_by_pieces, pieces_of

LEARNT = [
    "Opened software cannot be refunded.  Unopened goods can!  It's 14 days, we'll say (or 1,234).",
    "  - first\n  - second\n\n\tdef f(x):\r\n        return x  # so\n",
    "北京今天没有下雨。 café — naïve Zoë 🎉 5 km",
] * 3
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
PLAIN = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
DIGITS = pre_tokenizers.Digits(individual_digits=True)
SPLITS = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in sorted(CUTTING)]
STEPS: dict[str, Any] = {
    "bytes": BYTES,
    "digits, bytes": pre_tokenizers.Sequence([DIGITS, BYTES]),
    "bytes, digits": pre_tokenizers.Sequence([BYTES, pre_tokenizers.Digits(individual_digits=False)]),
    "bytes, plain": pre_tokenizers.Sequence([BYTES, PLAIN]),
    "digits, split, bytes": pre_tokenizers.Sequence([DIGITS, SPLITS[0], BYTES]),
    **{f"split {index}": pre_tokenizers.Sequence([split, PLAIN]) for index, split in enumerate(SPLITS)},
}


def trained(steps: Any, *added: AddedToken, normalizer: Any = None) -> Tokenizer:
    """With merges that reach over spaces, line breaks and signs wherever the pre-tokenizer lets them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = steps
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)  # tokens then start after their space
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=800, min_frequency=2, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(LEARNT, trainer)
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens(list(added))
    return tokenizer


def declared(tokenizer: Tokenizer) -> Any:
    return json.loads(tokenizer.to_str())


def whole(tokenizer: Tokenizer, texts: Any) -> list[int]:
    return [len(one) for one in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]


TOKENIZERS = {name: trained(steps) for name, steps in STEPS.items()}
TOKENIZERS["NFC"] = trained(BYTES, normalizer=normalizers.NFC())
COUNTS = {name: PieceCounts(TokenCounter(one, None, byte_level=True)) for name, one in TOKENIZERS.items()}
SIGNS = (*" \n\t\r'.,!-_09aZsé☃。北", "  ", "\n\n", "\u00a0", "\u3000", "\u0301", "\u2028", "\x1f", "\x85", "\u200b")
WORDS = ("'s", "'ll", " can", "refunded", "🎉", "<|im_end|>", "<|im_start|>", "def f(x):", "一" * 60, "w" * 60)
PARTS = st.sampled_from((*SIGNS, *WORDS))
TEXTS = st.lists(PARTS, max_size=40).map("".join) | st.text(max_size=60).filter(lambda text: text.isprintable())


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, derandomize=True, max_examples=60)
@given(text=TEXTS)
def test_the_pieces_have_as_many_tokens_as_the_whole(name: str, text: str) -> None:
    assert counts_by_pieces(declared(TOKENIZERS[name]))
    assert "".join(pieces_of(text)) == text
    fresh = PieceCounts(TokenCounter(TOKENIZERS[name], None, byte_level=True))
    assert [count(text) for count in (fresh, fresh, COUNTS[name])] == whole(TOKENIZERS[name], [text]) * 3, pieces_of(
        text
    )
    assert all([count] == whole(TOKENIZERS[name], [piece]) for piece, count in fresh._known.items())
    assert all([count] == whole(TOKENIZERS[name], [f" {word}"]) for word, count in fresh._inner.items())


@pytest.mark.parametrize("name", TOKENIZERS)
def test_no_sign_is_white_space_to_the_tokenizer_alone(name: str) -> None:
    signs = [
        chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc", "Cf")
    ]
    texts = [f"a{sign} {sign} b{sign}  c {sign}" for sign in signs]
    assert [COUNTS[name](text) for text in texts] == whole(TOKENIZERS[name], texts)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_white_space_before_a_space_is_counted_with_it_once_all_the_words_are_known(name: str) -> None:
    counts = PieceCounts(TokenCounter(TOKENIZERS[name], None, byte_level=True))
    texts = [
        f"{first}b{middle}{last}"
        for first in ("a ", "a  ", "a\n ")
        for middle in ("", "\n", "  ", "\t")
        for last in (" ", "  ", " c", " \n", " c ")
    ]
    texts += ["a\n ", "a\n  b", "a\t b", " a", "  a"]
    for word in ("a b", "a c", "b", "a ", "a b ", "a \n", "a\n"):
        counts(word)
    assert [counts(text) for text in texts * 2] == whole(TOKENIZERS[name], texts) * 2


def test_a_tokenizer_that_looks_beyond_a_word_is_not_counted_by_pieces() -> None:
    unfit = [
        trained(pre_tokenizers.ByteLevel(add_prefix_space=True)),
        trained(PLAIN),
        trained(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r".+"), "isolated"), PLAIN])),
        trained(pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "merged_with_previous"), BYTES])),
        trained(pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), BYTES])),
        *(trained(pre_tokenizers.Sequence([PLAIN, step])) for step in (BYTES, *SPLITS)),  # a space is a letter by then
        trained(BYTES, normalizer=normalizers.Lowercase()),
        trained(BYTES, AddedToken("new york")),
        trained(BYTES, AddedToken("york", lstrip=True)),
        trained(BYTES, AddedToken("york", rstrip=True)),
        trained(BYTES, AddedToken("york", single_word=True)),
        Tokenizer(models.WordLevel({"?": 0}, unk_token="?")),
    ]
    assert [counts_by_pieces(declared(one)) for one in unfit] == [False] * len(unfit)
    assert counts_by_pieces(declared(trained(BYTES, AddedToken("york"))))


class Letters:
    """A token for each letter; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count_texts(self, texts: Sequence[str]) -> list[int]:
        self.asked.extend(texts)
        return [len(text) for text in texts]

    def count_word(self, text: str) -> int:
        self.asked.append(text)
        return len(text)

    def starts(self, text: str) -> list[int]:
        self.asked.append(text)
        return list(range(len(text)))


def test_what_is_remembered_is_bounded_and_asked_once() -> None:
    letters = Letters()
    counts = PieceCounts(letters)
    for index in range(50_000):
        assert counts(f"a {index}") == len(f"a {index}")
    assert len(counts._known) <= 16_384 + 16
    for index in range(50_000):
        assert counts(f"a {index} a") == len(f"a {index} a")
    assert max(len(counts._known), len(counts._inner)) <= 16_384 + 16
    letters.asked.clear()
    assert counts("a 49999 " + "x" * 100) == 108
    assert letters.asked == [" " + "x" * 100]
    words = " ".join(f"new{index}" for index in range(40))
    for text in (words, f"{words} and more of it", f"{words} and more of it"):
        assert counts(text) == len(text)
    assert letters.asked[1:] == [words, " and", " more", " of", " it"]  # a few alone, the rest in one go
    long = "a " * 10_000
    assert counts(long) == len(long)
    assert letters.asked[-1] == long


def test_a_question_too_many_of_another_thread_lets_nobody_ask_without_end() -> None:
    letters = Letters()
    counts = PieceCounts(letters)
    counts._inner.may_ask = -1  # two threads saw the last one
    with pytest.raises(KeyError):
        counts._inner["new"]
    assert letters.asked == []


def test_a_model_folder_says_which_way_it_is_counted(tmp_path: Path) -> None:
    for name, tokenizer in TOKENIZERS.items():
        folder = tmp_path / name
        folder.mkdir()
        tokenizer.save(str(folder / "tokenizer.json"))
        assert TokenCounter.load(folder)._pieces is not None
        assert (
            TokenCounter.load(folder).count_text("Opened goods  can.\n - 1")
            == whole(tokenizer, ["Opened goods  can.\n - 1"])[0]
        )
