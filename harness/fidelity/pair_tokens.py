"""Reference and candidate as one sequence of tokens for the cross-encoder."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.fidelity.encoder import MAX_CHARS
from harness.fidelity.encoder import without_lone_surrogates as _readable

LIMIT_TOKENS = 320  # of both texts together; longer pairs are not read


class PairTokens(NamedTuple):
    """One sequence: [CLS] reference [SEP] candidate [SEP]."""

    ids: list[int]
    segments: list[int]  # 0 for the reference's tokens, 1 for the candidate's


class PairTokenizer:
    """Tokens of pairs. A character that the vocabulary lacks gets one of the vocabulary's unused tokens.

    The first such character of a pair gets the first unused token, wherever it stands in the pair. So the model sees
    whether two texts share a character that it does not know, which [UNK] would hide: three of four Chinese ones.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        vocabulary = tokenizer.get_vocab()
        self._unused: list[int] = [vocabulary[f"[unused{i}]"] for i in range(994) if f"[unused{i}]" in vocabulary]
        self._cls, self._sep = int(tokenizer.cls_token_id), int(tokenizer.sep_token_id)

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairTokens | None]:
        """One per (reference, candidate), in order; None where they are longer than the model reads."""
        pairs = [(_readable(reference), _readable(candidate)) for reference, candidate in pairs]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair if len(text) <= MAX_CHARS))
        if not texts:
            return [None] * len(pairs)
        out = self._tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True,
            return_attention_mask=False, return_token_type_ids=False, truncation=False, verbose=False,
        )  # fmt: skip
        read = dict(zip(texts, zip(out["input_ids"], out["offset_mapping"], strict=True), strict=True))
        return [
            self._joined(pair, [read[text] for text in pair]) if all(text in read for text in pair) else None
            for pair in pairs
        ]

    def _joined(
        self, texts: tuple[str, str], read: Sequence[tuple[list[int], list[tuple[int, int]]]]
    ) -> PairTokens | None:
        if sum(len(ids) for ids, _ in read) + 3 > LIMIT_TOKENS:
            return None
        slots: dict[str, int] = {}
        both = []
        for text, (ids, spans) in zip(texts, read, strict=True):
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
