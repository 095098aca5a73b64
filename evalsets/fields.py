"""Checks of single field values, shared by every kind of record. Each raises FieldError."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from evalsets import schemas
from evalsets.errors import FieldError, SchemaFaultError

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NOT_TEXT = re.compile(r"[\ud800-\udfff\x00]")
LANGUAGES = ("en", "zh")
SEPARATOR = " | "


def require_text(field: str, value: object, *, blank_ok: bool = False) -> None:
    """Accept a str of real characters; a blank one only where `blank_ok`."""
    if not isinstance(value, str):
        raise FieldError(field, value, "a string")
    if not blank_ok and not value.strip():
        raise FieldError(field, value, "a string that is not blank")
    if _NOT_TEXT.search(value):
        raise FieldError(field, value, "text without lone surrogates or NUL")


def require_id(field: str, value: object) -> None:
    """Accept a permanent id: lower-case words and numbers joined by single hyphens."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise FieldError(field, value, "lower-case letters, digits and single hyphens, as in 'support-en-001'")


def require_choice(field: str, value: object, choices: Collection[str]) -> None:
    """Accept one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise FieldError(field, value, f"one of {', '.join(choices)}")


def require_texts(field: str, value: object) -> tuple[str, ...]:
    """Accept, and return, a tuple of distinct non-blank strings."""
    if not isinstance(value, tuple):
        raise FieldError(field, value, "a list of strings")
    for entry in value:
        require_text(field, entry)
    if len(set(value)) != len(value):
        raise FieldError(field, list(value), "no entry twice")
    return value


def require_facts(field: str, value: object) -> None:
    """Accept a tuple of facts whose alternatives, split at " | ", are all non-blank."""
    for entry in require_texts(field, value):
        if any(not part.strip() for part in entry.split(SEPARATOR.strip())):
            raise FieldError(field, entry, f"alternatives separated by {SEPARATOR!r}, none of them blank")


def require_schema(field: str, value: object) -> None:
    """Accept None or a JSON Schema object that says its type, and can be applied without fetching anything."""
    if value is None:
        return
    if not isinstance(value, Mapping) or "type" not in value:
        raise FieldError(field, value, "null or a JSON Schema object with a 'type'")
    try:
        schemas.require_schema(dict(value))
    except SchemaFaultError as error:
        raise FieldError(field, value, f"a valid JSON Schema ({' '.join(str(error).split())})") from error
