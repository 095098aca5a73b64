"""The toxics of one proxy, in order, and the live links they act on."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from random import Random

from faults.toxiproxy.errors import toxic_exists, toxic_not_found
from faults.toxiproxy.link import Link
from faults.toxiproxy.stage import Evidence, Start, Touch
from faults.toxiproxy.toxics import Effect

REMEMBERED = 64  # removed toxics whose evidence can still be asked for


class Direction(StrEnum):
    """Which way bytes go; chains are listed in this order."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


@dataclass(slots=True, kw_only=True)
class Toxic:
    """One toxic of a proxy, as it is now."""

    name: str
    stream: Direction
    effect: Effect
    toxicity: float = 1.0  # share of connections on which it acts, in [0, 1]
    ttl_ms: int | None = None  # removed by the server after this time; None: stays
    evidence: Evidence = field(default_factory=Evidence)
    position: int = 0  # in the chain; set when it is added
    expiry: asyncio.TimerHandle | None = None


@dataclass(slots=True, eq=False)
class LiveLink:
    """A link and the key of its random numbers: the same seed, proxy, connection and direction draw the same."""

    link: Link
    direction: Direction
    key: str

    def hit(self, toxic: Toxic) -> bool:
        """Whether this toxic acts here. A toxicity of 0 never does, 1 always."""
        return Random(f"{self.key}/{toxic.name}/toxicity").random() < toxic.toxicity

    def place(self, toxic: Toxic, now_s: float) -> None:
        rng = Random(f"{self.key}/{toxic.name}")
        start = Start(now_s, rng, Touch(toxic.evidence), self.link.flowing)
        self.link.place(toxic.position, toxic.effect.stage(start))


class Chain:
    """Every change acts on the live links at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._toxics: dict[str, Toxic] = {}
        self._links: set[LiveLink] = set()
        self._next_position = 0
        self.removed: deque[Toxic] = deque(maxlen=REMEMBERED)

    def listed(self) -> list[Toxic]:
        """Upstream first, then downstream, each in the order of creation."""
        return [toxic for direction in Direction for toxic in self._toxics.values() if toxic.stream is direction]

    def find(self, name: str) -> Toxic:
        try:
            return self._toxics[name]
        except KeyError:
            raise toxic_not_found() from None

    def __contains__(self, name: object) -> bool:
        return name in self._toxics

    def add(self, toxic: Toxic) -> None:
        if toxic.name in self._toxics:
            raise toxic_exists()
        toxic.position = self._next_position
        self._next_position += 1
        self._toxics[toxic.name] = toxic
        self._set_expiry(toxic)
        for live in self._affected(toxic):
            if live.hit(toxic):
                live.place(toxic, self._loop.time())

    def update(self, toxic: Toxic, *, effect: Effect, toxicity: float, ttl_ms: int | None) -> None:
        """Change a toxic; `ttl_ms` starts its time anew, None leaves it."""
        toxic.effect = effect
        toxic.toxicity = toxicity
        if ttl_ms is not None:
            toxic.ttl_ms = ttl_ms
            self._set_expiry(toxic)
        for live in self._affected(toxic):
            if not live.hit(toxic):
                live.link.displace(toxic.position)
            elif not live.link.retune(toxic.position, effect):
                live.place(toxic, self._loop.time())

    def remove(self, name: str) -> Toxic:
        toxic = self.find(name)
        del self._toxics[name]
        self.removed.append(toxic)
        if toxic.expiry is not None:
            toxic.expiry.cancel()
        for live in self._affected(toxic):
            live.link.displace(toxic.position)
        return toxic

    def clear(self) -> None:
        for name in list(self._toxics):
            self.remove(name)

    def attach(self, live: LiveLink) -> None:
        """A link begins: it gets the stages of the toxics that act on it."""
        self._links.add(live)
        for toxic in self._toxics.values():
            if toxic.stream is live.direction and live.hit(toxic):
                live.place(toxic, self._loop.time())

    def detach(self, live: LiveLink) -> None:
        self._links.discard(live)

    def _affected(self, toxic: Toxic) -> list[LiveLink]:
        return [live for live in self._links if live.direction is toxic.stream]

    def _set_expiry(self, toxic: Toxic) -> None:
        if toxic.expiry is not None:
            toxic.expiry.cancel()
        if toxic.ttl_ms is not None:
            toxic.expiry = self._loop.call_later(toxic.ttl_ms / 1000, self._expire, toxic)

    def _expire(self, toxic: Toxic) -> None:
        if self._toxics.get(toxic.name) is toxic:
            self.remove(toxic.name)
