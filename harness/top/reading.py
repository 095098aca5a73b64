"""What `/metrics` and `/admin/state` say at one moment, and what happened between two of them. Pure but for `fetch`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from harness.errors import HarnessError

_TIMEOUT_S = 2.0
_LEVELS = ("healthy", "degraded", "critical")
_BREAKERS = ("closed", "half_open", "open")
Labels = tuple[tuple[str, str], ...]
Series = Mapping[Labels, float]


class Unreachable(HarnessError):  # noqa: N818 - says what is wrong
    """The gateway does not answer, or is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`samples` by name and labels; `state` is None where the admin interface is off or the token is wrong."""

    at_s: float
    samples: Mapping[str, Series] = field(default_factory=dict)
    state: Mapping[str, Any] | None = None

    def value(self, name: str) -> float:
        """A metric without labels; 0 where it is not there."""
        return self.samples.get(name, {}).get((), 0.0)

    @property
    def level(self) -> str:
        return _LEVELS[int(self.value("truefall_level"))]

    def breaker(self, backend: str) -> str:
        state = self.samples.get("truefall_breaker_state", {}).get((("backend", backend),), 0.0)
        return _BREAKERS[int(state)]

    def backends(self) -> list[str]:
        """In the order of the gateway's config where the state says it."""
        if self.state is not None:
            return list(self.state["backends"])
        return sorted(labels[0][1] for labels in self.samples.get("truefall_breaker_state", {}))


def parse_metrics(text: str) -> Mapping[str, Series]:
    """Prometheus' text format. Raises Unreachable where it is something else."""
    found: dict[str, dict[Labels, float]] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    except ValueError as error:
        raise Unreachable(f"/metrics is not what a gateway says: {error}") from None
    if "truefall_level" not in found:
        raise Unreachable("/metrics has no truefall_level: there is no Truefall gateway at this address")
    return found


async def fetch(session: aiohttp.ClientSession, url: str, *, token: str | None, now_s: float) -> Reading:
    """Raises Unreachable."""
    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    state = None
    try:
        async with session.get(f"{url}/metrics", timeout=timeout) as response:
            samples = parse_metrics(await response.text())
        if token:
            headers = {"Authorization": f"Bearer {token}"}
            async with session.get(f"{url}/admin/state", timeout=timeout, headers=headers) as response:
                state = await response.json() if response.ok else None
    except (TimeoutError, aiohttp.ClientError, OSError, UnicodeDecodeError) as error:
        raise Unreachable(f"{url} does not answer ({type(error).__name__})") from None
    return Reading(at_s=now_s, samples=samples, state=state)


class PathRate(NamedTuple):
    """One path's part of the traffic."""

    path: str
    per_s: float
    share: float
    p50_ms: float | None
    p95_ms: float | None


def rates(before: Reading, now: Reading, name: str, label: str) -> dict[str, float]:
    """Per second, by one label, between two readings; a counter that fell was begun anew and counts from 0."""
    seconds = now.at_s - before.at_s
    old = before.samples.get(name, {})
    found: dict[str, float] = {}
    for labels, value in now.samples.get(name, {}).items():
        grown = value - old.get(labels, 0.0)
        grown = value if grown < 0 else grown
        key = dict(labels).get(label, "")
        found[key] = found.get(key, 0.0) + (grown / seconds if seconds > 0 else 0.0)
    return found


def path_rates(before: Reading, now: Reading) -> list[PathRate]:
    """The busiest first; paths without traffic between the two are left out."""
    per_s = rates(before, now, "truefall_requests_total", "path")
    total = sum(per_s.values())
    found = [
        PathRate(path, rate, rate / total, quantile_ms(before, now, 0.5, path), quantile_ms(before, now, 0.95, path))
        for path, rate in per_s.items()
        if rate > 0
    ]
    return sorted(found, key=lambda one: (-one.per_s, one.path))


def quantile_ms(before: Reading, now: Reading, share: float, path: str | None = None) -> float | None:
    """From the latency histogram's growth between two readings, of one path or of all; None without requests.

    Linear within a bucket; the last bucket has no upper end, so its lower one is told.
    """
    grown: dict[float, float] = {}
    old = before.samples.get("truefall_request_seconds_bucket", {})
    for labels, value in now.samples.get("truefall_request_seconds_bucket", {}).items():
        named = dict(labels)
        if path in (None, named["path"]):
            bound = float(named["le"])
            step = value - old.get(labels, 0.0)
            grown[bound] = grown.get(bound, 0.0) + (value if step < 0 else step)
    bounds = sorted(grown)
    if not bounds or grown[bounds[-1]] <= 0:
        return None
    wanted = share * grown[bounds[-1]]
    low, count = 0.0, 0.0
    for bound in bounds:
        if grown[bound] >= wanted:
            if math.isinf(bound):
                return low * 1000
            inside = grown[bound] - count
            return (low + (bound - low) * ((wanted - count) / inside if inside > 0 else 1.0)) * 1000
        low, count = bound, grown[bound]
    return low * 1000
