"""A TOML file of ours, read so that every complaint can name the line."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from gateway.damaged import why
from gateway.toml import line_of
from harness.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlFile:
    """Its text and what the text says."""

    path: Path
    text: str
    content: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ConfigError in one line when it cannot be read or is not TOML."""
        try:
            text = path.read_bytes().decode("utf-8")
            content = tomllib.loads(text)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not TOML: {why(error)}") from None
        file = cls(path=path, text=text, content=content)
        if keys := beyond_64_bits(content):
            raise ConfigError(f"{file.place(*keys)}: {'.'.join(keys)} holds a whole number of over 64 bits")
        return file

    def place(self, *keys: str) -> str:
        """`file:line` of a key; of its table when the key is not there; the file alone when neither is."""
        line = line_of(self.text, keys) if keys else None
        return f"{self.path}:{line}" if line else f"{self.path}"

    def place_of(self, table: tuple[str, ...], complaint: object) -> str:
        """`file:line: [table]` for a complaint that begins with a field of that table."""
        field = str(complaint).partition(" ")[0]
        return f"{self.place(*table, field)}: [{'.'.join(table)}]"


def beyond_64_bits(value: Any) -> tuple[str, ...]:
    """The keys to the first whole number that is none in TOML; empty: there is none."""
    for key, held in value.items() if isinstance(value, dict) else ():
        if _is_beyond(held):
            return (key,)
        for one in held if isinstance(held, list) else [held]:
            if inner := beyond_64_bits(one):
                return (key, *inner)
    return ()


def _is_beyond(held: Any) -> bool:
    if isinstance(held, list):
        return any(_is_beyond(one) for one in held)
    return isinstance(held, int) and not -(2**63) <= held < 2**63
