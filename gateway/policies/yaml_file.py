"""Strict YAML: each document becomes a manifest, or one error that names file, line, key and what would be right."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from gateway.errors import ConfigError
from gateway.policies.manifest import KIND, DegradationPolicy
from gateway.strict import KeyPath, convert, dotted

Lines = dict[KeyPath, int]
_MAX_DEPTH = 32


class Document(NamedTuple):
    """One document: its plain value, and on which line, from 1, each of its keys stands."""

    value: Any
    lines: Lines


def parse(text: str, *, source: str) -> tuple[DegradationPolicy, ...]:
    """Every manifest in YAML (or JSON) text, of one or several documents. Raises ConfigError."""
    return tuple(_manifest(document, source) for document in _documents(text, source))


def _manifest(document: Document, source: str) -> DegradationPolicy:
    def place(path: KeyPath) -> str:
        for end in range(len(path), -1, -1):
            if path[:end] in document.lines:
                return f"{source}:{document.lines[path[:end]]}"
        return source

    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    if kind != KIND:
        raise ConfigError(f"{place(('kind',))}: kind = {kind!r}, must be {KIND!r}")
    return convert(document.value, DegradationPolicy, place=place)


def _documents(text: str, source: str) -> list[Document]:
    try:
        return list(_loaded(yaml.SafeLoader(text), source))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{source}{line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None


def _loaded(loader: Any, source: str) -> Iterator[Document]:
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is None:
                continue
            lines: Lines = {}
            _note_lines(node, (), lines, source, set())
            value = loader.construct_document(node)
            if value is not None:
                yield Document(value, lines)
    finally:
        loader.dispose()


def _note_lines(node: yaml.Node, path: KeyPath, lines: Lines, source: str, seen: set[int]) -> None:
    """Fill `lines`. Raises ConfigError for what plain YAML would let pass: a key twice, an alias, too deep nesting."""
    at = f"{source}:{node.start_mark.line + 1}"
    if id(node) in seen:
        raise ConfigError(f"{at}: an alias (*name) to this place; write the value out")
    seen.add(id(node))
    if len(path) > _MAX_DEPTH:
        raise ConfigError(f"{at}: nested more than {_MAX_DEPTH} deep")
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, inner in enumerate(node.value):
            _note_lines(inner, (*path, index), lines, source, seen)
    elif isinstance(node, yaml.MappingNode):
        for key, inner in node.value:
            here = (*path, str(key.value))
            if here in lines:
                line = key.start_mark.line + 1
                raise ConfigError(f"{source}:{line}: key {dotted(here)!r} is there twice, first on line {lines[here]}")
            lines[here] = key.start_mark.line + 1
            _note_lines(inner, here, lines, source, seen)
