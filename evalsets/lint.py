"""Every problem of an evaluation set: its records, what they repeat, and its card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalsets.card import CARD_FILE, card_sha256, counted, file_sha256, write_card
from evalsets.counterexample import COUNTEREXAMPLES_FILE, Counterexample
from evalsets.counterexample_rules import counterexample_complaints, is_hard, unbalanced
from evalsets.errors import EvalsetError
from evalsets.item import Item
from evalsets.item_rules import Complaint, complaints
from evalsets.jsonl import ITEMS_FILE, Row, find_records, load_rows
from evalsets.wording import words


class Problem(NamedTuple):
    """One thing to repair; `line` counts from 1, 0 means the whole set; `id` is "" then."""

    line: int
    id: str
    rule: str
    message: str

    def __str__(self) -> str:
        place = f"line {self.line}: {self.id}: " if self.line else ""
        return f"{place}{self.rule}: {self.message}"


def lint_set(name_or_path: str | Path) -> list[Problem]:
    """Every problem of a set: a name, a folder or a file. Empty means clean.

    Raises EvalsetError where the set cannot be read as records at all.
    """
    path = records_file(name_or_path)
    found = lint_counterexamples(_cases(path)) if _holds_cases(path) else lint_items(load_rows(path, Item))
    return [*found, *lint_card(path)]


def lint_items(rows: Sequence[Row[Item]]) -> list[Problem]:
    """Problems within items and between them; pure."""
    within = [_problem(row.line, row.record.id, found) for row in rows for found in complaints(row.record)]
    asked = [(row.line, row.record.id, row.record.prompt) for row in rows]
    return [*within, *_repeated(asked)]


def lint_counterexamples(rows: Sequence[Row[Counterexample]]) -> list[Problem]:
    """Problems within counterexamples and between them; pure."""
    within = [
        _problem(row.line, row.record.id, found) for row in rows for found in counterexample_complaints(row.record)
    ]
    asked = [(row.line, row.record.id, f"{row.record.context} {row.record.prompt}") for row in rows]
    balance = [_problem(0, "", found) for found in unbalanced([row.record for row in rows])]
    return [*within, *_repeated(asked), *balance]


def lint_card(records: Path) -> list[Problem]:
    """Whether CARD.md beside `records` is there and states the sha256 of the file as it is."""
    stated, actual = card_sha256(records.parent / CARD_FILE), file_sha256(records)
    if stated is None:
        return [Problem(0, "", "card", f"{CARD_FILE} is missing or states no sha256; the file has {actual}")]
    if stated != actual:
        return [Problem(0, "", "card", f"{CARD_FILE} states sha256 {stated}; {records.name} has {actual}")]
    return []


def renew_card(name_or_path: str | Path) -> Path:
    """Bring the facts in a set's CARD.md up to date. Raises EvalsetError where the set does not load."""
    path = records_file(name_or_path)
    if _holds_cases(path):
        return write_card(path, _case_facts([row.record for row in _cases(path)]))
    return write_card(path, _item_facts([row.record for row in load_rows(path, Item)]))


def records_file(name_or_path: str | Path) -> Path:
    """The file of a set of either kind. Raises EvalsetError where there is none."""
    try:
        return find_records(name_or_path, ITEMS_FILE)
    except EvalsetError as error:
        try:
            return find_records(name_or_path, COUNTEREXAMPLES_FILE)
        except EvalsetError:
            raise error from None


def _holds_cases(path: Path) -> bool:
    return path.name == COUNTEREXAMPLES_FILE


def _cases(path: Path) -> list[Row[Counterexample]]:
    return load_rows(path, Counterexample)


def _item_facts(items: Sequence[Item]) -> list[tuple[str, str]]:
    return [
        ("items", str(len(items))),
        ("languages", counted(item.lang for item in items)),
        ("with a contract", str(sum(item.contract is not None for item in items))),
        ("tags", counted(tag for item in items for tag in item.tags)),
        ("source", counted(item.source for item in items)),
        ("licence", counted(item.licence for item in items)),
    ]


def _case_facts(cases: Sequence[Counterexample]) -> list[tuple[str, str]]:
    return [
        ("counterexamples", str(len(cases))),
        ("modes", counted(case.mode for case in cases)),
        ("languages", counted(case.lang for case in cases)),
        ("splits", counted(case.split for case in cases)),
        ("collapsed at least as alike the reference as faithful", str(sum(is_hard(case) for case in cases))),
        ("source", "written for Truefall"),
        ("licence", "Apache-2.0"),
    ]


def _problem(line: int, id_: str, found: Complaint) -> Problem:
    return Problem(line, id_, found.rule, found.message)


def _repeated(asked: Sequence[tuple[int, str, str]]) -> list[Problem]:
    first: dict[tuple[str, ...], str] = {}
    owners = [(line, id_, first.setdefault(tuple(words(text)), id_)) for line, id_, text in asked]
    return [
        Problem(line, id_, "duplicate", f"asks what {owner} asks, word for word")
        for line, id_, owner in owners
        if owner != id_
    ]
