"""What to answer to each intent: a TOML file that `truefall gatekeeper train` and `truefall intents build` take in."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gateway import toml
from gateway.answers.intents import Response
from gateway.policy import Language
from gateway.section import Section


class IntentResponses(Section, frozen=True, kw_only=True):
    """One table `[[responses]]`."""

    intent: str  # a class of the classifier, or the label or id of a cluster
    lang: Language
    text: Annotated[str, Meta(min_length=1)]
    abstains: bool = False


class ResponseFile(Section, frozen=True, kw_only=True):
    """The whole file."""

    responses: tuple[IntentResponses, ...] = ()


def load_responses(path: Path) -> dict[str, tuple[Response, ...]]:
    """By intent, in the file's order. Raises ConfigError; OSError."""
    found: dict[str, tuple[Response, ...]] = {}
    for one in toml.load(path, ResponseFile).responses:
        response = Response(lang=one.lang, text=one.text, abstains=one.abstains)
        found[one.intent] = (*found.get(one.intent, ()), response)
    return found
