"""What `truefall chaos list` and `explain` say: experiments as tests and as files, and the faults."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults.catalogue import CATALOGUE
from faults.catalogue_text import explanation, listing
from faults.errors import BadExperiment
from faults.experiment_file import load_experiment
from faults.experiment_text import explained
from harness.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One experiment: a test function, or a YAML file."""

    name: str
    place: Path
    about: str
    source: str = ""  # of a test


def listed(folders: list[Path]) -> list[Listed]:
    """All experiments in these folders, by file; a YAML file that cannot be read says why."""
    files = sorted({file for folder in folders for file in (folder.rglob("*") if folder.is_dir() else [folder])})
    tests = [found for file in files if file.match("test_*.py") for found in tests_of(file)]
    return tests + [file_of(file) for file in files if file.suffix in (".yaml", ".yml", ".json")]


def tests_of(file: Path) -> Iterator[Listed]:
    text = file.read_text("utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            about = (ast.get_docstring(node) or node.name.removeprefix("test_").replace("_", " ")).splitlines()[0]
            yield Listed(name=node.name, place=file, about=about, source=ast.get_source_segment(text, node) or "")


def file_of(file: Path) -> Listed:
    try:
        return Listed(name=file.stem, place=file, about=load_experiment(file).title)
    except BadExperiment as error:
        return Listed(name=file.stem, place=file, about=f"cannot be read: {error}")


def list_text(folders: list[Path]) -> str:
    found = listed(folders)
    width = max((len(one.name) for one in found), default=0)
    lines = ["Experiments"]
    lines += [f"  {one.name:<{width}}  {one.place}" for one in found] or [f"  none in {places(folders)}"]
    return "\n".join([*lines, "", listing()])


def places(folders: list[Path]) -> str:
    """Where was looked, in words."""
    return " or ".join(map(str, folders)) or "this folder; run in the project's root, or name --experiments"


def explain_text(name: str, folders: list[Path], *, seed: int) -> str:
    """One fault, experiment file or test. Raises ConfigError with names that are near."""
    if name in CATALOGUE:
        return explanation(name)
    if Path(name).is_file():
        return explained_file(Path(name), seed)
    found = listed(folders)
    for one in found:
        if name in (one.name, one.name.removeprefix("test_")):
            return f"{one.about}\n  {one.place}\n\n{one.source}" if one.source else explained_file(one.place, seed)
    import difflib

    known = [*CATALOGUE, *(one.name for one in found)]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`truefall chaos list` shows all"
    raise ConfigError(f"{name!r} is no fault, experiment or file; {hint}")


def explained_file(file: Path, seed: int) -> str:
    experiment = load_experiment(file)
    return explained(experiment, seed if experiment.seed is None else experiment.seed)
