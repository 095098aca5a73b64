"""Read evaluation sets from JSON lines, strictly: nothing is guessed, filled in or skipped."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from evalsets.errors import FieldError, FileError, UnknownNameError, shown
from evalsets.item import Item

ITEMS_FILE = "items.jsonl"
_SETS = Path(__file__).parent


class _Record(Protocol):
    """A dataclass with a permanent id."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Record)


class Row(NamedTuple, Generic[R]):
    """A record and the line (from 1) it stands on."""

    line: int
    record: R


def load_set(name_or_path: str | Path) -> tuple[Item, ...]:
    """The items of a set that comes along ("support"), of a folder, or of a `.jsonl` file, in file order.

    Raises EvalsetError: unknown set, unreadable file, or the first line that is not an item.
    """
    return tuple(row.record for row in load_rows(find_records(name_or_path, ITEMS_FILE), Item))


def select(items: Sequence[Item], ids: Iterable[str]) -> tuple[Item, ...]:
    """The items with these `ids`, in the order asked for. Raises UnknownNameError naming near matches."""
    by_id = {item.id: item for item in items}
    return tuple(by_id[i] if i in by_id else _unknown("item id", i, list(by_id)) for i in ids)


def set_names() -> list[str]:
    """Names of the sets that come along, sorted."""
    return sorted(path.parent.name for path in _SETS.glob("*/*.jsonl"))


def find_records(name_or_path: str | Path, file_name: str) -> Path:
    """The records file meant: a set's name first, then a folder or a file. Raises UnknownNameError, FileError."""
    named = _SETS / name_or_path / file_name
    if str(name_or_path) in set_names() and named.is_file():
        return named
    path = Path(name_or_path)
    if path.is_dir():
        path = path / file_name
    if path.is_file():
        return path
    if path.suffix or len(path.parts) > 1:
        raise FileError(path, 0, "no such file", f"a folder with {file_name}, or a .jsonl file")
    return _unknown("evaluation set", str(name_or_path), set_names())


def load_rows(path: Path, record_type: type[R]) -> list[Row[R]]:
    """Every line of `path` as a `record_type`. Raises FileError or FieldError for the first bad line."""
    try:
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise FileError(path, 0, f"cannot be read ({error.strerror})", "a readable file") from error
    rows: list[Row[R]] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(lines, start=1):
        record = _record(path, number, raw, record_type)
        first = seen.setdefault(record.id, number)
        if first != number:
            raise FieldError("id", record.id, f"a new id (line {first} has it)").at(path, number)
        rows.append(Row(number, record))
    return rows


def _record(path: Path, line: int, raw: bytes, record_type: type[R]) -> R:
    values = _json_object(path, line, _text(path, line, raw))
    try:
        _check_keys(values, [f.name for f in fields(record_type)])
        return record_type(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})
    except FieldError as error:
        raise error.at(path, line) from error


def _check_keys(values: dict[str, object], known: list[str]) -> None:
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"{near[0]!r}, or no such field" if near else f"only {', '.join(known)}"
            raise FieldError(key, value, hint)
    for key in known:
        if key not in values:
            raise FieldError(key, None, "the field to be there; it is missing")


def _text(path: Path, line: int, raw: bytes) -> str:
    if raw.startswith(b"\xef\xbb\xbf"):
        raise FileError(path, line, "starts with a byte order mark", "UTF-8 without one")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {raw[error.start]:#04x} at column {error.start + 1} is not UTF-8"
        raise FileError(path, line, found, "a file saved as UTF-8") from error
    if not text.strip():
        raise FileError(path, line, "blank line", "one JSON object per line")
    return text


def _json_object(path: Path, line: int, text: str) -> dict[str, object]:
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise FileError(path, line, f"bad JSON at column {error.colno} ({error.msg})", "a JSON object") from error
    except (ValueError, RecursionError) as error:
        raise FileError(path, line, f"bad JSON ({error})", "a plain JSON object") from error
    if not isinstance(value, dict):
        raise FileError(path, line, f"{shown(value)} is not an object", 'one JSON object, as in {"id": …}')
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key stands twice in one object: {shown([key for key, _ in pairs])}")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unknown(kind: str, name: str, known: list[str]) -> NoReturn:
    raise UnknownNameError(kind, name, difflib.get_close_matches(name, known, n=3, cutoff=0.6), known)
