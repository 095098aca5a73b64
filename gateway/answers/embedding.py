"""A question as a vector without a model: hashed words and character n-grams, the same in every process.

Vectors are sparse (`{dimension: weight}`) and of length 1, so that their product is the cosine. A dense vector of an
external endpoint takes the same form.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log, sqrt

from gateway.answers.lexis import words

Vector = Mapping[int, float]

HASHED = "hashed-1"  # the name of this space; changes whenever the vectors do
DIMENSIONS = 16_384
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_EMPTY_HAN = frozenset("的了吗呢吧啊我你们是在有和就都也这那可以能怎么什请一个")
_GRAM_SIZES = (3, 4)
_WORD_WEIGHT, _GRAM_WEIGHT = 1.0, 0.4
_MAX_CHARS = 4000  # of a question that are looked at


def embed(text: str) -> dict[int, float]:
    """The vector of `text`, of length 1; empty for a text without a word."""
    counts: dict[int, float] = {}
    for feature, weight in _features(text[:_MAX_CHARS]):
        place = zlib.crc32(feature.encode()) % DIMENSIONS
        counts[place] = counts.get(place, 0.0) + weight
    return normalised({place: log(1 + count) for place, count in counts.items()})


def similarity(first: Vector, second: Vector) -> float:
    """Cosine of two vectors of length 1, in [-1, 1]; 0 where one is empty."""
    if len(second) < len(first):
        first, second = second, first
    total = sum(weight * second.get(place, 0.0) for place, weight in first.items())
    return max(-1.0, min(1.0, total))


def normalised(vector: Vector) -> dict[int, float]:
    """The same direction with length 1; empty where it has none."""
    length = sqrt(sum(weight * weight for weight in vector.values()))
    return {place: weight / length for place, weight in vector.items()} if length else {}


def dense(values: Sequence[float]) -> dict[int, float]:
    """A dense vector in the sparse form, of length 1."""
    return normalised({place: value for place, value in enumerate(values) if value})


def mean(vectors: Iterable[Vector]) -> dict[int, float]:
    """The direction in the middle, of length 1."""
    total: dict[int, float] = {}
    for vector in vectors:
        for place, weight in vector.items():
            total[place] = total.get(place, 0.0) + weight
    return normalised(total)


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Content words, the character n-grams of Latin ones, single Han characters; each with its weight."""
    for word in words(text):
        yield f"w:{word}", _WORD_WEIGHT
        padded = f"<{word}>"
        for size in _GRAM_SIZES if word.isascii() else ():
            for at in range(len(padded) - size + 1):
                yield f"c:{padded[at : at + size]}", _GRAM_WEIGHT
    for sign in _HAN.findall(text):
        if sign not in _EMPTY_HAN:
            yield f"c:{sign}", _GRAM_WEIGHT
