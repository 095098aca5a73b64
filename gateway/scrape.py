"""`GET /metrics`: gauges that mirror other state are brought up to date, then all is told in the format asked for."""

import asyncio
import re
from collections.abc import Iterable
from typing import Any

from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder

from gateway.backends.breaker import State
from gateway.deferred.job import StoreError
from gateway.deferred.store import JobStore
from gateway.runtime import Runtime
from gateway.telemetry import Event
from gateway.wire import Receive, Send, respond

BREAKER_VALUES = {State.CLOSED: 0, State.HALF_OPEN: 1, State.OPEN: 2}
_VERSION = re.compile(r"version=[0-9]{1,4}(\.[0-9]{1,4}){0,2}")


class Scrape:
    """The ASGI endpoint. OpenMetrics, which alone has exemplars, for those who accept it; else Prometheus' text."""

    def __init__(self, runtime: Runtime, store: JobStore | None) -> None:
        self._runtime = runtime
        self._store = store

    async def __call__(self, scope: Any, _receive: Receive, send: Send) -> None:
        mirror(self._runtime)
        if self._store is not None:
            await self._mirror_jobs(self._store)
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept").decode("latin-1")
        encoder, kind = choose_encoder(readable(accept))
        body = encoder(self._runtime.metrics.registry)
        await respond(send, 200, body, [(b"content-type", kind.encode())])

    async def _mirror_jobs(self, store: JobStore) -> None:
        """A file that cannot be read leaves the last values, and a line in the log."""
        self._runtime.metrics.asynchronous.unsaved.set(store.unsaved)
        try:
            standing = await asyncio.to_thread(store.standing)
        except StoreError as error:
            self._runtime.log.write(Event(event="async_unavailable", detail=str(error)))
            return
        for status, count in standing.jobs.items():
            self._runtime.metrics.asynchronous.jobs.labels(status).set(count)
        self._runtime.metrics.asynchronous.oldest.set(standing.oldest_s)


def readable(accept: str) -> str:
    """The header without the formats whose version is no version: the library's own reading of it fails at them."""
    return ",".join(
        one
        for one in accept.split(",")
        if all(_VERSION.fullmatch(part.strip()) for part in one.split(";") if part.strip().startswith("version="))
    )


def collected(runtime: Runtime) -> Iterable[Metric]:
    """What a scrape would tell now."""
    mirror(runtime)
    return runtime.metrics.registry.collect()


def mirror(runtime: Runtime) -> None:
    """Set every gauge that is not counted as things happen."""
    metrics = runtime.metrics
    metrics.set_level(runtime.health.level)
    metrics.set_ratios()
    metrics.in_flight.set(runtime.in_flight)
    metrics.policy_version.set(runtime.policies.version)
    metrics.policy_refused.set(runtime.policies.refused is not None)
    cutting = runtime.pipeline.shaper.cutters.view()
    metrics.cutting_running.set(cutting.running)
    metrics.cutting_waiting.set(cutting.waiting)
    for backend in runtime.backends.values():
        view = backend.lane.view()
        metrics.breaker.labels(backend.name).set(BREAKER_VALUES[backend.breaker.state])
        metrics.set_trips(backend.name, backend.breaker.trips)
        metrics.running.labels(backend.name).set(view.running)
        metrics.waiting.labels(backend.name).set(view.waiting)
        metrics.tokenizer.labels(backend.name).set(backend.tokenizer is not None)
        if backend.ledger is not None:
            metrics.occupancy.labels(backend.name).set(backend.ledger.occupancy)
    _mirror_manifests(runtime)
    metrics.drift_kl.clear()  # features that the policy names no more
    metrics.drift_alert.clear()
    for feature, watch in runtime.drift.watches().items():
        metrics.drift_kl.labels(feature).set(watch.kl)
        metrics.drift_alert.labels(feature).set(watch.alert)


def _mirror_manifests(runtime: Runtime) -> None:
    metrics, holder = runtime.metrics, runtime.manifests
    active = {one.name for one in holder.active}
    metrics.manifests_refused.set(holder.refused is not None)
    metrics.manifest.clear()  # those that are gone
    for one in holder.current.manifests:
        metrics.manifest.labels(one.name).set(one.name in active)
