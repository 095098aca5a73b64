"""Profiles are TOML, read once and strictly: bundled ones by name, others by path."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from harness.errors import ConfigError
from harness.models.spec import EncoderSpec, JudgeSpec, Limits, ModelSpec, Profile
from harness.toml_file import TomlFile

BUNDLED = Path(__file__).parent.parent / "profiles"
SECTIONS = ("primary", "secondary", "encoder", "limits", "judge")
FILES = ("policy", "criteria")

S = TypeVar("S", ModelSpec, EncoderSpec, Limits, JudgeSpec)


def bundled_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the package: the files that have a [primary] model."""
    return tuple(sorted(p.stem for p in BUNDLED.glob("*.toml") if not p.stem.endswith("-policy")))


def load_profile(name_or_path: str) -> Profile:
    """Read a bundled profile by name, or a file. Raises ConfigError naming file, field, value and what is right."""
    path = BUNDLED / f"{name_or_path}.toml" if name_or_path in bundled_profiles() else Path(name_or_path)
    if not path.is_file():
        raise ConfigError(f"profile {name_or_path!r} is neither a file nor one of {', '.join(bundled_profiles())}")
    return profile_of(TomlFile.read(path))


def profile_of(file: TomlFile) -> Profile:
    """The profile that a parsed file says; relative files in it are relative to it."""
    refuse_unknown(file, (), file.content, (*SECTIONS, *FILES))
    return Profile(
        name=file.path.stem,
        primary=section(ModelSpec, file, "primary"),
        secondary=section(ModelSpec, file, "secondary"),
        encoder=section(EncoderSpec, file, "encoder"),
        limits=section(Limits, file, "limits"),
        judge=section(JudgeSpec, file, "judge"),
        policy=file_of(file, "policy"),
        criteria=file_of(file, "criteria"),
    )


def section(kind: type[S], file: TomlFile, key: str) -> S:
    """One section as its dataclass."""
    values = file.content.get(key, {})
    if not isinstance(values, dict):
        raise ConfigError(f"{file.place(key)}: {key} is {values!r}; it must be a table")
    refuse_unknown(file, (key,), values, tuple(f.name for f in fields(kind)))
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in values]
    if missing:
        raise ConfigError(f"{file.place(key)}: [{key}] lacks {', '.join(missing)}")
    hints = get_type_hints(kind)
    checked = {name: typed(value, hints[name], file.place_of((key,), name), name) for name, value in values.items()}
    placed: dict[str, Any] = {
        n: (file.path.parent / v).resolve() if isinstance(v, Path) else v for n, v in checked.items()
    }
    try:
        return kind(**placed)
    except ConfigError as error:
        raise ConfigError(f"{file.place_of((key,), error)} {error}") from None


def refuse_unknown(file: TomlFile, table: tuple[str, ...], values: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in values:
        if key not in known:
            named = f": [{table[0]}]" if table else ":"
            raise ConfigError(f"{file.place(*table, key)}{named} unknown key {key!r}; known are {', '.join(known)}")


def typed(value: Any, hint: Any, place: str, name: str) -> Any:
    """`value` when it is of the type `hint`; an array becomes a tuple, a whole number a float where that is wanted."""
    if get_origin(hint) is Literal:
        return value  # the dataclass says which values exist
    if get_origin(hint) is UnionType:
        hint = next(t for t in get_args(hint) if t is not type(None))
    if hint is Path:
        if isinstance(value, str) and value.strip():
            return Path(value)
        raise ConfigError(f"{place} {name} is {value!r}; it must be a path, relative to the profile")
    if get_origin(hint) is tuple:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise ConfigError(f"{place} {name} is {value!r}; it must be an array of strings")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or isinstance(value, bool):
        wanted = {int: "a whole number", float: "a number", str: "a string"}[hint]
        raise ConfigError(f"{place} {name} is {value!r}; it must be {wanted}")
    return value


def file_of(file: TomlFile, key: str) -> Path:
    value = file.content.get(key)
    if not isinstance(value, str):
        raise ConfigError(
            f"{file.place(key)}: {key} is {value!r}; it must be the path of a TOML file, relative to the profile"
        )
    return (file.path.parent / value).resolve()
