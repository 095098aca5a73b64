"""What can be wrong with an evaluation set.

EvalsetError            one clear line for a person; the caller can only fix the input
├── FieldError          a field holds a value it must not hold
├── FileError           a file or line cannot be read as records
├── SchemaFaultError    a JSON Schema cannot be applied
└── UnknownNameError    no set, or no item, of that name
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_SHOWN_CHARS = 80
_NAMED_MOST = 5


class EvalsetError(Exception):
    """Root of the tree; `str()` is one line that names the place, the value and what would be right."""


class FieldError(EvalsetError):
    """`field` holds `value` where `expected` would be right; the loader adds the place with `at`."""

    def __init__(self, field: str, value: object, expected: str, place: str = "") -> None:
        self.field = field
        self.value = value
        self.expected = expected
        prefix = f"{place}: " if place else ""
        super().__init__(f"{prefix}field {field!r} is {shown(value)}; expected {expected}")

    def at(self, path: Path, line: int) -> FieldError:
        """The same error, saying in which file and on which line (from 1) it was met."""
        return FieldError(self.field, self.value, self.expected, place=f"{path}, line {line}")


class FileError(EvalsetError):
    """A file, or one line of it (from 1; 0 means the whole file), is not what it should be."""

    def __init__(self, path: Path, line: int, found: str, expected: str) -> None:
        self.line = line
        place = f"{path}, line {line}" if line else f"{path}"
        super().__init__(f"{place}: {found}; expected {expected}")


class SchemaFaultError(EvalsetError):
    """A JSON Schema that cannot be applied; its text says why."""


class UnknownNameError(EvalsetError):
    """`name` is not among `known`; the message names up to three near ones, else all where they are few."""

    def __init__(self, kind: str, name: str, near: Sequence[str], known: Sequence[str]) -> None:
        self.name = name
        if near:
            hint = f"did you mean {', '.join(near)}?"
        elif len(known) <= _NAMED_MOST:
            hint = f"known are {', '.join(known)}"
        else:
            hint = f"nothing comes close; the first is {known[0]}"
        super().__init__(f"unknown {kind} {shown(name)} (of {len(known)} known); {hint}")


def shown(value: object) -> str:
    """`value` as Python writes it, on one line and shortened to about 80 characters."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
