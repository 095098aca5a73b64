"""Whole numbers of a model's config."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import ConfigError
from gateway.memory.families import shown

MOST = 10**9  # of anything: no model has as many, and no product of such numbers is too much to print


def whole(config: Mapping[str, Any], field: str, *, most: int = MOST) -> int:
    """Raises ConfigError unless it is there, and 1 or more."""
    value = config.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= most:
        raise ConfigError(f"model config: {field} is {shown(value)}, must be a whole number from 1 to {most}")
    return value


def count(config: Mapping[str, Any], field: str, *, most: int = MOST) -> int:
    """0 where the config does not say it. Raises ConfigError unless it is 0 or more."""
    value = config.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ConfigError(f"model config: {field} is {shown(value)}, must be a whole number from 0 to {most}")
    return value
