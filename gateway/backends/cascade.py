"""Which paths a request may take, in order. Each is named once, so each is tried once."""

from collections.abc import Sequence

from gateway.policy import Paths
from gateway.record import Level


def target_of(paths: Paths, backends: Sequence[str], *, asked: str | None) -> str:
    """The backend that a healthy gateway would ask: the one asked for, else the order's first."""
    if asked is not None:
        return asked
    return next((name for name in paths.order if name in backends), backends[0])


def plan(paths: Paths, backends: Sequence[str], *, level: Level, asked: str | None) -> tuple[str, ...]:
    """The paths to try. Degraded: the small backends first. Critical: no backend at all."""
    models = tuple(name for name in paths.order if name in backends)
    others = tuple(name for name in paths.order if name not in backends)
    if level is Level.CRITICAL:
        return others if paths.at_critical == "answer" else ()
    if asked is not None:
        models = (asked, *(name for name in models if name != asked))
    if level is Level.DEGRADED:
        models = _first(paths.small_first, models)
    return (*models, *others)


def _first(front: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return (*(name for name in front if name in names), *(name for name in names if name not in front))
