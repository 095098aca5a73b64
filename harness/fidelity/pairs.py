"""Rows of `truefall score`: a strict reading of one JSON line into a case, and the row that goes out (pure)."""

import json
import math
from typing import Any, NamedTuple, NoReturn

from harness.fidelity.case import Case, Judgement, Similarity

REQUIRED = ("id", "reference", "candidate")
OPTIONAL = ("prompt", "context", "lang", "must_keep", "must_not", "contract", "degraded")
NOTES = {
    "windowed": "scored in overlapping windows: a text is longer than the encoder reads at once",
    "too_long": "not measured: a text is too long for the encoder",
    "empty_reference": "not measured: the reference is empty",
    "indistinguishable": "not measured: the texts differ only in characters that the encoder does not know",
}


class RowError(Exception):
    """A row that cannot be judged; its text names field, value and what would be right."""


class Row(NamedTuple):
    """One line of the input."""

    line: int  # counted from 1
    id: str | int  # as given
    case: Case
    unused: tuple[str, ...]  # fields that mean nothing here


def parse_row(text: str, line: int) -> Row:
    """Raises RowError for anything but one object with the known fields in their types."""
    try:
        row = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=without_duplicates)
    except (ValueError, RecursionError) as error:
        raise RowError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise RowError(f"need an object, got {shown(row)}")
    for name in REQUIRED:
        if name not in row:
            raise RowError(f"field {name!r} is missing; needed are {', '.join(REQUIRED)}")
    unused = tuple(sorted(set(row) - {*REQUIRED, *OPTIONAL}))
    if not text_of(row, "reference").strip():
        raise RowError("field 'reference' is blank; there is nothing to compare the candidate with")
    identity = row["id"]
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise RowError(f"field 'id' has to be a text or a whole number, got {shown(identity)}")
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


def text_of(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None and name in OPTIONAL:
        return ""
    if not isinstance(value, str):
        raise RowError(f"field {name!r} has to be a text, got {shown(value)}")
    return value


def language_of(row: dict[str, Any]) -> str | None:
    """`en` or `zh` (also from `en-GB`, `zh_CN`); None, so that it is detected, for any other or none."""
    value = text_of(row, "lang")
    primary = value.replace("_", "-").split("-")[0].lower()
    return primary if primary in {"en", "zh"} else None


def facts_of(row: dict[str, Any], name: str) -> tuple[str, ...]:
    value = row.get(name)
    facts = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise RowError(f"field {name!r} has to be a text or a list of texts, got {shown(value)}")
    return tuple(fact for fact in facts if fact.strip())


def contract_of(row: dict[str, Any]) -> dict[str, Any] | None:
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    value = row.get("contract")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise RowError(f"field 'contract' has to be a JSON Schema object or null, got {shown(value)}")
    try:
        validator_for(value).check_schema(value)
    except SchemaError as error:
        raise RowError(f"field 'contract' is no valid JSON Schema: {error.message}") from None
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
