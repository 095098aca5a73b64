"""A YAML file read strictly: every complaint names file, line, field, value, and what would be right."""

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from faults.errors import BadExperiment, FaultError

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of the file and where it stands."""

    file: str
    path: str  # "method[0].phases.hold"
    node: Any  # yaml.Node

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    def fail(self, problem: str) -> BadExperiment:
        field = f"{self.path}: " if self.path else ""
        return BadExperiment(f"{self.file}, line {self.line}: {field}{problem}")

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Put file, line and field before what a check says of a value in here."""
        try:
            yield
        except FaultError as error:
            if str(error).startswith(f"{self.file}, line "):
                raise
            raise self.fail(str(error)) from None

    def scalar(self) -> Any:
        """Text, number, truth or None, as YAML reads it."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.fail("must be a single value")
        loader = yaml.SafeLoader("")
        try:
            return loader.construct_object(self.node)
        except (yaml.YAMLError, ValueError) as error:
            raise self.fail(f"{self.node.value!r} cannot be read: {error}") from None

    def text(self) -> str:
        value = self.scalar()
        if not isinstance(value, str) or not value.strip():
            raise self.fail(f"{value!r} must be a text")
        return value.strip()

    def number(self, low: float = 0.0, high: float = 1e9) -> float:
        value = self.scalar()
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.fail(f"{value!r} must be a number between {low:g} and {high:g}")
        return value

    def whole(self, low: int = 0, high: int = 10**9) -> int:
        value = self.scalar()
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fail(f"{value!r} must be a whole number between {low} and {high}")
        return value

    def truth(self) -> bool:
        value = self.scalar()
        if not isinstance(value, bool):
            raise self.fail(f"{value!r} must be true or false")
        return value

    def one_of(self, *allowed: str) -> str:
        value = self.scalar()
        if value not in allowed:
            raise self.fail(f"{value!r} must be {' or '.join(allowed)}{near(str(value), allowed)}")
        return str(value)

    def items(self) -> list["Field"]:
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail("must be a list")
        return [
            Field(file=self.file, path=f"{self.path}[{place}]", node=node) for place, node in enumerate(self.node.value)
        ]

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items())

    def table(self, *known: str) -> "Fields":
        """The entries; an unknown or repeated one is refused. No `known`: any name will do."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.fail("must be a table of names and values")
        found: dict[str, Field] = {}
        for key, value in self.node.value:
            name = str(key.value)
            here = Field(file=self.file, path=f"{self.path}.{name}".lstrip("."), node=value)
            at_key = Field(file=self.file, path=here.path, node=key)
            if name in found:
                raise at_key.fail("is given twice")
            if known and name not in known:
                raise at_key.fail(f"is unknown{near(name, known)}; known here: {', '.join(known)}")
            found[name] = here
        return Fields(field=self, entries=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A table of the file."""

    field: Field
    entries: dict[str, Field]

    def need(self, name: str) -> Field:
        if name not in self.entries:
            raise self.field.fail(f"{name} is missing")
        return self.entries[name]

    def get(self, name: str, read: Callable[[Field], T], default: T) -> T:
        return read(self.entries[name]) if name in self.entries else default


def near(name: str, known: tuple[str, ...]) -> str:
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


def read_yaml(path: Path) -> Field:
    """The root of a file. Raises BadExperiment when it is not there or no YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadExperiment(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadExperiment(f"{path}: is not UTF-8") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, file: str) -> Field:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadExperiment(f"{file}, line {line}: not YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise BadExperiment(f"{file}: not YAML: {told}") from None
    if node is None:
        raise BadExperiment(f"{file}: is empty")
    return Field(file=file, path="", node=node)
