"""What happens beside the requests: judging the level, probing open breakers, feeding probes, watching the policy."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random

import aiohttp
import msgspec

from gateway.backends.backend import Backend
from gateway.backends.breaker import Permit, State
from gateway.backends.client import KEYS, Call
from gateway.backends.failures import CLIENTS_KEY
from gateway.clock import Clock
from gateway.draining import SHORT, short_drain
from gateway.errors import Blame, ConfigError, ProbeError, RefusedByBackend, UpstreamError
from gateway.health import step
from gateway.memory.device_probes import VllmProbe
from gateway.policies.cluster import Cluster
from gateway.policies.folder import load
from gateway.restarting import in_one_line, restarted
from gateway.runtime import Runtime
from gateway.telemetry import Event
from gateway.watched_file import FileWatch, emptied

_WATCH_S = 0.03
_METRICS_TIMEOUT_S = 2.0
_PING = {"messages": [{"role": "user", "content": "ping"}]}


async def supervise(runtime: Runtime) -> None:
    """Run until cancelled; cancelling ends everything that it started. What fails is told and begun again by itself."""
    async with asyncio.TaskGroup() as group:
        for name, begin in _duties(runtime).items():
            group.create_task(restarted(begin, name=name, clock=runtime.clock, tell=runtime.tell))


def _duties(runtime: Runtime) -> dict[str, Callable[[], Awaitable[object]]]:
    """What there is to do, by the name that the log gives it; none of it waits for another."""
    config = runtime.config
    duties: dict[str, Callable[[], Awaitable[object]]] = {
        "the health level": lambda: keep_judging(runtime),
        "saving the kept answers": lambda: save_kept(runtime),
        "importing jsonschema": lambda: asyncio.to_thread(import_module, "jsonschema"),  # slow: not within a request
    }
    if config.server.watch_policy:
        if (policy := runtime.policies.watch) is not None:
            duties["watching the policy"] = lambda: keep_watching(runtime.clock, policy, read=lambda: reload(runtime))
        if (files := runtime.manifest_files) is not None:
            duties["watching the manifests"] = lambda: keep_watching(
                runtime.clock, files, read=lambda: reload_manifests(runtime, files.path)
            )
    if (namespace := config.manifests.namespace) is not None:
        duties["watching the API server"] = lambda: _cluster(runtime, namespace).run()
    for backend in runtime.backends.values():
        duties[f"probing {backend.name}"] = partial(keep_tending, runtime, backend)
        if isinstance(backend.probe, VllmProbe):
            duties[f"the metrics of {backend.name}"] = partial(keep_feeding, runtime, backend, backend.probe)
        if backend.shared is not None:
            duties[f"the shared ledger of {backend.name}"] = backend.shared.run
        if backend.keeper is not None:
            duties[f"the watchdog of {backend.name}"] = backend.keeper.run
    return duties


def _cluster(runtime: Runtime, namespace: str) -> Cluster:
    return Cluster(
        holder=runtime.manifests,
        namespace=namespace,
        kubeconfig=runtime.config.manifests.kubeconfig,
        clock=runtime.clock,
        rng=Random(),
        tell=runtime.tell,
    )


async def save_kept(runtime: Runtime) -> None:
    """Write the kept answers to their file now and then, where the config names one."""
    while True:
        await runtime.clock.sleep(runtime.config.answers.cache_save_s)
        await runtime.pipeline.unaided.kept.save()


async def keep_judging(runtime: Runtime) -> None:
    """Judge the level at every tick."""
    while True:
        judge(runtime)
        await runtime.clock.sleep(runtime.config.server.tick_s)


def judge(runtime: Runtime) -> None:
    """Move the gateway's level by what the gauges say."""
    before = runtime.health.level
    marks = runtime.policies.current.health
    facts = runtime.facts()
    runtime.health = step(runtime.health, facts, runtime.clock.now_s(), marks)
    if runtime.health.level is not before:
        detail = f"{before} to {runtime.health.level}: {facts}"
        runtime.tell("level", detail)
    if runtime.manifests.current.manifests:
        began, ended = runtime.judge_manifests(facts)
        for event, names in (("manifest_began", began), ("manifest_ended", ended)):
            for name in sorted(names):
                runtime.tell(event, name)


async def keep_feeding(runtime: Runtime, backend: Backend, probe: VllmProbe) -> None:
    """Feed the backend's memory probe at every tick."""
    while True:
        await _feed(runtime, backend, probe)
        await runtime.clock.sleep(runtime.config.server.tick_s)


async def keep_tending(runtime: Runtime, backend: Backend) -> None:
    """Tend the backend at every tick; one that is slow to answer is not asked again meanwhile."""
    while True:
        await tend(runtime, backend)
        await runtime.clock.sleep(runtime.config.server.tick_s)


async def tend(runtime: Runtime, backend: Backend) -> None:
    """Ask the backend for a token when its breaker waits for one, and the backend did not ask to be left alone."""
    breaker, now_s = backend.breaker, runtime.clock.now_s()
    if breaker.cooled_down:
        backend.pace.begins()
    due = breaker.cooled_down or (breaker.state is State.HALF_OPEN and backend.pace.is_due(now_s))
    due = due and backend.away_until_s <= now_s and (backend.keeper is None or backend.keeper.up)
    if not due or not runtime.policies.current.breaker.background_probes:
        return
    permit = breaker.acquire()
    if permit is not None:
        await _probe(runtime, backend, permit)


async def _probe(runtime: Runtime, backend: Backend, permit: Permit) -> None:
    limits = runtime.policies.current.limits_of(backend.name)
    stream = backend.config.streams_in_need  # so that giving up cancels the probe there too
    fields = {"model": backend.config.model, backend.config.max_tokens_field: 1, **({"stream": True} if stream else {})}
    body = msgspec.json.encode({**_PING, **fields})
    total_s = min(limits.total_s, limits.first_token_s)
    call = Call(body=body, limits=limits, total_s=total_s, own_key=_lacks_key(runtime, backend))
    began_s = runtime.clock.now_s()
    try:
        await backend.client.ping(call, stream=stream)
    except UpstreamError as error:
        permit.failed(error.blame)
        _probed_in_vain(runtime, backend, error)
    except RefusedByBackend as error:
        if error.status in CLIENTS_KEY:  # it answers; whether it works, a request with a key has to tell
            permit.cancelled()
            _probed_in_vain(runtime, backend, error)
        else:
            permit.succeeded(runtime.clock.now_s() - began_s)  # it answers, if only that it dislikes the probe
            runtime.log.write(Event(event="probe_refused", backend=backend.name, detail=str(error)))
    else:
        permit.succeeded(runtime.clock.now_s() - began_s)
        runtime.log.write(Event(event="probe_succeeded", backend=backend.name))
    finally:
        permit.cancelled()


def _lacks_key(runtime: Runtime, backend: Backend) -> bool:
    """Whether a key comes with the clients' requests, and the gateway has none of its own to probe with."""
    return not backend.client.has_key and not KEYS.isdisjoint(
        name.lower() for name in runtime.config.server.forward_headers
    )


def _probed_in_vain(runtime: Runtime, backend: Backend, error: UpstreamError | RefusedByBackend) -> None:
    """Tell it, and let the backend alone for a while: as long as it asks, where it asks."""
    now_s, policy = runtime.clock.now_s(), runtime.policies.current
    asked_s = (error.retry_after_s or 0.0) if isinstance(error, UpstreamError) else 0.0
    asked_s = min(asked_s, policy.overload.max_retry_after_s)
    if isinstance(error, UpstreamError) and error.blame is Blame.BACKPRESSURE:
        backend.leave_alone(error.retry_after_s, now_s=now_s, most_s=policy.overload.max_retry_after_s)
    backend.pace.waits(now_s, open_s=policy.breaker.open_s, asked_s=asked_s)
    runtime.log.write(Event(event="probe_failed", backend=backend.name, detail=str(error)))


async def _feed(runtime: Runtime, backend: Backend, probe: VllmProbe) -> None:
    url = backend.config.memory.metrics_url or f"{backend.config.url.removesuffix('/').removesuffix('/v1')}/metrics"
    asked_at_s = runtime.clock.now_s()  # what is marked as in use after this, the page need not show
    try:
        timeout = aiohttp.ClientTimeout(total=_METRICS_TIMEOUT_S)
        async with runtime.session.get(url, timeout=timeout) as response:
            response.raise_for_status()
            probe.feed(await response.text(), asked_at_s=asked_at_s)
    except (aiohttp.ClientError, TimeoutError, OSError, UnicodeDecodeError, ProbeError) as error:
        runtime.log.write(Event(event="metrics_unreadable", backend=backend.name, detail=str(error)))


async def keep_watching(clock: Clock, watch: FileWatch, *, read: Callable[[], object]) -> None:
    """Call `read` whenever the file has changed."""
    while True:
        await clock.sleep(_WATCH_S)
        if watch.changed():
            read()


def reload(runtime: Runtime) -> str | None:
    """Swap the policy in; returns why not, None when it is in force.

    A bad file is logged with its line and leaves the old policy in force.
    """
    try:
        runtime.policies.reload()
    except Exception as error:  # whatever a file may hold: told, and the old policy stays
        told = runtime.policies.refused = why_refused(error, runtime.policies.path)
        runtime.tell("policy_refused", told)
        return told
    runtime.pipeline.unaided.kept.follow(runtime.policies.current)
    runtime.tell("policy_loaded", runtime.policies.current.name)
    short = short_drain(runtime.config, runtime.policies.current)
    if short is not None:
        runtime.tell(SHORT, short)
    return None


def why_refused(error: Exception, path: Path | None) -> str:
    """In one line, with the file in it."""
    return str(error) if isinstance(error, ConfigError | OSError) else f"{path}: {in_one_line(error)}"


def reload_manifests(runtime: Runtime, path: Path) -> str | None:
    """The same for a whole set of manifests, from a file or a folder."""
    version = runtime.manifests.current.version
    try:
        loaded = load(path)
        if loaded.empty is not None:
            raise emptied(loaded.empty, enough="# no manifests")
        swapped = runtime.manifests.swap(loaded.manifests, digest=loaded.digest, source=str(path), based_on=version)
    except Exception as error:  # whatever the files may hold: told, and the old set stays
        told = runtime.manifests.refused = why_refused(error, path)
        runtime.tell("manifests_refused", told)
        return told
    if swapped:
        names = ", ".join(one.name for one in loaded.manifests)
        runtime.tell("manifests_loaded", names)
    return None
