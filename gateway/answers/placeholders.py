"""Placeholders such as `{user.location.lat}` in prepared answers, filled from the request's metadata."""

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)\}")
_MAX_CHARS = 200  # of one value


def fill(text: str, metadata: Mapping[str, Any]) -> str | None:
    """The text with every placeholder filled; None where one has no plain value, since a gap would mislead."""
    values = {path: look_up(metadata, path) for path in placeholders(text)}
    if any(not _is_plain(value) for value in values.values()):
        return None
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), text)


def placeholders(text: str) -> tuple[str, ...]:
    """The dotted paths that `text` wants, in order."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


def look_up(metadata: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path, nested or written as one dotted key; None where there is none."""
    if path in metadata:
        return metadata[path]
    value: Any = metadata
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    return len(str(value).strip()) > 0 and len(str(value)) <= _MAX_CHARS
