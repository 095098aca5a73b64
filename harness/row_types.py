"""What the fields of a row have to be, so that somebody else's file is one line of error and no traceback (pure)."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from harness.errors import ResultError
from harness.reply import kind, wrong_fields


class Need(NamedTuple):
    """What a value has to be: a test of it, and the words for it."""

    holds: Callable[[Any], bool]
    words: str


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def or_null(need: Need) -> Need:
    return Need(lambda value: value is None or need.holds(value), f"{need.words} or null")


TEXT = Need(lambda value: isinstance(value, str), "a text")
TEXTS = Need(is_texts, "a list of texts")
FLAG = Need(lambda value: isinstance(value, bool), "true or false")
COUNT = Need(lambda value: isinstance(value, int) and not isinstance(value, bool), "a whole number")
NUMBER = Need(is_number, "a number")
FINITE = Need(lambda value: is_number(value) and math.isfinite(value), "a finite number")
RECORD = Need(lambda value: isinstance(value, Mapping), "an object")


def require(row: Mapping[str, Any], needs: Mapping[str, Need], *, of: str) -> None:
    """Raises ResultError with `of`, the field and its value for the first one that is something else.

    A field that is not there is not looked at.
    """
    for name, need in needs.items():
        if name in row and not need.holds(row[name]):
            raise ResultError(f"{of}: {name} is {kind(row[name])}; need {need.words}")


def require_record(record: Mapping[str, Any], *, of: str) -> None:
    """The same for the fields of a degradation record."""
    for name, need in wrong_fields(record).items():
        raise ResultError(f"{of}: record.{name} is {kind(record[name])}; need {need}")
