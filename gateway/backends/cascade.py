"""Which paths a request may take, in order. Each is named once, so each is tried once."""

from collections.abc import Container, Sequence
from functools import lru_cache

from gateway.policy import Paths
from gateway.record import Level


def target_of(paths: Paths, backends: Sequence[str], *, asked: str | None) -> str:
    """The backend that a healthy gateway would ask: the one asked for, else the order's first."""
    if asked is not None:
        return asked
    return next((name for name in paths.order if name in backends), backends[0])


@lru_cache(maxsize=256)
def plan(paths: Paths, backends: tuple[str, ...], *, level: Level, asked: str | None) -> tuple[str, ...]:
    """The paths to try. Degraded: the small backends first. Critical: no backend at all.

    Paths without a model that the order names before its first backend stay first: gatekeepers.
    """
    models = tuple(name for name in paths.order if name in backends)
    others = tuple(name for name in paths.order if name not in backends)
    if level is Level.CRITICAL:
        return others if paths.at_critical == "answer" else ()
    if asked is not None:
        models = (asked, *(name for name in models if name != asked))
    if level is Level.DEGRADED:
        models = _first(paths.small_first, models)
    first = next((index for index, name in enumerate(paths.order) if name in backends), len(others))
    front = paths.order[:first]
    return (*front, *models, *(name for name in others if name not in front))


def _first(front: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return (*(name for name in front if name in names), *(name for name in names if name not in front))


def with_first(paths: Sequence[str], backends: Container[str], front: Sequence[str]) -> tuple[str, ...]:
    """The same paths with the backends in `front` before the other backends; all else stays in its place."""
    models = iter(_first(front, [name for name in paths if name in backends]))
    return tuple(next(models) if name in backends else name for name in paths)


def front_of(paths: Sequence[str], backends: Container[str]) -> tuple[str, ...]:
    """The paths without a model that come before the first backend; () where there is no backend at all."""
    first = next((index for index, name in enumerate(paths) if name in backends), 0)
    return tuple(paths[:first])
