"""What lives as long as the gateway: backends, policy, level and counts, wired together once."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from gateway.answers.completion import Completion
from gateway.attention.probe import AttentionProbe
from gateway.backends.backend import Backend
from gateway.backends.cascade import target_of
from gateway.clock import Clock
from gateway.config import Config
from gateway.decision import Branch
from gateway.draining import Closing
from gateway.drift import Row
from gateway.drift_monitor import DriftMonitor
from gateway.errors import BadRequest
from gateway.fullness import fullness
from gateway.health import HealthFacts, HealthState, may_probe
from gateway.otlp_metrics import OtlpMetrics
from gateway.pipeline import Pipeline
from gateway.policies.caller import caller_of
from gateway.policies.holder import ManifestHolder
from gateway.policies.metrics import Gauges, Outcome
from gateway.policy import Policy, load_policy
from gateway.ranks import nth_largest
from gateway.record import Attempt, DegradationRecord, Level, Reason
from gateway.request import ChatRequest, text_of
from gateway.standing import after, branch_of, ranked, situation
from gateway.telemetry import Event, Metrics, RequestLog
from gateway.tracing import Tracing
from gateway.watched_file import FileWatch
from gateway.work import Deadline, Work

_MINUTE_S = 60.0
_MAX_SAMPLES = 4096


def _p99_s(took_s: Sequence[float]) -> float:
    """The value that one in a hundred exceeds; the largest of fewer than a hundred."""
    above = len(took_s) - min(len(took_s) - 1, int(0.99 * len(took_s)))
    return nth_largest(took_s, above)


@dataclass(slots=True, kw_only=True)
class PolicyHolder:
    """The policy in force; a reload swaps it in one step or leaves it."""

    config: Config
    watch: FileWatch | None  # of the file that `current` is from; None: the default policy
    current: Policy
    version: int = 1
    refused: str | None = None  # why the newest file is not in force; None: it is
    require: Callable[[Policy], None] = field(default=lambda _: None)  # raises ConfigError

    @property
    def path(self) -> Path | None:
        """The file."""
        return None if self.watch is None else self.watch.path

    def reload(self) -> None:
        """Read the file again. Raises ConfigError or OSError, and the old policy stays."""
        policy = load_policy(self.path, self.config, again=True)
        self.require(policy)
        self.current, self.refused = policy, None
        self.version += 1


@dataclass(slots=True, kw_only=True)
class Runtime:
    """The wiring. Decisions are made elsewhere."""

    config: Config
    policies: PolicyHolder
    manifests: ManifestHolder
    backends: Mapping[str, Backend]
    pipeline: Pipeline
    session: aiohttp.ClientSession
    clock: Clock
    metrics: Metrics
    log: RequestLog
    drift: DriftMonitor
    manifest_files: FileWatch | None = None
    redis: Any = None  # the shared ledger's client, where there is one
    tracing: Tracing | None = None
    otlp_metrics: OtlpMetrics | None = None
    attention: AttentionProbe | None = None
    health: HealthState = field(default_factory=HealthState)
    draining: bool = False
    closing: Closing = field(default_factory=Closing)  # of the time for backends, once the process is to stop
    in_flight: int = 0
    last_probe_s: float | None = None
    latencies: "deque[tuple[float, float]]" = field(default_factory=lambda: deque(maxlen=_MAX_SAMPLES))
    out_of_memory: "deque[float]" = field(default_factory=lambda: deque(maxlen=_MAX_SAMPLES))

    def tell(self, event: str, detail: str) -> None:
        """A line in the log that is not a request's."""
        self.log.write(Event(event=event, detail=detail))

    def work(self, request: ChatRequest) -> Work:
        """Begin one request. Raises BadRequest when it names a model that is not served."""
        now_s = self.clock.now_s()
        policy = self.policies.current
        asked = self._backend_of(request.model)
        return Work(
            request=request,
            policy=policy,
            level=self._level(now_s),
            target=target_of(policy.paths, tuple(self.backends), asked=asked),
            deadline=Deadline(ends_s=now_s + policy.deadline.request_s, clock=self.clock, closing=self.closing),
            began_s=now_s,
            model_requested=request.model,
        )

    def assign(self, work: Work, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Say who asks, and let the manifest that is for them decide where the paths begin."""
        request = work.request
        opening = next((text_of(one) for one in request.messages if one["role"] == "user"), "")
        served_model = self.config.server.served_model
        caller = work.caller = caller_of(headers, request.body, served_model=served_model, opening=opening)
        work.forced = self.manifests.choose(service=caller.service, endpoint=caller.endpoint, key=caller.key)

    def decide(self, work: Work, *, may_defer: bool) -> Branch:
        """Let the decision tree and the ranking look at the request, where the policy wants it."""
        marks = work.policy.decision
        if marks.apply == "never":
            return Branch.ANSWER
        now_s, left_s = self.clock.now_s(), work.deadline.left_s()
        seen = {
            name: situation(backend.standing, now_s=now_s, left_s=left_s, marks=marks)
            for name, backend in self.backends.items()
        }
        if marks.rank and self._backend_of(work.request.model) is None:
            work.ranking = ranked(tuple(name for name in work.policy.paths.order if name in seen), seen)
        work.branch = branch_of(seen[work.target], marks=marks, may_defer=may_defer)
        return work.branch

    def facts(self) -> HealthFacts:
        """What the gauges say now."""
        marks = self.policies.current.health
        since_s = self.clock.now_s() - marks.window_s
        deaths = sum(at_s >= since_s for at_s in self.out_of_memory)
        recent = [took_s for at_s, took_s in self.latencies if at_s >= since_s]
        full = fullness(self.backends.values(), marks)
        return HealthFacts(
            p99_ms=_p99_s(recent) * 1000 if recent else None,
            oom_per_min=deaths * _MINUTE_S / marks.window_s,
            device_memory_share=full.device_memory_share,
            ledger_occupancy=full.ledger_occupancy,
            room=full.room,
            breaker_open=any(backend.is_out for backend in self.backends.values()),
        )

    def observe(self, attempt: Attempt) -> None:
        """Count one try at a backend."""
        self.metrics.attempted(attempt)
        backend = self.backends.get(attempt.path)
        marks = self.policies.current.decision
        if backend is not None and marks.apply != "never":
            now_s = self.clock.now_s()
            backend.standing = after(backend.standing, attempt, now_s=now_s, forget_s=marks.forget_s)
        if self.tracing is not None:
            self.tracing.attempted(attempt, model=self.backends[attempt.path].config.model)
        if attempt.reason is Reason.OUT_OF_MEMORY:
            self.out_of_memory.append(self.clock.now_s())

    def judge_manifests(self, facts: HealthFacts) -> tuple[frozenset[str], frozenset[str]]:
        """Take a reading for the manifests' conditions; returns the names that began and that ended."""
        waiting = sum(backend.lane.view().waiting for backend in self.backends.values())
        waiting += self.pipeline.shaper.cutters.view().waiting
        return self.manifests.tick(
            Gauges(
                at_s=self.clock.now_s(),
                ledger_occupancy=facts.ledger_occupancy,
                device_memory_share=facts.device_memory_share,
                oom_per_minute=facts.oom_per_min,
                breaker_open=float(facts.breaker_open),
                queue_waiting=float(waiting),
                drift_alert=float(bool(self.drift.alerts())),
            )
        )

    def answered(self, work: Work, record: DegradationRecord, answer: Completion | None, *, now_s: float) -> None:
        """Count a request that is over, for the health level, drift and the manifests' conditions."""
        took_s = work.own_s(now_s) - work.began_s
        if self.drift.on:
            features = {
                "latency_ms": took_s * 1000,
                "prompt_chars": float(sum(len(text_of(message)) for message in work.request.messages)),
                "answer_chars": float(len(answer.text)) if answer is not None else 0.0,
            }
            self.drift.observe(features, Row(took_s, record.reasons))
        if record.level is not Level.CRITICAL:
            self.latencies.append((now_s, took_s))
        if work.forced is None and self.manifests.current.manifests:
            self.manifests.observe(
                Outcome(
                    at_s=now_s,
                    took_s=took_s,
                    service=work.caller.service,
                    endpoint=work.caller.endpoint,
                    degraded=record.level is not Level.HEALTHY,
                    template=record.path == "template",
                    memory_full=Reason.MEMORY_FULL in record.reasons,
                    timed_out=any(one.reason is Reason.TIMEOUT for one in work.attempts),
                    failed=any(one.outcome in ("failed", "indeterminate") for one in work.attempts),
                )
            )

    def _level(self, now_s: float) -> Level:
        """The level for new work; while critical, one request now and then probes as if degraded."""
        if self.health.level is not Level.CRITICAL:
            return self.health.level
        marks = self.policies.current.health
        if not may_probe(self.health, now_s=now_s, last_probe_s=self.last_probe_s, marks=marks):
            return Level.CRITICAL
        self.last_probe_s = now_s
        return Level.DEGRADED

    def _backend_of(self, model: str | None) -> str | None:
        """The backend that a model name asks for; None for the policy's order."""
        if model is None or model == self.config.server.served_model:
            return None
        for backend in self.backends.values():
            if model in (backend.name, backend.config.model):
                return backend.name
        if self.config.server.unknown_models == "route":
            return None
        known = ", ".join(self.models())
        message = f'model is "{model[:80]}", must be one of {known}'
        raise BadRequest(message, field="model", status=404, code="model_not_found")

    def models(self) -> tuple[str, ...]:
        """Every model name that a client may send."""
        names = [self.config.server.served_model]
        for backend in self.backends.values():
            names += [backend.name, backend.config.model]
        return tuple(dict.fromkeys(names))
