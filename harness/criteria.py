"""What the gate demands: a strict TOML file, read once. Nothing has a default, so nothing is left open by mistake."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from gateway.config import UNAIDED
from harness.errors import ConfigError
from harness.toml_file import TomlFile
from harness.trial import Outcome

GATES = Path(__file__).with_name("gates")
ANY = "*"
BACKENDS = ("primary", "secondary")  # of the stack that `truefall chaos` starts
NAMELESS = (Outcome.OK, Outcome.DEGRADED, Outcome.REJECTED)  # stands for the path where the record names none
KNOWN_PATHS = (*UNAIDED, "refused", "async", *BACKENDS, *(outcome.value for outcome in NAMELESS))


class Pool(StrEnum):
    """Which answers are judged together."""

    CLASS = "class"  # all paths of the class, all faults
    PATH = "path"  # one path, all faults
    PATH_FAULT = "path-fault"  # one path under one fault
    PATH_FAULT_LANGUAGE = "path-fault-language"  # the same in one language


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCriteria:
    """What holds for the run as a whole."""

    confidence: float  # of every one-sided bound, in (0.5, 1)
    max_crashes: int  # 5xx, answers that are none, and requests that nobody answered
    max_unmarked: int  # degraded answers that were not marked as such
    min_coverage: float  # share of answers that were judged and measured, in [0, 1]
    own_paths: tuple[str, ...] = ()  # names of paths that a gateway of one's own serves, so that `match` may name them

    def __post_init__(self) -> None:
        require_share("confidence", self.confidence)
        if not 0.5 < self.confidence < 1:
            raise ConfigError(f"confidence is {self.confidence}; it has to be in (0.5, 1), usually 0.95")
        require_count("max_crashes", self.max_crashes, 0)
        require_count("max_unmarked", self.max_unmarked, 0)
        require_share("min_coverage", self.min_coverage)
        if not all(isinstance(path, str) and path not in ("", ANY) for path in self.own_paths):
            raise ConfigError(f"own_paths is {list(self.own_paths)}; it has to hold names of paths")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCriteria:
    """What a class of paths has to show. None: not demanded."""

    name: str
    match: tuple[str, ...]  # names of paths; "*": every path that no other class names
    pool: Pool
    min_n: int  # distinct items below which nothing is decided
    misleading: float | None = None  # most that the upper bound of the misleading rate may be
    abstention: float | None = None  # most that the upper bound of the abstention rate may be
    f1: float | None = None  # least that the lower bound of mean BERTScore F1 may be, of answers that did not abstain
    misleading_margin: float | None = None  # most that the misleading rate may exceed the healthy path's
    f1_margin: float | None = None  # most that BERTScore F1 may fall below the healthy path's, same items
    optional: bool = False  # whether a run may pass in which no path of the class served

    def __post_init__(self) -> None:
        if not self.match or not all(isinstance(path, str) and path for path in self.match):
            raise ConfigError(f"match is {list(self.match)}; it has to name at least one path")
        require_count("min_n", self.min_n, 1)
        for name in ("misleading", "abstention", "f1", "misleading_margin", "f1_margin"):
            if getattr(self, name) is not None:
                require_share(name, getattr(self, name))
        if not isinstance(self.optional, bool):
            raise ConfigError(f"optional is {self.optional!r}; it has to be true or false")
        if self.misleading is None and self.misleading_margin is None:
            raise ConfigError("neither misleading nor misleading_margin is there: such a class could never fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineCriteria:
    """What a run has to show against an earlier one (`--baseline`): the same requests, degraded answers only."""

    pool: Pool  # the cells that have to be shown no worse; the path is that of this run
    min_n: int
    misleading_margin: float
    f1_margin: float

    def __post_init__(self) -> None:
        require_count("min_n", self.min_n, 1)
        require_share("misleading_margin", self.misleading_margin)
        require_share("f1_margin", self.f1_margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """All of it."""

    run: RunCriteria
    classes: tuple[PathCriteria, ...]
    baseline: BaselineCriteria | None = None

    def __post_init__(self) -> None:
        named = [path for each in self.classes for path in each.match]
        if twice := sorted({path for path in named if named.count(path) > 1}):
            raise ConfigError(f"path {twice[0]!r} is matched twice; each path belongs to one class")
        if ANY not in named:
            raise ConfigError(f'no class matches "{ANY}": a path that no class names would go unjudged')
        if idle := sorted(set(self.run.own_paths) - set(named)):
            raise ConfigError(f"own_paths holds {idle[0]!r}, which no class matches; name it in the match of one")

    @property
    def demands_f1(self) -> bool:
        """Whether a class has a limit on BERTScore."""
        return any(c.f1 is not None or c.f1_margin is not None for c in self.classes)

    def class_of(self, path: str) -> PathCriteria:
        """The class that names the path, else the one that takes any."""
        named = [each for each in self.classes if path in each.match]
        return named[0] if named else next(each for each in self.classes if ANY in each.match)


def load_criteria(path: Path) -> Criteria:
    """Raises ConfigError with file and key: unknown, missing, of a wrong type, NaN, or out of its range."""
    if not path.is_file():
        shipped = ", ".join(sorted(file.stem for file in GATES.glob("*.toml")))
        raise ConfigError(f"{path}: no such criteria file; shipped are {shipped} (in {GATES.name}/)")
    file = TomlFile.read(path)
    require_keys(file, (), file.content, known={"run", "paths", "baseline"}, needed={"run", "paths"})
    paths = require_table(f"{file.place('paths')}: paths", file.content["paths"])
    run = run_criteria(file, file.content["run"])
    classes = [path_class(file, name, table) for name, table in paths.items()]
    for each in classes:
        require_known(file, each, (*KNOWN_PATHS, *run.own_paths))
    baseline = file.content.get("baseline")
    against = None if baseline is None else baseline_criteria(file, baseline)
    try:
        return Criteria(run=run, classes=tuple(classes), baseline=against)
    except ConfigError as error:
        raise ConfigError(f"{file.place('paths')}: {error}") from None


def run_criteria(file: TomlFile, table: Any) -> RunCriteria:
    """`[run]`."""
    keys = ("run",)
    values = require_table(f"{file.place(*keys)}: [run]", table)
    return built(RunCriteria, file, keys, {**values, **typed(file, keys, values)})


def baseline_criteria(file: TomlFile, table: Any) -> BaselineCriteria:
    """`[baseline]`."""
    keys = ("baseline",)
    values = require_table(f"{file.place(*keys)}: [baseline]", table)
    return built(BaselineCriteria, file, keys, {**values, **typed(file, keys, values)})


def require_known(file: TomlFile, one: PathCriteria, known: Sequence[str]) -> None:
    """Raises ConfigError for a name in `match` that is no path: its answers would be judged by another class."""
    if unknown := [path for path in one.match if path not in (ANY, *known)]:
        near = get_close_matches(unknown[0], known, n=1)
        meant = f"; is it {near[0]!r}?" if near else ""
        place = file.place_of(("paths", one.name), "match")
        raise ConfigError(
            f"{place}: match names {unknown[0]!r}, which is no known path{meant} (known: "
            f"{', '.join(known)}); name a path of a gateway of your own in [run] own_paths, too"
        )


def path_class(file: TomlFile, name: str, table: Any) -> PathCriteria:
    """One `[paths.NAME]`."""
    keys = ("paths", name)
    values = {**require_table(f"{file.place(*keys)}: [paths.{name}]", table), "name": name}
    return built(PathCriteria, file, keys, {**values, **typed(file, keys, values)})


def shipped(name: str) -> Path:
    """The criteria that come with the package: `cpu` or `gpu`."""
    return GATES / f"{name}.toml"


def typed(file: TomlFile, table: tuple[str, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as tuples and names as enums."""
    found: dict[str, Any] = {}
    for name in {"match", "own_paths"} & set(values):
        if not isinstance(values[name], list):
            raise ConfigError(f"{file.place_of(table, name)}: {name} is {values[name]!r}; it has to be a list of paths")
        found[name] = tuple(values[name])
    if "pool" in values:
        try:
            found["pool"] = Pool(values["pool"])
        except ValueError:
            place = file.place_of(table, "pool")
            raise ConfigError(f"{place}: pool is {values['pool']!r}; it has to be one of {', '.join(Pool)}") from None
    return found


Section = TypeVar("Section", RunCriteria, PathCriteria, BaselineCriteria)


def built(kind: type[Section], file: TomlFile, table: tuple[str, ...], values: Any) -> Section:
    checked = require_table(f"{file.place(*table)}: [{'.'.join(table)}]", values)
    named = fields(kind)
    needed = {f.name for f in named if f.default is MISSING}
    shown = {f.name for f in named} - {"name"}
    require_keys(file, table, {k: v for k, v in checked.items() if k != "name"}, known=shown, needed=needed - {"name"})
    try:
        return kind(**checked)
    except ConfigError as error:
        raise ConfigError(f"{file.place_of(table, error)}: {error}") from None


def require_table(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{place} has to be a table, got {value!r}")
    return value


def require_keys(
    file: TomlFile, table: tuple[str, ...], values: Mapping[str, Any], *, known: set[str], needed: set[str]
) -> None:
    named = f": [{'.'.join(table)}]" if table else ""
    if unknown := sorted(set(values) - known):
        place = f"{file.place(*table, unknown[0])}{named}"
        raise ConfigError(f"{place}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    if missing := sorted(needed - set(values)):
        raise ConfigError(f"{file.place(*table)}{named}: {missing[0]} is missing; a threshold has no default")


def require_share(name: str, value: Any) -> None:
    """Raises ConfigError unless `value` is a number in [0, 1]."""
    unbounded = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or unbounded:
        raise ConfigError(f"{name} is {value!r}; it has to be a number in [0, 1]")
    if not 0 <= value <= 1:
        hint = " (a share, not a percent)" if value > 1 else ""
        raise ConfigError(f"{name} is {value}; it has to be in [0, 1]{hint}")


def require_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} is {value!r}; it has to be a whole number, at least {least}")
