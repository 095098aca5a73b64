"""What can be wrong with an item although it loads: facts, contract, language, length, licence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from evalsets.item import Item, claims, mentions
from evalsets.schemas import validator_of
from evalsets.wording import words, wrong_language

LONG, INFERRED, UNANSWERABLE = "long-context", "inference", "unanswerable"
_REFERENCE_WORDS = (1, 60)
_CONTEXT_WORDS = (12, 260)
_LONG_CONTEXT_WORDS = (500, 2600)
_PROMPT_WORDS = (3, 120)
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


class Complaint(NamedTuple):
    """A rule that a record breaks, and how."""

    rule: str
    message: str


def complaints(item: Item) -> list[Complaint]:
    """Every rule that this one item breaks."""
    rules = (_facts, _contract, _grounding, _language, _lengths, _provenance)
    return [found for rule in rules for found in rule(item)]


def _facts(item: Item) -> Iterator[Complaint]:
    if not item.must_keep:
        yield Complaint("must-keep", "no fact is listed; a faithful answer could say anything")
    for fact in item.must_keep:
        if not mentions(item.reference, fact):
            yield Complaint("must-keep", f"the reference lacks {fact!r}")
    for claim in item.must_not:
        if claims(item.reference, claim):
            yield Complaint("must-not", f"the reference itself claims {claim!r}")


def _contract(item: Item) -> Iterator[Complaint]:
    if item.contract is None:
        return
    import jsonschema

    try:
        validator_of(dict(item.contract)).validate(json.loads(item.reference))
    except json.JSONDecodeError as error:
        yield Complaint("contract", f"the reference is not JSON ({error.msg}, column {error.colno})")
    except ValueError as error:  # a number of thousands of digits
        yield Complaint("contract", f"the reference is not JSON ({error})")
    except jsonschema.ValidationError as error:
        yield Complaint("contract", f"the reference breaks the schema at {error.json_path}: {error.message}")
    except RecursionError:
        yield Complaint("contract", "the schema is applied to the reference without an end")


def _grounding(item: Item) -> Iterator[Complaint]:
    if not item.context.strip():
        yield Complaint("grounding", "there is no context for the answer to rest on")
    if INFERRED in item.tags or UNANSWERABLE in item.tags:
        return
    given = f"{item.context}\n{item.prompt}"
    for fact in item.must_keep:
        if not mentions(given, fact):
            yield Complaint(
                "grounding", f"neither context nor prompt holds {fact!r} (tag {INFERRED!r} if it is inferred)"
            )


def _language(item: Item) -> Iterator[Complaint]:
    wrong = wrong_language(item.reference, item.lang)
    if wrong and item.contract is None:
        yield Complaint("language", f"reference: {wrong}")


def _lengths(item: Item) -> Iterator[Complaint]:
    context_bounds = _LONG_CONTEXT_WORDS if LONG in item.tags else _CONTEXT_WORDS
    bounds = (("reference", _REFERENCE_WORDS), ("context", context_bounds), ("prompt", _PROMPT_WORDS))
    for field, (least, most) in bounds:
        count = len(words(getattr(item, field)))
        if not least <= count <= most:
            yield Complaint("length", f"{field} has {count} words (Chinese: characters); allowed {least} to {most}")


def _provenance(item: Item) -> Iterator[Complaint]:
    if not item.source.strip():
        yield Complaint("source", "it is not said where the item comes from")
    if not _SPDX.fullmatch(item.licence):
        yield Complaint("licence", f"{item.licence!r} is not an SPDX id such as Apache-2.0")
