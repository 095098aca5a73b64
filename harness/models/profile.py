"""Profiles are TOML, read once and strictly: bundled ones by name, others by path."""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from harness.errors import ConfigError
from harness.models.spec import EncoderSpec, Limits, ModelSpec, Profile

BUNDLED = Path(__file__).parent.parent / "profiles"
SECTIONS = ("primary", "secondary", "encoder", "limits")
FILES = ("policy", "criteria")

S = TypeVar("S", ModelSpec, EncoderSpec, Limits)


def bundled_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the package: the files that have a [primary] model."""
    return tuple(sorted(p.stem for p in BUNDLED.glob("*.toml") if not p.stem.endswith("-policy")))


def load_profile(name_or_path: str) -> Profile:
    """Read a bundled profile by name, or a file. Raises ConfigError naming file, field, value and what is right."""
    path = BUNDLED / f"{name_or_path}.toml" if name_or_path in bundled_profiles() else Path(name_or_path)
    if not path.is_file():
        raise ConfigError(f"profile {name_or_path!r} is neither a file nor one of {', '.join(bundled_profiles())}")
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    return profile_of(table, path)


def profile_of(table: Mapping[str, Any], path: Path) -> Profile:
    """The profile that a parsed file says; relative files in it are relative to it."""
    refuse_unknown(table, (*SECTIONS, *FILES), str(path))
    return Profile(
        name=path.stem,
        primary=section(ModelSpec, table, "primary", path),
        secondary=section(ModelSpec, table, "secondary", path),
        encoder=section(EncoderSpec, table, "encoder", path),
        limits=section(Limits, table, "limits", path),
        policy=file_of(table, "policy", path),
        criteria=file_of(table, "criteria", path),
    )


def section(kind: type[S], table: Mapping[str, Any], key: str, path: Path) -> S:
    """One section as its dataclass."""
    place = f"{path}: [{key}]"
    values = table.get(key, {})
    if not isinstance(values, dict):
        raise ConfigError(f"{place} is {values!r}; it must be a table")
    known = tuple(f.name for f in fields(kind))
    refuse_unknown(values, known, place)
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in values]
    if missing:
        raise ConfigError(f"{place} lacks {', '.join(missing)}")
    hints = get_type_hints(kind)
    checked = {name: typed(value, hints[name], f"{place} {name}") for name, value in values.items()}
    try:
        return kind(**checked)
    except ConfigError as error:
        raise ConfigError(f"{place} {error}") from None


def refuse_unknown(values: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in values:
        if key not in known:
            raise ConfigError(f"{place} unknown key {key!r}; known are {', '.join(known)}")


def typed(value: Any, hint: Any, place: str) -> Any:
    """`value` when it is of the type `hint`; an array becomes a tuple, a whole number a float where that is wanted."""
    if get_origin(hint) is Literal:
        return value  # the dataclass says which values exist
    if get_origin(hint) is UnionType:
        hint = next(t for t in get_args(hint) if t is not type(None))
    if get_origin(hint) is tuple:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ConfigError(f"{place} is {value!r}; it must be an array of strings")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or isinstance(value, bool):
        wanted = {int: "a whole number", float: "a number", str: "a string"}[hint]
        raise ConfigError(f"{place} is {value!r}; it must be {wanted}")
    return value


def file_of(table: Mapping[str, Any], key: str, path: Path) -> Path:
    value = table.get(key)
    if not isinstance(value, str):
        raise ConfigError(f"{path}: {key} is {value!r}; it must be the path of a TOML file, relative to the profile")
    return (path.parent / value).resolve()
