"""Strict input: plain data becomes one typed value, or one error that names place, key, value and what is right."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from gateway.errors import ConfigError

T = TypeVar("T")
Step = str | int
KeyPath = tuple[Step, ...]
Place = Callable[[KeyPath], str]
_SHOWN_CHARS = 60
_SECRET = re.compile("token|key|secret|password", re.IGNORECASE)


def convert(value: Any, kind: type[T], *, place: Place) -> T:
    """Read `value` as `kind`; `place` turns a key's path into the file and line to name. Raises ConfigError."""
    info = inspect.type_info(kind)
    for path, known in _unknown_keys(value, info, ()):
        names = ", ".join(sorted(known)) or "none"
        raise ConfigError(f"{place(path)}: unknown key {dotted(path)!r}; known here are {names}")
    for path in _with_nul(value):
        raise ConfigError(
            f"{place(path)}: {dotted(path)} holds a NUL character, which no path and no text here may hold"
        )
    try:
        return msgspec.convert(value, kind, strict=True, dec_hook=_decode)
    except msgspec.ValidationError as error:
        message = str(error)
        path = _named(_path_of(message), value, info)
        told = message.partition(" - at `")[0]
        path = _key_named(told, path, value)
        at = f" - at {dotted(path)}{_shown(value, path)}" if path else ""
        raise ConfigError(f"{place(path)}: {told}{at}") from None
    except ConfigError as error:
        raise ConfigError(f"{place(())}: {error}") from None


def _key_named(told: str, path: KeyPath, value: Any) -> KeyPath:
    """The first key of the table at `path` that a message about the whole table names; msgspec's own name none."""
    table = _at(value, path)
    if not isinstance(table, dict) or told.startswith(("Expected ", "Invalid ", "Object ")):
        return path
    return next(((*path, word) for word in re.findall(r"\w+", told) if word in table), path)


def _with_nul(value: Any) -> Iterator[KeyPath]:
    """Every place in `value` with a NUL in its text: the operating system takes none in a path or a command."""
    waiting: list[tuple[KeyPath, Any]] = [((), value)]
    while waiting:
        path, found = waiting.pop()
        if isinstance(found, str) and "\0" in found:
            yield path
        elif isinstance(found, dict):
            waiting += [((*path, key), inner) for key, inner in found.items()]
        elif isinstance(found, list):
            waiting += [((*path, index), inner) for index, inner in enumerate(found)]


def _at(value: Any, path: KeyPath) -> Any:
    """What is there; None where nothing is."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def dotted(path: KeyPath) -> str:
    """A key's path as people write it."""
    return ".".join(str(step) for step in path)


def _shown(value: Any, path: KeyPath) -> str:
    """` = <the value at path>`, shortened; nothing for tables, lists, secrets and what is not there."""
    if _SECRET.search(str(path[-1])):
        return ""
    found = _at(value, path)
    if found is None or isinstance(found, dict | list):
        return ""
    try:
        text = repr(found)
    except ValueError:
        return " = an integer of thousands of digits"
    return f" = {text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + '…'}"


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
                if _is_closed(info):
                    yield (*path, key), set(fields)
            else:
                yield from _unknown_keys(inner, fields[key], (*path, key))
    elif isinstance(info, inspect.DictType) and isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknown_keys(inner, info.value_type, (*path, key))
    elif isinstance(info, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unknown_keys(inner, info.item_type, (*path, index))


def _is_closed(info: inspect.StructType | inspect.DataclassType) -> bool:
    """Whether a key that is no field is an error; only a struct may say that it is none."""
    return not isinstance(info, inspect.StructType) or info.cls.__struct_config__.forbid_unknown_fields


def _decode(kind: type[Any], value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")


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
