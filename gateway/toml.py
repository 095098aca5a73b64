"""Strict TOML: a file becomes one typed value, or one error that names file, line, key and what would be right."""

import re
import sys
import tomllib
from bisect import bisect_left
from pathlib import Path
from typing import TypeVar

from gateway.errors import ConfigError
from gateway.strict import KeyPath, convert

T = TypeVar("T")

_HEADER = re.compile(r"^\s*+(\[\[?+)\s*+([^\]\s](?:[^\]]*[^\]\s])?)\s*+\]\]?")


def load(path: Path, kind: type[T]) -> T:
    """Read `path` as `kind`. Raises ConfigError; OSError when the file cannot be read."""
    return parse(read(path), kind, source=str(path))


def read(path: Path) -> str:
    """The text of `path`. Raises ConfigError; OSError when the file cannot be read."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from None


def parse(text: str, kind: type[T], *, source: str) -> T:
    """Read TOML text as `kind`; `source` is the name that messages give it. Raises ConfigError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{source}:{_unreadable_line(text)}: nested too deeply; nothing here needs that") from None
    except ValueError:
        told = f"an integer of more than {sys.get_int_max_str_digits()} digits; write a smaller one"
        raise ConfigError(f"{source}:{_unreadable_line(text)}: {told}") from None
    return convert(table, kind, place=lambda path: place_of(source, text, path))


def _unreadable_line(text: str) -> int:
    """The first line, from 1, whose end the parser does not reach for another reason than wrong TOML."""
    lines = text.splitlines(keepends=True)

    def stops(count: int) -> bool:
        try:
            tomllib.loads("".join(lines[:count]))
        except (RecursionError, ValueError) as error:
            return not isinstance(error, tomllib.TOMLDecodeError)
        return False

    return bisect_left(range(1, len(lines)), True, key=stops) + 1


def place_of(source: str, text: str, path: KeyPath, *, item: str | None = None) -> str:
    """The file and, where it sets `path`, the line; for a list over several lines that of the string `item` in it."""
    line = line_of(text, path) if path else None
    if line and item is not None:
        line = next(
            (
                number
                for number, one in enumerate(text.splitlines()[line - 1 :], start=line)
                if f'"{item}"' in one or f"'{item}'" in one
            ),
            line,
        )
    return f"{source}:{line}" if line else source


def line_of(text: str, path: KeyPath) -> int | None:
    """The line, from 1, that sets `path` or where a table of it begins; that of its table when the key is not there.

    None when neither is.
    """
    table: KeyPath = ()
    seen: dict[str, int] = {}
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table_path(header[1] == "[[", header[2], seen)
            if table and path[: len(table)] == table:
                best = number
            elif table[: len(path)] == path:
                best = best or number
        elif path[: len(table)] == table and len(path) > len(table) and _sets(line, str(path[len(table)])):
            return number
    return best


def _sets(line: str, key: str) -> bool:
    return re.match(rf"\s*\"?{re.escape(key)}\"?\s*[=.]", line) is not None


def _table_path(is_array: bool, name: str, seen: dict[str, int]) -> KeyPath:
    """The path of a table header; each `[[name]]` gets the next index."""
    parts = tuple(part.strip().strip("\"'") for part in name.split("."))
    if is_array:
        seen[name] = seen.get(name, -1) + 1
        return (*parts, seen[name])
    root = parts[0]
    return (root, seen[root], *parts[1:]) if root in seen else parts
