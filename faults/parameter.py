"""A fault's parameters: what each means, its bounds, and its reading from text."""

import dataclasses
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

from faults.errors import BadFault


class Meaning(NamedTuple):
    """What stands beside a field: a line for people, and the bounds of its value."""

    text: str
    low: float | None
    high: float | None
    check: Callable[[str], object] | None = None  # of a text; raises BadFault


def means(
    text: str, *, low: float | None = None, high: float | None = None, check: Callable[[str], object] | None = None
) -> dict[str, Meaning]:
    """For `field(metadata=…)`. Bounds are inclusive; None: none. `check` reads a text and raises BadFault."""
    return {"means": Meaning(text, low, high, check)}


def share(text: str) -> dict[str, Meaning]:
    """A share in [0, 1]."""
    return means(text, low=0, high=1)


def meaning_of(field: "dataclasses.Field[Any]") -> Meaning:
    return typing.cast(Meaning, field.metadata["means"])


def check_bounds(fault: Any) -> None:
    """Raises BadFault naming fault, field, value and bound."""
    for field in dataclasses.fields(fault):
        value, meaning = getattr(fault, field.name), meaning_of(field)
        if value is None or isinstance(value, str):
            _check_text(fault.name, value, meaning)
            continue
        low = float("-inf") if meaning.low is None else meaning.low
        high = float("inf") if meaning.high is None else meaning.high
        if not low <= value <= high:
            raise BadFault(f"{fault.name}: {field.name} is {value}, must be {_bounds(meaning)}")


def _check_text(fault: str, value: str | None, meaning: Meaning) -> None:
    if value is None or meaning.check is None:
        return
    try:
        meaning.check(value)
    except BadFault as error:
        raise BadFault(f"{fault}: {error}") from None


def _bounds(meaning: Meaning) -> str:
    if meaning.high is None:
        return f"at least {meaning.low:g}"
    return f"between {meaning.low or 0:g} and {meaning.high:g}"


def read(fault: str, field: str, hint: Any, value: object) -> Any:
    """The value as the field's type; text is parsed. Raises BadFault."""
    options = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    if options:
        if value in options:
            return value
        raise BadFault(f"{fault}: {field} is {value!r}, must be one of {', '.join(map(str, options))}")
    kinds = [kind for kind in (typing.get_args(hint) or (hint,)) if kind is not type(None)]
    if value is None and len(kinds) < len(typing.get_args(hint) or (hint,)):
        return None
    if kinds[0] is str and isinstance(value, str):
        return value
    try:
        return _as_number(kinds[0], value)
    except (TypeError, ValueError, OverflowError):
        wanted = {int: "a whole number", str: "a text"}.get(kinds[0], "a number")
        raise BadFault(f"{fault}: {field} is {value!r}, must be {wanted}") from None


def _as_number(kind: type, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    number = float(value)
    if kind is int:
        if not number.is_integer():
            raise ValueError
        return int(value)
    return number
