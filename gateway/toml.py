"""Strict TOML: a file becomes one typed value, or one error that names file, line, key and what would be right."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from gateway.errors import ConfigError

T = TypeVar("T")
Step = str | int
KeyPath = tuple[Step, ...]

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?")


def load(path: Path, kind: type[T]) -> T:
    """Read `path` as `kind`. Raises ConfigError; OSError when the file cannot be read."""
    raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from None
    return parse(text, kind, source=str(path))


def parse(text: str, kind: type[T], *, source: str) -> T:
    """Read TOML text as `kind`; `source` is the name that messages give it. Raises ConfigError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from None
    for path, known in _unknown_keys(table, inspect.type_info(kind), ()):
        names = ", ".join(sorted(known)) or "none"
        raise ConfigError(f"{_place(source, text, path)}: unknown key {_dotted(path)!r}; known here are {names}")
    try:
        return msgspec.convert(table, kind, strict=True, dec_hook=_decode)
    except msgspec.ValidationError as error:
        message = str(error)
        path = _named(_path_of(message), table, inspect.type_info(kind))
        told = message.partition(" - at `")[0]
        at = f" - at {_dotted(path)}" if path else ""
        raise ConfigError(f"{_place(source, text, path)}: {told}{at}") from None
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None


def _unknown_keys(value: Any, info: inspect.Type, path: KeyPath) -> Iterator[tuple[KeyPath, set[str]]]:
    """Every key below `value` that `info` has no field for, with the fields it has."""
    if isinstance(info, inspect.UnionType):
        for option in info.types:
            if isinstance(option, inspect.StructType | inspect.DataclassType | inspect.DictType):
                yield from _unknown_keys(value, option, path)
    elif isinstance(info, inspect.StructType | inspect.DataclassType) and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in info.fields}
        for key, inner in value.items():
            if key not in fields:
                yield (*path, key), set(fields)
            else:
                yield from _unknown_keys(inner, fields[key], (*path, key))
    elif isinstance(info, inspect.DictType) and isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknown_keys(inner, info.value_type, (*path, key))
    elif isinstance(info, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unknown_keys(inner, info.item_type, (*path, index))


def _decode(kind: type[Any], value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")


def _dotted(path: KeyPath) -> str:
    return ".".join(str(step) for step in path)


def _path_of(message: str) -> KeyPath:
    """The path in a message of msgspec (`… - at `$.limits.primary.total_s``); empty when it names none."""
    found = re.search(r"at `\$([^`]*)`$", message)
    if not found:
        return ()
    steps = re.findall(r"\.([^.\[]+)|\[(\d+)\]|\[(\.\.\.)\]", found[1])
    return tuple(int(index) if index else name or any_key for name, index, any_key in steps)


def _named(path: KeyPath, table: Any, info: inspect.Type) -> KeyPath:
    """The path with the key in place of the `...` that msgspec writes for keys of a dict."""
    if "..." not in path:
        return path
    at = path.index("...")
    for step in path[:at]:
        table = table[step]
        info = next(field.type for field in _fields(info) if field.encode_name == step)
    if isinstance(info, inspect.DictType) and isinstance(info.value_type, inspect.StructType):
        for key, value in table.items():
            try:
                msgspec.convert(value, info.value_type.cls, strict=True, dec_hook=_decode)
            except msgspec.ValidationError:
                return (*path[:at], key, *path[at + 1 :])
    return path[:at]


def _fields(info: inspect.Type) -> tuple[inspect.Field, ...]:
    return info.fields if isinstance(info, inspect.StructType | inspect.DataclassType) else ()


def _place(source: str, text: str, path: KeyPath) -> str:
    line = line_of(text, path)
    return f"{source}:{line}" if line else source


def line_of(text: str, path: KeyPath) -> int | None:
    """The line, from 1, that sets `path`; the line of its table when the key is not there; None when neither is."""
    table: KeyPath = ()
    seen: dict[str, int] = {}
    best: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _table_path(header[1] == "[[", header[2], seen)
            if table and path[: len(table)] == table:
                best = number
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
