"""Similarity of answers to their references: each text is encoded once, every score comes out of that pass."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from sys import getsizeof

import numpy as np

from harness.errors import ConfigError
from harness.fidelity import bertscore as matching
from harness.fidelity.bertscore import Baseline, BertScore, load_baseline
from harness.fidelity.cache import EncodedCache
from harness.fidelity.case import NO_BASELINE, Similarity
from harness.fidelity.composite import composite
from harness.fidelity.embedding import cosine
from harness.fidelity.encoder import Encoded, Encoder
from harness.fidelity.model_folder import Precision, encoder_path, is_packaged, model_revision

PAIRS_AT_ONCE = 1024
CHARS_AT_ONCE = 400_000  # bounds the embeddings held: 1.5 kB per token
MEMORY_BYTES = 256 << 20  # encoded texts kept for the next block of pairs

Pair = tuple[str, str]  # reference, candidate


class Weighting(StrEnum):
    """How much a token counts in BERTScore."""

    UNIFORM = "uniform"
    IDF = "idf"  # by rarity among the references of the same call


class Scorer:
    """Scores pairs with one local model.

    `model_path` None: the packaged all-MiniLM-L6-v2. `layer` None: the last. `baseline`: rescale BERTScore with what
    was measured for this very model (`truefall baseline`). Raises ModelError, ConfigError.
    """

    def __init__(
        self,
        model_path: Path | str | None = None,
        layer: int | None = None,
        device: str = "cpu",
        batch_tokens: int = 4096,
        cache_dir: Path | str | None = None,
        *,
        precision: Precision = "float32",
        baseline: Path | str | None = None,
        cache_limit_bytes: int = 1 << 30,
    ) -> None:
        path = encoder_path() if model_path is None else Path(model_path)
        self._encoder = Encoder(path, layer=layer, device=device, precision=precision, batch_tokens=batch_tokens)
        self.layer = self._encoder.layer
        self.revision = model_revision(path)
        self._baseline = (
            None if baseline is None else load_baseline(Path(baseline), revision=self.revision, layer=self.layer)
        )
        packaged = is_packaged(path, self.layer)
        # Whether these are the similarities that the risk model was fitted on.
        self.as_fitted = packaged and self._baseline is None and precision == "float32"
        self._flags = () if packaged or self._baseline else (NO_BASELINE,)
        self._near: OrderedDict[str, Encoded] = OrderedDict()
        settings = f"1/{self.revision}/{self.layer}/{self._encoder.pooling}/{precision}/{self._encoder.limit_tokens}"
        self._far = (
            EncodedCache(Path(cache_dir), settings=settings, limit_bytes=cache_limit_bytes) if cache_dir else None
        )

    def score(self, pairs: Sequence[Pair], *, weighting: Weighting | str = Weighting.UNIFORM) -> list[Similarity]:
        """One Similarity per (reference, candidate), in order. Raises TypeError for anything but pairs of texts.

        `weighting` may be its name, "uniform" or "idf". Raises ConfigError for another one.
        Each result depends on its own pair only (with idf: on the references of the call too).
        """
        if isinstance(pairs, str):
            raise TypeError("pairs is a text; a sequence of (reference, candidate) is needed")
        weighting = checked_weighting(weighting)
        checked = [checked_pair(pair) for pair in pairs]
        idf = self._idf(checked) if weighting is Weighting.IDF else None
        flags = ("idf_uniform",) if weighting is Weighting.IDF and idf is None else ()
        return [result for block in blocks(checked) for result in self._block(block, idf, flags)]

    def score_stream(self, pairs: Iterable[Pair]) -> Iterator[Similarity]:
        """The same with uniform weights, reading `pairs` as it goes and holding one block in memory."""
        for block in blocks(checked_pair(pair) for pair in pairs):
            yield from self._block(block, None, ())

    def encode(self, texts: Iterable[str]) -> dict[str, Encoded]:
        """Each distinct text once, from memory, disk or the model. Blank ends do not count."""
        wanted = list(dict.fromkeys(texts))
        stripped = {text: text.strip() for text in wanted}
        missing = [text for text in dict.fromkeys(stripped.values()) if text not in self._near]
        known = self._far.get(missing) if self._far else {}
        fresh_texts = [text for text in missing if text not in known]
        fresh = dict(zip(fresh_texts, self._encoder.encode(fresh_texts), strict=True)) if fresh_texts else {}
        if self._far and fresh:
            self._far.put(fresh)
        here = {**known, **fresh}
        found = {text: here[key] if key in here else self._near[key] for text, key in stripped.items()}
        self._remember({key: found[text] for text, key in stripped.items()})
        return found

    def close(self) -> None:
        if self._far:
            self._far.close()

    def _block(self, pairs: Sequence[Pair], idf: dict[int, float] | None, flags: tuple[str, ...]) -> list[Similarity]:
        encoded = self.encode(text for pair in pairs for text in pair)
        marks = (*flags, *self._flags)
        distinct = {
            pair: similarity(encoded[pair[0]], encoded[pair[1]], idf=idf, baseline=self._baseline, flags=marks)
            for pair in dict.fromkeys(pairs)
        }
        return [distinct[pair] for pair in pairs]

    def _idf(self, pairs: Sequence[Pair]) -> dict[int, float] | None:
        """None (uniform weights, flagged) where fewer than two different references are there to compare."""
        if len({reference for reference, _ in pairs}) < 2:
            return None
        references = [reference for reference, _ in pairs]
        encoded = self.encode(references)
        return matching.inverse_document_frequency([encoded[reference] for reference in references])

    def _remember(self, entries: dict[str, Encoded]) -> None:
        for text, encoded in entries.items():
            self._near[text] = encoded
            self._near.move_to_end(text)
        held = sum(held_bytes(text, encoded) for text, encoded in self._near.items())
        while held > MEMORY_BYTES:
            held -= held_bytes(*self._near.popitem(last=False))


def held_bytes(text: str, encoded: Encoded) -> int:
    """What remembering a text costs; one too long to be measured has next to no embeddings, but is long itself."""
    return encoded.size_bytes + getsizeof(text)


def similarity(
    reference: Encoded,
    candidate: Encoded,
    *,
    idf: dict[int, float] | None = None,
    baseline: Baseline | None = None,
    flags: tuple[str, ...] = (),
) -> Similarity:
    """All scores of one pair. An empty answer scores 0; what could not be measured is None."""
    seen = tuple(dict.fromkeys([*flags, *reference.flags, *candidate.flags]))
    if not (reference.measured and candidate.measured):
        return unmeasured(seen)
    if reference.empty:
        return unmeasured((*seen, "empty_reference", *(("empty",) if candidate.empty else ())))
    if candidate.empty:
        return scored(matching.ZERO, 0.0, 0.0, (*seen, "empty"))
    if indistinguishable(reference, candidate):
        return unmeasured((*seen, "indistinguishable"))
    raw = matching.bertscore(reference, candidate, idf=idf)
    final = baseline.rescaled(raw) if baseline else raw
    marks = (*seen, "rescaled") if baseline else seen
    pair = reference.sentence, candidate.sentence
    return scored(final, cosine(*pair), composite(*pair), marks)


def indistinguishable(reference: Encoded, candidate: Encoded) -> bool:
    """Whether two texts differ only in characters that the encoder cannot read: its 1.0 would mean nothing."""
    return reference.unknown != candidate.unknown and bool(np.array_equal(reference.ids, candidate.ids))


def scored(score: BertScore, cos: float, joined: float, flags: tuple[str, ...]) -> Similarity:
    return Similarity(
        bertscore_p=score.p, bertscore_r=score.r, bertscore_f1=score.f1, cosine=cos, composite=joined, flags=flags
    )


def unmeasured(flags: tuple[str, ...]) -> Similarity:
    return Similarity(bertscore_p=None, bertscore_r=None, bertscore_f1=None, cosine=None, composite=None, flags=flags)


def checked_weighting(weighting: str) -> Weighting:
    """Raises ConfigError naming what it got."""
    try:
        return Weighting(weighting)
    except ValueError:
        raise ConfigError(f"weighting is {weighting!r}; it must be one of {', '.join(Weighting)}") from None


def checked_pair(pair: object) -> Pair:
    """Raises TypeError naming what it got."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"a pair is (reference, candidate), got {pair!r:.80}")
    reference, candidate = pair
    if not (isinstance(reference, str) and isinstance(candidate, str)):
        raise TypeError(f"a pair is two texts, got {type(reference).__name__} and {type(candidate).__name__}")
    return reference, candidate


def blocks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Runs of at most `PAIRS_AT_ONCE` pairs and about `CHARS_AT_ONCE` characters."""
    block: list[Pair] = []
    chars = 0
    for reference, candidate in pairs:
        block.append((reference, candidate))
        chars += len(reference) + len(candidate)
        if len(block) >= PAIRS_AT_ONCE or chars >= CHARS_AT_ONCE:
            yield block
            block, chars = [], 0
    if block:
        yield block
