"""Asynchronous requests in the metrics: what became of them, how many there are, and how long the oldest has waited."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter, Gauge


class AsyncEvent(StrEnum):
    """What happens to an asynchronous request; all but the first are ends."""

    ACCEPTED = "accepted"
    FINISHED = "finished"  # there is an answer to fetch
    FAILED = "failed"  # there is none: an error or an honest refusal is fetched instead
    LOST = "lost"  # the gateway died while it ran, twice
    EXPIRED = "expired"  # it waited for all its time to live


class AsyncMetrics:
    """`truefall_async_total` counts what this gateway did; the gauges show the file, which others may share."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter("truefall_async", "What became of asynchronous requests", ("what",), registry=registry)
        self.jobs = Gauge(
            "truefall_async_jobs", "Asynchronous requests in the file, by status", ("status",), registry=registry
        )
        self.oldest = Gauge(
            "truefall_async_oldest_seconds", "Age of the oldest one that is not answered yet", registry=registry
        )
        self.unsaved = Gauge(
            "truefall_async_unsaved", "Answers that this gateway alone holds, as the file takes none", registry=registry
        )
        for what in AsyncEvent:
            self._events.labels(what)  # there from the start, at 0

    def count(self, what: AsyncEvent, times: int = 1) -> None:
        """Safe in any thread."""
        self._events.labels(what).inc(times)
