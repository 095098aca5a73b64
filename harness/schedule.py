"""Plan a run: seed, experiments and items in, trials with their ids out. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random
from typing import Any

from evalsets.item import Item

ALWAYS_CUT = "long-context"  # the tag of items that no path of a small gateway can take whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Dose:
    """One fault, its parameters, and the backend it hits."""

    fault: str  # name in the fault catalogue
    target: str = "primary"
    params: Mapping[str, Any] = field(default_factory=dict)


class Scope(StrEnum):
    """Which items an experiment sends."""

    FAULT = "fault"  # as many as the profile takes for one fault
    BASELINE = "baseline"  # those of the healthy baseline
    ALL = "all"  # every item of the set: for experiments that reach no model


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What is injected while which items are sent. No dose: the steady state itself, the healthy baseline."""

    name: str
    doses: tuple[Dose, ...] = ()
    concurrency: int = 1  # requests in flight
    stream_share: float = 0.3  # share of requests that ask for a stream, in [0, 1]
    recovery_limit_s: float = 60.0  # how long the primary may take to answer again after the fault
    scope: Scope = Scope.FAULT
    tag: str | None = None  # only items with this tag; None: any

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many items the scopes take; None: all of them."""

    baseline: int | None = None
    fault: int | None = None


def plan(seed: int, experiment: Experiment, items: Sequence[Item], sizes: Sizes) -> tuple[PlannedTrial, ...]:
    """The trials of one experiment, in their order. The same seed plans the same trials.

    A fault's items are drawn from those of the baseline, so that each answer under a fault has its healthy
    counterpart, and anew for each experiment, so that together the experiments see as many items as they can. Items
    that are cut on the healthy path, too, have no such counterpart: who wants them asks for their tag.
    """
    chosen = scoped(seed, experiment, items, sizes)
    rng = Random(f"{seed}/{experiment.name}")
    streams = [rng.random() < experiment.stream_share for _ in chosen]
    planned = [
        PlannedTrial(id=f"{experiment.name}/{item.id}", item_id=item.id, stream=stream)
        for item, stream in zip(chosen, streams, strict=True)
    ]
    rng.shuffle(planned)
    return tuple(planned)


def scoped(seed: int, experiment: Experiment, items: Sequence[Item], sizes: Sizes) -> list[Item]:
    """The items that an experiment sends."""
    if experiment.scope is Scope.ALL:
        return tagged(items, experiment.tag)
    baseline = sample(f"{seed}", items, sizes.baseline)
    if experiment.scope is Scope.BASELINE:
        return tagged(baseline, experiment.tag)
    if experiment.tag is None:
        drawn_from = [item for item in baseline if ALWAYS_CUT not in item.tags] or baseline
    else:
        drawn_from = tagged(baseline, experiment.tag) or tagged(items, experiment.tag)
    return sample(f"{seed}/{experiment.name}", drawn_from, sizes.fault)


def tagged(items: Sequence[Item], tag: str | None) -> list[Item]:
    return [item for item in items if tag is None or tag in item.tags]


def sample(seed: str, items: Sequence[Item], most: int | None) -> list[Item]:
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
