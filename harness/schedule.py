"""Plan a run: seed, experiments and items in, trials with their ids out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from evalsets.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Dose:
    """One fault, its parameters, and the backend it hits."""

    fault: str  # name in the fault catalogue
    target: str = "primary"
    params: Mapping[str, Any] = field(default_factory=dict)


class Scope(StrEnum):
    """Which items an experiment sends."""

    SAMPLE = "sample"  # the profile's items for a fault
    BASELINE = "baseline"  # the profile's items for the healthy baseline; they hold the sample
    ALL = "all"  # every item of the set: for experiments that reach no model


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What is injected while which items are sent. No dose: the steady state itself, the healthy baseline."""

    name: str
    doses: tuple[Dose, ...] = ()
    concurrency: int = 1  # requests in flight
    stream_share: float = 0.3  # share of requests that ask for a stream, in [0, 1]
    recovery_limit_s: float = 60.0  # how long the primary may take to answer again after the fault
    scope: Scope = Scope.SAMPLE

    @property
    def fault(self) -> str:
        """The name that rows carry."""
        return "+".join(dose.fault for dose in self.doses) or "none"

    @property
    def target(self) -> str | None:
        return "+".join(sorted({dose.target for dose in self.doses})) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """One request that will be sent."""

    id: str  # "<experiment>/<item>", also the key of every per-request draw of a fault
    item_id: str
    stream: bool


def plan(
    seed: int, experiment: Experiment, items: Sequence[Item], *, most: int | None = None
) -> tuple[PlannedTrial, ...]:
    """The trials of one experiment, in their order. The same seed plans the same trials.

    With `most`, the same `most` items are taken for every experiment of a seed, so that each answer under a fault
    has its healthy counterpart.
    """
    chosen = sample(seed, items, most)
    rng = Random(f"{seed}/{experiment.name}")
    streams = [rng.random() < experiment.stream_share for _ in chosen]
    planned = [
        PlannedTrial(id=f"{experiment.name}/{item.id}", item_id=item.id, stream=stream)
        for item, stream in zip(chosen, streams, strict=True)
    ]
    rng.shuffle(planned)
    return tuple(planned)


def sample(seed: int, items: Sequence[Item], most: int | None) -> list[Item]:
    """The first `most` of a seeded order, which keeps the share of each language; all when `most` is None."""
    if most is None or most >= len(items):
        return list(items)
    ordered: list[Item] = []
    queues = {lang: [item for item in items if item.lang == lang] for lang in sorted({item.lang for item in items})}
    for lang, queue in queues.items():
        Random(f"{seed}/sample/{lang}").shuffle(queue)
    sizes = {lang: len(queue) for lang, queue in queues.items()}
    while len(ordered) < most:
        lang = max(queues, key=lambda name: (len(queues[name]) / sizes[name], name))
        ordered.append(queues[lang].pop())
    return ordered
