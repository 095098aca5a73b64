"""Answers that the business wrote beforehand, in the question's language: by similarity to a template's example
questions where that is clear, else by keywords, else the language's default."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gateway.answers.embedding import Vector, embed, similarity
from gateway.policy import Language, Template


class Placed(NamedTuple):
    """A question and the examples of its language's templates, all in one space."""

    asked: Vector
    examples: Mapping[str, Vector]


def template_for(
    question: str,
    *,
    asked: str | None = None,
    language: Language,
    templates: Sequence[Template],
    min_similarity: float = 1.0,
    placed: Placed | None = None,
) -> Template | None:
    """The template whose example is closest to `asked`, if that is at least `min_similarity`; else the one with most
    keywords in the question; else the first with neither; None without any. `asked` is the question without the
    caller's own text, None where they are one. `placed`: where these lie; None for the built-in hashing."""
    own = [template for template in templates if template.lang == language]
    close = _closest(placed or _hashed(question if asked is None else asked, own), own)
    if close is not None and close[0] >= min_similarity:
        return close[1]
    folded = question.casefold()
    matched = [(_hits(template, folded), -index) for index, template in enumerate(own) if _hits(template, folded)]
    if matched:
        return own[-max(matched)[1]]
    return next((template for template in own if not template.keywords and not template.examples), None)


def examples_of(templates: Sequence[Template], language: Language) -> tuple[str, ...]:
    """The example questions of the language's templates."""
    return tuple(example for one in templates if one.lang == language for example in one.examples)


def _closest(placed: Placed, templates: Sequence[Template]) -> tuple[float, Template] | None:
    scored = [
        (similarity(placed.asked, placed.examples[example]), template)
        for template in templates
        for example in template.examples
    ]
    return max(scored, key=lambda one: one[0], default=None)


def _hashed(question: str, templates: Sequence[Template]) -> Placed:
    examples = [example for template in templates for example in template.examples]
    return Placed(embed(question) if examples else {}, {example: _vector(example) for example in examples})


@lru_cache(maxsize=1024)
def _vector(example: str) -> Vector:
    return embed(example)


def _hits(template: Template, asked: str) -> int:
    return sum(keyword.casefold() in asked for keyword in template.keywords)
