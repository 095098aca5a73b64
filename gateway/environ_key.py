"""The key that the gateway sends to a server, from the environment and never from a file."""

from collections.abc import Mapping

from gateway.errors import ConfigError


def key_from(environ: Mapping[str, str], variable: str | None, *, owner: str) -> str | None:
    """The key of `owner`; None where no variable is named. Raises ConfigError where it holds none that can be sent."""
    if variable is None:
        return None
    where = f"{owner}: the variable {variable} (api_key_env)"
    if variable not in environ:
        raise ConfigError(f"{where} is not set")
    key = environ[variable]
    if not key:
        raise ConfigError(f"{where} is empty")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{where} holds a line break or another character that no header may hold")
    return key
