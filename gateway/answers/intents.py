"""Intents: clusters of questions, each with a centre, and what may be answered to them without a model.

The file is made by `truefall intents build`. Its templates may hold placeholders, filled from the request's metadata;
a template whose placeholders cannot all be filled does not answer.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from gateway.answers.embedding import Vector, similarity
from gateway.answers.placeholders import fill
from gateway.damaged import DAMAGED, why
from gateway.errors import ConfigError
from gateway.policy import Language

VERSION = 1


class Response(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said to an intent in one language."""

    lang: Language
    text: Annotated[str, Meta(min_length=1)]
    abstains: bool = False  # says honestly that it is no answer


class Intent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One cluster."""

    id: Annotated[str, Meta(pattern=r"^INT-\d{2,4}$")]
    centre: dict[int, float]  # of length 1
    radius: Annotated[float, Meta(ge=-1, le=1)]  # least similarity to the centre of a question that belongs
    label: str = ""  # for people
    size: int = 0  # questions that it was made of
    examples: tuple[str, ...] = ()
    responses: tuple[Response, ...] = ()


class IntentFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    truefall_intents: Literal[1]
    space: str  # the embedding of the centres
    intents: tuple[Intent, ...]
    source: str = ""


class Match(NamedTuple):
    """The intent of a question, and how close it is to the centre."""

    intent: Intent
    similarity: float


class Intents:
    """The intents of one file."""

    def __init__(self, intents: Sequence[Intent], *, space: str) -> None:
        self._intents = tuple(intents)
        self.space = space

    def __len__(self) -> int:
        return len(self._intents)

    def match(self, vector: Vector) -> Match | None:
        """The closest intent whose radius takes the question in."""
        found = [Match(intent, similarity(intent.centre, vector)) for intent in self._intents]
        inside = [match for match in found if match.similarity >= match.intent.radius]
        return max(inside, key=lambda match: match.similarity, default=None)


def response_of(intent: Intent, *, language: Language, metadata: Mapping[str, Any]) -> Response | None:
    """The intent's response in this language, filled; None without one, or where a placeholder stays empty."""
    for response in intent.responses:
        if response.lang == language:
            text = fill(response.text, metadata)
            if text is not None:
                return msgspec.structs.replace(response, text=text)
    return None


def load_intents(path: Path, *, space: str) -> Intents:
    """Raises ConfigError for another version, embedding or shape; OSError."""
    try:
        file = msgspec.json.decode(path.read_bytes(), type=IntentFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: not an intent file of version {VERSION}: {error}") from None
    except DAMAGED as error:
        raise ConfigError(f"{path}: not JSON: {why(error)}") from None
    if file.space != space:
        raise ConfigError(f"{path}: made with embedding {file.space!r}, this gateway uses {space!r}")
    return Intents(file.intents, space=space)
