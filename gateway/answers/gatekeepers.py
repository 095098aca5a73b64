"""L1 of the gatekeepers: a small classifier that names the intent of a question, and answers only when it is sure.

The model is multinomial logistic regression over the hashed features of `embedding`, trained elsewhere
(`truefall gatekeeper train`) and evaluated here in plain Python: no numpy, no torch.
"""

import hashlib
from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from gateway.answers.embedding import HASHED, Vector, embed
from gateway.answers.intents import Response
from gateway.answers.placeholders import fill
from gateway.damaged import DAMAGED, why
from gateway.errors import ConfigError
from gateway.policy import Language

_SHA256_CHARS = 64
OTHER = "other"  # the class of questions that no intent covers; never answered by L1


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The classifier's weights; `weights[dimension]` has one number per class."""

    truefall_gatekeeper: Literal[1]
    space: str
    classes: tuple[str, ...]
    bias: tuple[float, ...]
    weights: dict[int, tuple[float, ...]]
    temperature: float = 1.0  # the scores are divided by it, so that confidence means what it says
    trained_on: str = ""
    responses: dict[str, tuple[Response, ...]] = msgspec.field(default_factory=dict)  # by class


class Guess(NamedTuple):
    """The most probable class, and its probability in [0, 1]."""

    label: str
    confidence: float


class Classifier:
    """A loaded model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def classes(self) -> tuple[str, ...]:
        return self._model.classes

    def guess(self, text: str) -> Guess:
        """The class of a question; a text without a known feature gets the class of the bias, at its confidence."""
        shares = softmax(self._scores(embed(text)))
        best = max(range(len(shares)), key=shares.__getitem__)
        return Guess(self._model.classes[best], shares[best])

    def answer(
        self, text: str, *, language: Language, metadata: Mapping[str, object], min_confidence: float
    ) -> Response | None:
        """The response of the guessed intent; None below `min_confidence` or where there is none to give."""
        guess = self.guess(text)
        if guess.label == OTHER or guess.confidence < min_confidence:
            return None
        for response in self._model.responses.get(guess.label, ()):
            filled = fill(response.text, metadata) if response.lang == language else None
            if filled is not None:
                return msgspec.structs.replace(response, text=filled)
        return None

    def _scores(self, vector: Vector) -> list[float]:
        scores = list(self._model.bias)
        for place, value in vector.items():
            for index, weight in enumerate(self._model.weights.get(place, ())):
                scores[index] += value * weight
        return [score / self._model.temperature for score in scores]


def softmax(scores: Sequence[float]) -> list[float]:
    """Shares that sum to 1."""
    top = max(scores)
    powers = [exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def load_classifier(path: Path) -> Classifier:
    """Checks `PATH.sha256` first. Raises ConfigError; OSError, also where the checksum is missing."""
    raw = path.read_bytes()
    told = checksum_path(path).read_text("utf-8", "replace").split()[:1]
    found = hashlib.sha256(raw).hexdigest()
    if told != [found]:
        says = "".join(told)[:_SHA256_CHARS] or "nothing"
        raise ConfigError(f"{path}: sha256 is {found}, {checksum_path(path).name} says {says}")
    try:
        model = msgspec.json.decode(raw, type=Model)
    except DAMAGED as error:
        raise ConfigError(f"{path}: not a gatekeeper of version 1: {why(error)}") from None
    if model.space != HASHED:
        raise ConfigError(f"{path}: trained on embedding {model.space!r}, this gateway uses {HASHED!r}; train it again")
    width = len(model.classes)
    if width < 2 or len(model.bias) != width or any(len(row) != width for row in model.weights.values()):
        raise ConfigError(f"{path}: weights and bias must have one number for each of the {width} classes")
    return Classifier(model)


def checksum_path(path: Path) -> Path:
    """The file beside it with its sha256."""
    return path.with_name(f"{path.name}.sha256")
