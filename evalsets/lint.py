"""What is wrong with an item although it loads: facts, contract, language, length, licence, card."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evalsets.card import CARD_FILE, card_sha256, counted, file_sha256, write_card
from evalsets.errors import EvalsetError
from evalsets.item import Item, mentions
from evalsets.jsonl import ITEMS_FILE, Row, find_records, load_rows

LONG, INFERRED, UNANSWERABLE = "long-context", "inference", "unanswerable"
_CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’.,:/-][^\W_]+)*")
_REFERENCE_WORDS = (1, 60)
_CONTEXT_WORDS = (12, 260)
_LONG_CONTEXT_WORDS = (500, 2600)
_PROMPT_WORDS = (3, 120)
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_LEAST_LETTERS = 12  # shorter answers (an order number) have no language


class Problem(NamedTuple):
    """One thing to repair; `line` counts from 1, 0 means the whole set; `id` is "" then."""

    line: int
    id: str
    rule: str
    message: str

    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.id}: {self.rule}: {self.message}" if self.line else f"{self.rule}: {self.message}"
        )


class Complaint(NamedTuple):
    """A rule that an item breaks, and how."""

    rule: str
    message: str


def lint_set(name_or_path: str | Path) -> list[Problem]:
    """Every problem of a set of items: a name, a folder or a file. Empty means clean. Never raises EvalsetError."""
    try:
        path = find_records(name_or_path, ITEMS_FILE)
        rows = load_rows(path, Item)
    except EvalsetError as error:
        return [Problem(0, "", "load", str(error))]
    return [*lint_rows(rows), *lint_card(path)]


def lint_rows(rows: Sequence[Row[Item]]) -> list[Problem]:
    """Problems within items and between them; pure."""
    within = [Problem(row.line, row.record.id, *found) for row in rows for found in complaints(row.record)]
    return [*within, *_repeated(rows)]


def complaints(item: Item) -> list[Complaint]:
    """Every rule that this one item breaks."""
    rules = (_facts, _contract, _grounding, _language, _lengths, _provenance)
    return [found for rule in rules for found in rule(item)]


def lint_card(records: Path) -> list[Problem]:
    """Whether CARD.md beside `records` is there and states the sha256 of the file as it is."""
    stated, actual = card_sha256(records.parent / CARD_FILE), file_sha256(records)
    if stated is None:
        return [Problem(0, "", "card", f"{CARD_FILE} is missing or states no sha256; the file has {actual}")]
    if stated != actual:
        return [Problem(0, "", "card", f"{CARD_FILE} states sha256 {stated}; {records.name} has {actual}")]
    return []


def write_items_card(records: Path) -> Path:
    """Bring CARD.md of a set of items up to date. Raises EvalsetError where the set does not load."""
    items = [row.record for row in load_rows(records, Item)]
    return write_card(
        records,
        [
            ("items", str(len(items))),
            ("languages", counted(item.lang for item in items)),
            ("with a contract", str(sum(item.contract is not None for item in items))),
            ("tags", counted(tag for item in items for tag in item.tags)),
            ("source", counted(item.source for item in items)),
            ("licence", counted(item.licence for item in items)),
        ],
    )


def _facts(item: Item) -> Iterator[Complaint]:
    if not item.must_keep:
        yield Complaint("must-keep", "no fact is listed; a faithful answer could say anything")
    for fact in item.must_keep:
        if not mentions(item.reference, fact):
            yield Complaint("must-keep", f"the reference lacks {fact!r}")
    for claim in item.must_not:
        if mentions(item.reference, claim):
            yield Complaint("must-not", f"the reference itself claims {claim!r}")


def _contract(item: Item) -> Iterator[Complaint]:
    if item.contract is None:
        return
    import jsonschema

    try:
        jsonschema.Draft202012Validator(dict(item.contract)).validate(json.loads(item.reference))
    except json.JSONDecodeError as error:
        yield Complaint("contract", f"the reference is not JSON ({error.msg}, column {error.colno})")
    except jsonschema.ValidationError as error:
        yield Complaint("contract", f"the reference breaks the schema at {error.json_path}: {error.message}")


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
    letters = [char for char in item.reference if char.isalpha()]
    chinese = sum(bool(_CJK.match(char)) for char in letters)
    if item.contract is not None or (len(letters) < _LEAST_LETTERS and not chinese):
        return
    if item.lang == "zh" and chinese < 0.3 * len(letters):
        yield Complaint("language", f"lang is zh, but {chinese} of {len(letters)} letters of the reference are Chinese")
    if item.lang == "en" and chinese > 0.1 * len(letters):
        yield Complaint("language", f"lang is en, but {chinese} of {len(letters)} letters of the reference are Chinese")


def _lengths(item: Item) -> Iterator[Complaint]:
    context_bounds = _LONG_CONTEXT_WORDS if LONG in item.tags else _CONTEXT_WORDS
    bounds = (("reference", _REFERENCE_WORDS), ("context", context_bounds), ("prompt", _PROMPT_WORDS))
    for field, (least, most) in bounds:
        words = len(_WORD.findall(getattr(item, field)))
        if not least <= words <= most:
            yield Complaint("length", f"{field} has {words} words (Chinese: characters); allowed {least} to {most}")


def _provenance(item: Item) -> Iterator[Complaint]:
    if not item.source.strip():
        yield Complaint("source", "it is not said where the item comes from")
    if not _SPDX.fullmatch(item.licence):
        yield Complaint("licence", f"{item.licence!r} is not an SPDX id such as Apache-2.0")


def _repeated(rows: Sequence[Row[Item]]) -> Iterator[Problem]:
    first: dict[tuple[str, ...], str] = {}
    for row in rows:
        item = row.record
        other = first.setdefault(tuple(_WORD.findall(item.prompt.casefold())), item.id)
        if other != item.id:
            yield Problem(row.line, item.id, "duplicate", f"asks what {other} asks, word for word")
