"""Reference and candidate as one sequence of tokens for a cross-encoder."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.fidelity.encoder import MAX_CHARS
from harness.fidelity.encoder import without_lone_surrogates as _readable

LIMIT_TOKENS = 320  # of both texts together; longer pairs are not read


class PairTokens(NamedTuple):
    """One sequence: beginning, reference, end, candidate, end."""

    ids: list[int]
    segments: list[int]  # 0 for the reference's tokens, 1 for the candidate's


class PairTokenizer(ABC):
    """Tokens of pairs."""

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairTokens | None]:
        """One per (reference, candidate), in order; None where they are longer than the model reads."""
        pairs = [(_readable(reference), _readable(candidate)) for reference, candidate in pairs]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if len(text) <= MAX_CHARS))
        read = dict(zip(texts, self._read(texts), strict=True)) if texts else {}
        return [self._limited(pair, read) if all(text in read for text in pair) else None for pair in pairs]

    def _limited(self, pair: tuple[str, str], read: dict[str, Any]) -> PairTokens | None:
        joined = self._joined(pair, read)
        return joined if len(joined.ids) <= LIMIT_TOKENS else None

    @abstractmethod
    def _read(self, texts: list[str]) -> Sequence[Any]:
        """The tokens of each text."""

    @abstractmethod
    def _joined(self, pair: tuple[str, str], read: dict[str, Any]) -> PairTokens: ...


class UnigramPairs(PairTokenizer):
    """<s> reference </s> </s> candidate </s>, by a tokenizer of the library tokenizers."""

    def __init__(self, tokenizer: Any, begin: int, end: int) -> None:
        self._tokenizer, self._begin, self._end = tokenizer, begin, end

    def _read(self, texts: list[str]) -> Sequence[Any]:
        return [out.ids for out in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def _joined(self, pair: tuple[str, str], read: dict[str, Any]) -> PairTokens:
        first, second = (read[text] for text in pair)
        return PairTokens(
            [self._begin, *first, self._end, self._end, *second, self._end],
            [0] * (len(first) + 2) + [1] * (len(second) + 2),
        )


class WordPiecePairs(PairTokenizer):
    """[CLS] reference [SEP] candidate [SEP]. A character that the vocabulary lacks gets one of its unused tokens.

    The first such character of a pair gets the first unused token, wherever it stands in the pair. So the model sees
    whether two texts share a character that it does not know, which [UNK] would hide: three of four Chinese ones.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        vocabulary = tokenizer.get_vocab()
        self._unused: list[int] = [vocabulary[f"[unused{i}]"] for i in range(994) if f"[unused{i}]" in vocabulary]
        self._cls, self._sep = int(tokenizer.cls_token_id), int(tokenizer.sep_token_id)

    def _read(self, texts: list[str]) -> Sequence[Any]:
        out = self._tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True,
            return_attention_mask=False, return_token_type_ids=False, truncation=False, verbose=False,
        )  # fmt: skip
        return list(zip(out["input_ids"], out["offset_mapping"], strict=True))

    def _joined(self, pair: tuple[str, str], read: dict[str, Any]) -> PairTokens:
        slots: dict[str, int] = {}
        both = []
        for text in pair:
            ids, spans = read[text]
            both.append(
                [
                    self._slot(text[start:stop], slots) if token == self._tokenizer.unk_token_id else token
                    for token, (start, stop) in zip(ids, spans, strict=True)
                ]
            )
        first, second = both
        return PairTokens(
            [self._cls, *first, self._sep, *second, self._sep], [0] * (len(first) + 2) + [1] * (len(second) + 1)
        )

    def _slot(self, unknown: str, slots: dict[str, int]) -> int:
        return self._unused[slots.setdefault(unknown, len(slots)) % len(self._unused)]
