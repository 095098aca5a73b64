"""Whether two runs differ in what they show, and not in what they were asked."""

from harness.errors import ConfigError
from harness.store import RunFolder

SAME = ("evalset", "items_sha256", "seed", "profile", "max_tokens")


def require_comparable(first: RunFolder, second: RunFolder, why: str) -> None:
    """Raises ConfigError where items, seed, models or length differ. `why`: what has to be the same, as one is told."""
    ours, theirs = first.meta(), second.meta()
    for key in SAME:
        if ours.get(key) != theirs.get(key):
            raise ConfigError(
                f"{second.path}: {key} is {theirs.get(key)!r} there and {ours.get(key)!r} in {first.path}; {why}"
            )
