"""Metrics for Prometheus, and one line of JSON per request; text of prompts and answers only if asked for."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TextIO

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gateway.deferred.exposed import AsyncMetrics
from gateway.errors import BadRequest
from gateway.record import Attempt, DegradationRecord, Level

_LATENCY_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0)
_FLUSH_S = 0.05
_WINDOW = 1000  # requests that the ratios look back on
_LEVELS = {Level.HEALTHY: 0, Level.DEGRADED: 1, Level.CRITICAL: 2}


class RequestLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log."""

    event: str
    id: str
    status: int
    level: str
    path: str | None
    reasons: tuple[str, ...]
    duration_ms: float
    stream: bool
    attempts: tuple[Attempt, ...] = ()
    error: str | None = None
    policy: str | None = None  # the manifest that forced the path
    trace_id: str | None = None  # where the request is traced
    question: str | None = None  # only with telemetry.log_text, as the next one
    answer: str | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the log that is not a request's."""

    event: str
    detail: str = ""
    backend: str = ""


class Metrics:
    """The gateway's own registry; gauges that mirror other state are set by `Metrics.mirror` at each scrape."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "truefall_requests", "Requests answered", ("status", "level", "path", "stream"), registry=registry
        )
        self._rejected = Counter(
            "truefall_rejected_requests",
            "Requests answered with an error because of the client, or in its name by a backend",
            ("status", "reason"),
            registry=registry,
        )
        self._reasons = Counter("truefall_degrade_reasons", "Why answers were degraded", ("reason",), registry=registry)
        self._attempts = Counter(
            "truefall_attempts", "Tries at backends", ("backend", "outcome", "reason"), registry=registry
        )
        self._dropped = Counter(
            "truefall_dropped_prompt_tokens", "Prompt tokens cut or compressed away", ("how",), registry=registry
        )
        self._latency = Histogram(
            "truefall_request_seconds",
            "From the request to its whole answer",
            ("path",),
            buckets=_LATENCY_S,
            registry=registry,
        )
        self._first_token = Histogram(
            "truefall_first_token_seconds", "Streams: until the first token", buckets=_LATENCY_S, registry=registry
        )
        self._degraded = Gauge(
            "degraded_request_ratio", f"Share of degraded among the last {_WINDOW} requests", registry=registry
        )
        self._templates = Gauge(
            "fallback_template_hit_rate", f"Share of templates among the last {_WINDOW} requests", registry=registry
        )
        self._kv_failures = Gauge(
            "kv_cache_allocation_failure_rate",
            f"Share refused for want of KV-cache memory among the last {_WINDOW} requests",
            registry=registry,
        )
        self._lost = Counter(
            "truefall_dropped", "Answers that had to do without", ("what",), registry=registry
        )  # characters, max_tokens, tools, schema or validation
        self._forced = Counter("truefall_forced", "Requests that a manifest forced", ("policy",), registry=registry)
        self.manifest = Gauge("truefall_manifest_active", "1 while in force", ("policy",), registry=registry)
        self.manifests_refused, self.policy_refused = (
            Gauge(f"truefall_{what}_refused", f"1 while the newest {what} is not in force", registry=registry)
            for what in ("manifests", "policy")
        )
        self.policy_version = Gauge("truefall_policy_version", "Reloads of the policy, from 1", registry=registry)
        self.drift_kl = Gauge("truefall_drift_kl", "Divergence from the baseline", ("feature",), registry=registry)
        self.drift_alert = Gauge("truefall_drift_alert", "1 while drifted", ("feature",), registry=registry)
        self.asynchronous = AsyncMetrics(registry)
        self.in_flight = Gauge("truefall_in_flight", "Requests that are not answered yet", registry=registry)
        self._trips = Counter("truefall_breaker_trips", "Openings of a breaker", ("backend",), registry=registry)
        self._trips_told: dict[str, int] = {}
        self.level = Gauge("truefall_level", "0 healthy, 1 degraded, 2 critical", registry=registry)
        self.breaker = Gauge("truefall_breaker_state", "0 closed, 1 half-open, 2 open", ("backend",), registry=registry)
        self.cutting_running, self.cutting_waiting = (
            Gauge(f"truefall_cutting_{name}", text, registry=registry)
            for name, text in (("running", "Long prompts being cut"), ("waiting", "Long prompts waiting to be cut"))
        )
        self.running, self.waiting, self.tokenizer = (
            Gauge(f"truefall_{name}", text, ("backend",), registry=registry)
            for name, text in (
                ("running", "Calls running"),
                ("waiting", "Requests waiting for a turn"),
                ("tokenizer_degraded", "1 while the tokenizer loses text"),
            )
        )
        self.occupancy = Gauge("truefall_ledger_occupancy", "Reserved share of memory", ("backend",), registry=registry)
        self._recent: deque[tuple[bool, bool, bool]] = deque(maxlen=_WINDOW)
        self._children: dict[tuple[int, str, str, bool], tuple[Counter, Histogram]] = {}  # labels() is slow
        self._tries: dict[tuple[str, str, str | None], Counter] = {}

    def attempted(self, attempt: Attempt) -> None:
        key = (attempt.path, attempt.outcome, attempt.reason)
        child = self._tries.get(key)
        if child is None:
            child = self._tries[key] = self._attempts.labels(attempt.path, attempt.outcome, attempt.reason or "")
        child.inc()

    def answered(
        self,
        record: DegradationRecord,
        *,
        status: int,
        stream: bool,
        took_s: float,
        path: str,
        exemplar: dict[str, str] | None = None,
    ) -> None:
        """One request is over; `path` is what served, the target itself on a healthy answer."""
        key = (status, record.level, path, stream)
        children = self._children.get(key)
        if children is None:
            requests = self._requests.labels(str(status), record.level, path, "1" if stream else "0")
            children = self._children[key] = (requests, self._latency.labels(path))
        children[0].inc()
        children[1].observe(took_s, exemplar)
        if record.level is not Level.HEALTHY:
            self._degradation(record)
        full = "memory_full" in record.reasons
        self._recent.append((record.level is not Level.HEALTHY, record.path == "template", full))

    def _degradation(self, record: DegradationRecord) -> None:
        for reason in record.reasons:
            self._reasons.labels(reason).inc()
        for how, tokens in (("cut", record.dropped.prompt_tokens), ("compressed", record.dropped.compressed_tokens)):
            if tokens:
                self._dropped.labels(how).inc(tokens)
        if record.policy is not None:
            self._forced.labels(record.policy).inc()
        dropped = record.dropped
        for what, lost in (
            ("characters", dropped.characters),
            ("max_tokens", dropped.max_tokens),
            ("tools", dropped.tools),
            ("schema", dropped.response_schema),
            ("validation", dropped.validation),
        ):
            if lost:
                self._lost.labels(what).inc()

    def rejected(self, error: BadRequest) -> None:
        """A 4xx of the gateway's own."""
        self._rejected.labels(str(error.status), error.reason).inc()

    def first_token(self, took_s: float, exemplar: dict[str, str] | None = None) -> None:
        self._first_token.observe(took_s, exemplar)

    def set_trips(self, backend: str, trips: int) -> None:
        """Bring a counter that is kept elsewhere up to date."""
        self._trips.labels(backend).inc(trips - self._trips_told.get(backend, 0))
        self._trips_told[backend] = trips

    def set_level(self, level: Level) -> None:
        self.level.set(_LEVELS[level])

    def set_ratios(self) -> None:
        """Bring the three ratios up to date; 0 before the first request."""
        count = max(1, len(self._recent))
        self._degraded.set(sum(one[0] for one in self._recent) / count)
        self._templates.set(sum(one[1] for one in self._recent) / count)
        self._kv_failures.set(sum(one[2] for one in self._recent) / count)


class RequestLog:
    """Writes lines to `out`, several at once; None switches it off."""

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self._encode = msgspec.json.Encoder().encode
        self._waiting: list[bytes] = []
        self.mask: Callable[[bytes], bytes] | None = None  # takes keys out of a line

    def write(self, line: msgspec.Struct) -> None:
        """Keep a line; it is written within a tenth of a second."""
        if self._out is None:
            return
        raw = self._encode(line)
        self._waiting.append(raw if self.mask is None else self.mask(raw))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(_FLUSH_S, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        if self._out is not None and self._waiting:
            lines, self._waiting = self._waiting, []
            self._out.write(b"\n".join(lines).decode() + "\n")
            self._out.flush()
