"""How often the nearest template is the right one, per language: five examples of a topic, asked with the other half.

`python -m harness.gatekeepers.nearest_template` measures the built-in hashing, and with `--embeddings-url URL
--embeddings-model NAME` a server's vectors.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from gateway.answers.embedding import Vector, embed
from gateway.answers.gatekeepers import OTHER
from gateway.answers.templates import Placed, template_for
from gateway.policy import Template
from harness.gatekeepers.labelled import LabelledQuestion, halves, load_questions

EXAMPLES = 5  # of each topic and language


class Nearest(NamedTuple):
    """`right` of the `asked` with a topic: the nearest template is the topic's; `above` the mark of all, and right."""

    lang: Literal["en", "zh"]
    right: int
    asked: int
    above: int
    above_right: int


def templates_of(training: Sequence[LabelledQuestion]) -> list[Template]:
    """One template for each topic and language; its text is the topic."""
    examples: dict[tuple[Literal["en", "zh"], str], list[str]] = defaultdict(list)
    for one in training:
        if one.intent != OTHER and len(examples[one.lang, one.intent]) < EXAMPLES:
            examples[one.lang, one.intent].append(one.question)
    return [Template(lang=lang, text=topic, examples=tuple(some)) for (lang, topic), some in examples.items()]


def nearest(vectors: Mapping[str, Vector], *, mark: float, seed: int = 7) -> list[Nearest]:
    """`vectors` of every bundled question, in one space; `mark`: `min_similarity` of that space."""
    split = halves(load_questions("questions"), seed=seed)
    templates = templates_of(split.training)

    def found(one: LabelledQuestion, least: float) -> str | None:
        placed = Placed(vectors[one.question], vectors)
        said = template_for(one.question, language=one.lang, templates=templates, min_similarity=least, placed=placed)
        return said.text if said else None

    rows = []
    for lang in ("en", "zh"):
        own = [one for one in split.held_out if one.lang == lang]
        topics = [one for one in own if one.intent != OTHER]
        above = [(one.intent, said) for one in own if (said := found(one, mark)) is not None]
        right = sum(found(one, -1.0) == one.intent for one in topics)
        rows.append(Nearest(lang, right, len(topics), len(above), sum(said == topic for topic, said in above)))
    return rows


def hashed() -> dict[str, Vector]:
    """The built-in vectors of the bundled questions."""
    return {one.question: embed(one.question) for one in load_questions("questions")}


def _main() -> None:
    from harness.commands.intents import embedded

    parser = argparse.ArgumentParser(prog="python -m harness.gatekeepers.nearest_template", description=__doc__)
    parser.add_argument("--embeddings-url", metavar="URL")
    parser.add_argument("--embeddings-model", metavar="NAME")
    parser.add_argument("--mark", type=float, default=0.5, help="least similarity (default 0.5)")
    args = parser.parse_args()
    vectors: Mapping[str, Vector] = hashed()
    if args.embeddings_url and args.embeddings_model:
        texts = list(vectors)
        found = asyncio.run(embedded(args.embeddings_url, args.embeddings_model, texts))
        vectors = dict(zip(texts, found, strict=True))
    for one in nearest(vectors, mark=args.mark):
        print(
            f"{one.lang}: nearest right {one.right} of {one.asked}; "
            f"at {args.mark} {one.above} found, {one.above_right} right"
        )


if __name__ == "__main__":
    _main()
