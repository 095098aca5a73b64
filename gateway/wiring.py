"""Wire a gateway together, once, from its config and policy."""

from collections.abc import Mapping
from pathlib import Path

import aiohttp

from gateway.answers.unaided import build_unaided
from gateway.attention.probe import AttentionProbe
from gateway.backends.backend import build
from gateway.backends.origin import IDLE_CONNECTION_S
from gateway.clock import Clock
from gateway.config import Config
from gateway.cutters import Cutters
from gateway.drift_monitor import DriftMonitor
from gateway.masking import secrets_of
from gateway.memory.exposed import AloneCollector
from gateway.memory.leases import Leases, open_redis
from gateway.otlp_metrics import open_otlp_metrics
from gateway.pipeline import Pipeline
from gateway.policies.cluster import require_client
from gateway.policies.folder import load as load_manifests
from gateway.policies.holder import ManifestHolder
from gateway.policy import Policy
from gateway.prompt.tokens import TokenCounter
from gateway.runtime import PolicyHolder, Runtime
from gateway.scrape import collected
from gateway.shape import Shaper
from gateway.state_files import require_writable
from gateway.telemetry import Event, Metrics, RequestLog
from gateway.tracing import open_tracing
from gateway.watchdog.exposed import KeeperCollector
from gateway.watched_file import FileWatch


def build_runtime(
    config: Config,
    *,
    policy: Policy,
    policy_file: FileWatch | None,
    session: aiohttp.ClientSession,
    clock: Clock,
    log: RequestLog,
    environ: Mapping[str, str],
) -> Runtime:
    """Raises ConfigError where a backend cannot be set up, or a file cannot be kept.

    `policy_file` began before `policy` was read from it.
    """
    require_writable(config)
    secrets = secrets_of(config, environ)
    log.mask = secrets.masked_raw
    policies, counters = PolicyHolder(config=config, watch=policy_file, current=policy), dict[Path, TokenCounter]()

    def tell(event: str, detail: str) -> None:
        log.write(Event(event=event, detail=detail))

    shared = config.shared_ledger
    redis = open_redis(shared, environ)

    def leases(backend: str) -> Leases:
        return Leases(redis, prefix=shared.prefix, backend=backend, lease_s=shared.lease_s, timeout_s=shared.timeout_s)

    metrics = Metrics()
    attention = None
    if config.attention.model_dir is not None:
        attention = AttentionProbe(config.attention, tell=tell, registry=metrics.registry)
    backends = {
        one.name: build(
            one,
            session=session,
            policy=lambda: policies.current,
            clock=clock,
            environ=environ,
            tell=tell,
            leases=leases if redis is not None else None,
            shared=shared,
            boundaries=attention,
            secrets=secrets,
            counters=counters,
        )
        for one in config.backends
    }
    manifest_files = None if config.manifests.path is None else FileWatch.before_reading(config.manifests.path)
    manifests = _manifests(config, policies, clock)
    drift = DriftMonitor(marks=lambda: policies.current.drift, tell=tell, file=config.telemetry.drift_baseline)
    drift.load()
    ledgers = {name: backend.shared for name, backend in backends.items() if backend.shared is not None}
    if ledgers:
        metrics.registry.register(AloneCollector(lambda: {name: one.alone for name, one in ledgers.items()}))
    keepers = {name: backend.keeper for name, backend in backends.items() if backend.keeper is not None}
    if keepers:
        metrics.registry.register(KeeperCollector(lambda: keepers))
    unaided = build_unaided(
        config.answers,
        policy=policy,
        session=session,
        environ=environ,
        registry=metrics.registry,
        log=tell,
        attention=attention,
        now_s=clock.now_s,
    )
    shaper = Shaper(Cutters(clock), default_max_tokens=config.server.default_max_tokens)
    pipeline = Pipeline(backends=backends, unaided=unaided, clock=clock, shaper=shaper)
    runtime = Runtime(
        config=config,
        policies=policies,
        manifests=manifests,
        manifest_files=manifest_files,
        backends=backends,
        pipeline=pipeline,
        session=session,
        clock=clock,
        metrics=metrics,
        log=log,
        drift=drift,
        redis=redis,
        attention=attention,
        tracing=open_tracing(config.telemetry, tell),
    )
    _connect(runtime)
    return runtime


def _connect(runtime: Runtime) -> None:
    """What its parts need to know of one another."""
    settings, policies = runtime.config.telemetry, runtime.policies
    runtime.otlp_metrics = open_otlp_metrics(settings, collect=lambda: collected(runtime), clock=runtime.clock)
    if runtime.tracing is not None:
        for backend in runtime.backends.values():
            backend.client.calling = runtime.tracing.calling
    runtime.pipeline.observe = runtime.observe
    policies.require = lambda policy: runtime.manifests.check_order(policy.paths.order, source=str(policies.path))


def open_session() -> aiohttp.ClientSession:
    """One session for everything but the calls to backends: probes, embeddings, metrics of engines."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_CONNECTION_S)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)


def _manifests(config: Config, policies: PolicyHolder, clock: Clock) -> ManifestHolder:
    """Raises ConfigError, or OSError, where the files cannot be read: the gateway does not start without them."""
    holder = ManifestHolder(order=lambda: policies.current.paths.order, clock=clock)
    if config.manifests.namespace is not None:
        require_client()
    path = config.manifests.path
    if path is not None:
        loaded = load_manifests(path)
        holder.swap(loaded.manifests, digest=loaded.digest, source=str(path), based_on=0)
    return holder
