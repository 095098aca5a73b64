"""One pass of a text encoder gives token embeddings (for BERTScore) and the sentence embedding (for the cosine)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import ConfigError
from harness.fidelity.model_folder import Precision, load, special_ends, token_limit
from harness.fidelity.sentence_head import head_of, refuse_lower_case
from harness.fidelity.windows import Window, batches, windows

Floats = NDArray[np.float32]
MAX_WINDOWS = 32  # a text of more windows is not measured at all
MAX_CHARS = 400_000  # nor is one of more characters, which is not even split into tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A text as the encoder sees it; `n` tokens, the special ones at both ends included."""

    ids: NDArray[np.int64]  # int64[n]
    spans: NDArray[np.int32]  # int32[n, 2]: first and one past the last character; (0, 0) for a special token
    content: NDArray[np.bool_]  # bool[n]: False for special tokens
    tokens: Floats  # float32[n, dims], unit length, from the layer asked for
    sentence: Floats  # float32[width], unit length, pooled from the last layer (`sentence_head`)
    unknown: tuple[str, ...] = ()  # what the vocabulary lacks, in order
    flags: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether no token carries content."""
        return not bool(self.content.any())

    @property
    def measured(self) -> bool:
        """Whether there are embeddings (a text beyond `MAX_WINDOWS` has none)."""
        return "too_long" not in self.flags

    @property
    def size_bytes(self) -> int:
        return self.tokens.nbytes + self.sentence.nbytes + self.ids.nbytes + self.spans.nbytes + self.content.nbytes


class Pieces(NamedTuple):
    """A text in content tokens, without special ones; none where the text is too long to be read."""

    text: str
    ids: list[int]
    spans: list[tuple[int, int]]


class Slice(NamedTuple):
    """One sequence for the model: window `window` of text `text`."""

    text: int
    window: Window


class Encoder:
    """Encodes texts with a local model. Raises ModelError when it cannot be loaded, ConfigError for a bad setting."""

    def __init__(
        self,
        path: Path,
        *,
        layer: int | None = None,
        device: str = "cpu",
        precision: Precision = "float32",
        batch_tokens: int = 4096,
    ) -> None:
        if batch_tokens < 1:
            raise ConfigError(f"batch_tokens is {batch_tokens}; it has to be at least 1")
        self.path, self.device, self.precision, self.batch_tokens = path, device, precision, batch_tokens
        self._tokenizer, self._model = load(path, device=device, precision=precision)
        depth = int(self._model.config.num_hidden_layers)
        self.layer = depth if layer is None else layer
        if not 1 <= self.layer <= depth:
            raise ConfigError(f"layer is {layer}; this model has layers 1 to {depth}")
        self._head = head_of(path)
        self._width = self._head.width(int(self._model.config.hidden_size))
        refuse_lower_case(path, self._tokenizer)
        self.pooling = self._head.pooling
        self._prefix, self._suffix = special_ends(self._tokenizer)
        self.limit_tokens = token_limit(self._tokenizer, self._model.config)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """One result per text, in order; each independent of the others to 1e-5."""
        pieces = self._pieces(texts)
        room = self.limit_tokens - len(self._prefix) - len(self._suffix)
        slices = [
            Slice(index, window)
            for index, piece in enumerate(pieces)
            for window in self._windows_of(len(piece.ids), room)
        ]
        parts: list[list[tuple[Floats, Floats]]] = [[] for _ in texts]
        hidden = self._forward(slices, pieces)
        for index, piece in enumerate(slices):
            parts[piece.text].append(self._kept(hidden[index], piece.window, len(pieces[piece.text].ids)))
        return [self._assembled(piece, part) for piece, part in zip(pieces, parts, strict=True)]

    def _windows_of(self, length: int, room: int) -> list[Window]:
        found = windows(length, room) if length else []
        return found if len(found) <= MAX_WINDOWS else []

    def _pieces(self, texts: Sequence[str]) -> list[Pieces]:
        if not texts:
            return []
        readable = [without_lone_surrogates(text) for text in texts]
        out = self._tokenizer(
            [text if len(text) <= MAX_CHARS else "" for text in readable],
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=True,
            return_attention_mask=False,
            truncation=False,
            padding=False,
            verbose=False,
        )
        return [Pieces(*piece) for piece in zip(readable, out["input_ids"], out["offset_mapping"], strict=True)]

    def _forward(self, slices: list[Slice], pieces: list[Pieces]) -> list[tuple[Floats, Floats]]:
        rows = [[*self._prefix, *pieces[s.text].ids[s.window.start : s.window.stop], *self._suffix] for s in slices]
        hidden: list[tuple[Floats, Floats] | None] = [None] * len(rows)
        for group in batches([len(row) for row in rows], self.batch_tokens):
            for index, found in zip(group, self._batch([rows[i] for i in group]), strict=True):
                hidden[index] = found
        return [found for found in hidden if found is not None]

    def _batch(self, rows: list[list[int]]) -> list[tuple[Floats, Floats]]:
        """Per row (layer asked for, last layer), each float32[len(row), dims]."""
        import torch

        longest = max(map(len, rows))
        pad = self._tokenizer.pad_token_id or 0
        ids = torch.tensor([row + [pad] * (longest - len(row)) for row in rows], device=self.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self.device)
        last_only = self.layer == self._model.config.num_hidden_layers
        with torch.inference_mode():
            out = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=not last_only)
            last = out.last_hidden_state.float().cpu().numpy()
            chosen = last if last_only else out.hidden_states[self.layer].float().cpu().numpy()
        return [(chosen[i, : len(row)], last[i, : len(row)]) for i, row in enumerate(rows)]

    def _kept(self, hidden: tuple[Floats, Floats], window: Window, length: int) -> tuple[Floats, Floats]:
        """The rows of one window that stay, special tokens only at the two ends of the text."""
        ahead = len(self._prefix)
        first = 0 if window.keep_start == 0 else ahead + window.keep_start - window.start
        last = len(hidden[0]) if window.keep_stop == length else ahead + window.keep_stop - window.start
        return hidden[0][first:last], hidden[1][first:last]

    def _assembled(self, piece: Pieces, parts: list[tuple[Floats, Floats]]) -> Encoded:
        ids = np.array([*self._prefix, *piece.ids, *self._suffix], dtype=np.int64)
        ends = [(0, 0)]
        spans = np.array([*ends * len(self._prefix), *piece.spans, *ends * len(self._suffix)], dtype=np.int32)
        content = np.ones(len(ids), dtype=np.bool_)
        content[: len(self._prefix)] = False
        content[len(ids) - len(self._suffix) :] = False
        unknown = unknown_parts(piece, self._tokenizer.unk_token_id)
        too_long = len(piece.text) > MAX_CHARS or (bool(piece.ids) and not parts)
        marks = {"windowed": len(parts) > 1, "too_long": too_long, "unknown_tokens": bool(unknown)}
        dims = int(self._model.config.hidden_size)
        if parts:
            tokens = unit_rows(np.concatenate([chosen for chosen, _ in parts]))
            last = np.concatenate([part for _, part in parts])
            sentence = self._head(last)
        else:
            tokens = np.zeros((len(ids), dims), np.float32)
            sentence = np.zeros(self._width, np.float32)
        return Encoded(
            ids=ids,
            spans=spans.reshape(-1, 2),
            content=content,
            tokens=tokens,
            sentence=sentence,
            unknown=unknown,
            flags=tuple(name for name, on in marks.items() if on),
        )


def without_lone_surrogates(text: str) -> str:
    """Halves of surrogate pairs (a cut answer can end in one) become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def unknown_parts(piece: Pieces, unknown_id: int | None) -> tuple[str, ...]:
    return tuple(
        piece.text[start:stop]
        for token, (start, stop) in zip(piece.ids, piece.spans, strict=True)
        if token == unknown_id
    )


def unit_rows(rows: Floats) -> Floats:
    """Rows scaled to unit length; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
