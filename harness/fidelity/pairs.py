"""Rows of `truefall score`: a strict reading of one JSON line into a case, and the row that goes out (pure)."""

import json
import math
import re
from typing import Any, NamedTuple, NoReturn

from evalsets.errors import SchemaFaultError
from evalsets.schemas import require_schema
from harness.fidelity.case import Case, Judgement, Similarity

REQUIRED = ("id", "reference", "candidate")
OPTIONAL = ("prompt", "context", "lang", "must_keep", "must_not", "contract", "degraded")
LANGUAGES = ("en", "zh")
NOTES = {
    "windowed": "scored in overlapping windows: a text is longer than the encoder reads at once",
    "too_long": "not measured: a text is too long for the encoder",
    "empty_reference": "not measured: the reference is empty",
    "indistinguishable": "not measured: the texts differ only in characters that the encoder does not know",
}
_HALF_PAIR = re.compile("[\ud800-\udfff]")


class RowError(Exception):
    """A row that cannot be judged; its text names field, value and what would be right."""


class Row(NamedTuple):
    """One line of the input."""

    line: int  # counted from 1
    id: str | int  # as given
    case: Case
    unused: tuple[str, ...]  # fields that mean nothing here
    size_bytes: int = 0  # of the line


def parse_row(line: bytes, number: int) -> Row:
    """Raises RowError for anything but one object with the known fields in their types."""
    return row_of(object_of(line, number), number)._replace(size_bytes=len(line))


def object_of(line: bytes, number: int) -> dict[str, Any]:
    """The JSON object in a line; raises RowError when there is none, or half a character in it."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        row = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=without_duplicates)
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8 at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        raise RowError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise RowError(f"need an object, got {shown(row)}")
    if "\\ud" in text.lower():  # UTF-8 holds no half pair, so only an escape can bring one
        require_whole_characters(row)
    return row


def row_of(row: dict[str, Any], line: int) -> Row:
    """Raises RowError for a field that is missing or not of its type."""
    for name in REQUIRED:
        if name not in row:
            raise RowError(f"field {name!r} is missing; needed are {', '.join(REQUIRED)}")
    unused = tuple(sorted(set(row) - {*REQUIRED, *OPTIONAL}))
    if not text_of(row, "reference").strip():
        raise RowError("field 'reference' is blank; there is nothing to compare the candidate with")
    identity = row["id"]
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise RowError(f"field 'id' has to be a text or a whole number, got {shown(identity)}")
    if not str(identity).strip():
        raise RowError("field 'id' is blank; every row needs its own")
    case = Case(
        id=str(identity),
        reference=text_of(row, "reference"),
        candidate=text_of(row, "candidate"),
        prompt=text_of(row, "prompt"),
        context=text_of(row, "context"),
        lang=language_of(row),
        must_keep=facts_of(row, "must_keep"),
        must_not=facts_of(row, "must_not"),
        contract=contract_of(row),
        degraded=degraded_of(row),
    )
    return Row(line, identity, case, unused)


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"field {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def require_whole_characters(row: dict[str, Any]) -> None:
    """Raises RowError for a field with half a surrogate pair in it: that is no text, and no model can read it."""
    for name, value in row.items():
        if half := _HALF_PAIR.search(json.dumps([name, value], ensure_ascii=False)):
            place = f"field {_HALF_PAIR.sub('?', name)!r}"
            raise RowError(f"{place} holds half a surrogate pair (\\u{ord(half[0]):04x}), which is no character")


def text_of(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None and name in OPTIONAL:
        return ""
    if not isinstance(value, str):
        raise RowError(f"field {name!r} has to be a text, got {shown(value)}")
    return value


def language_of(row: dict[str, Any]) -> str | None:
    """`en` or `zh` (also from `en-GB`, `zh_CN`); None, so that it is detected, for "" and null."""
    value = text_of(row, "lang")
    primary = value.replace("_", "-").split("-")[0].lower()
    if value and primary not in LANGUAGES:
        known = " or ".join(LANGUAGES)
        raise RowError(f"field 'lang' has to be {known} (or one like en-GB), or left out, got {shown(value)}")
    return primary or None


def facts_of(row: dict[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    facts = [] if value in (None, "") else [value] if isinstance(value, str) else value
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise RowError(f"field {name!r} has to be a text or a list of texts, got {shown(value)}")
    for fact in facts:
        if not all(part.strip() for part in fact.split("|")):
            raise RowError(f"field {name!r} holds a blank fact, got {shown(fact)}")
    return tuple(facts)


def contract_of(row: dict[str, Any]) -> dict[str, Any] | None:
    value = row.get("contract")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise RowError(f"field 'contract' has to be a JSON Schema object or null, got {shown(value)}")
    if not isinstance(dialect := value.get("$schema", ""), str):
        raise RowError(f"field 'contract' has to name its $schema by a text, got {shown(dialect)}")
    try:
        require_schema(value)
    except SchemaFaultError as error:
        raise RowError(f"field 'contract' is no valid JSON Schema: {error}") from None
    return value


def degraded_of(row: dict[str, Any]) -> bool | None:
    value = row.get("degraded")
    if value is not None and not isinstance(value, bool):
        raise RowError(f"field 'degraded' has to be true, false or null, got {shown(value)}")
    return value


def shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


def output_row(row: Row, judgement: Judgement) -> dict[str, Any]:
    """The row that goes out; a score that was not measured is null."""
    similarity = judgement.similarity
    names = ("bertscore_p", "bertscore_r", "bertscore_f1", "cosine", "composite")
    notes = [NOTES[flag] for flag in similarity.flags if flag in NOTES]
    return {
        "id": row.id,
        **{name: finite(similarity, name) for name in names},
        "verdict": judgement.label.value,
        "risk": judgement.risk,
        "reasons": list(dict.fromkeys([*judgement.reasons, *notes])),
    }


def finite(similarity: Similarity, name: str) -> float | None:
    value: float | None = getattr(similarity, name)
    return value if value is not None and math.isfinite(value) else None
