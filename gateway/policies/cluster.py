"""Manifests watched in a namespace of a Kubernetes API server: list, then watch, and list again when that breaks."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from gateway.clock import Clock
from gateway.errors import ConfigError
from gateway.policies.holder import ManifestHolder
from gateway.policies.manifest import GROUP, KIND, PLURAL, VERSION, DegradationPolicy
from gateway.strict import convert

_GONE = 410  # the version to go on from is too old: list again
_WATCH_S = 60  # one watch call; the next goes on where it ended
_GRACE_S = 10.0  # a call that is silent for so much longer is dead
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.2, 30.0
_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")

Tell = Callable[[str, str], None]  # event, detail


class Store(NamedTuple):
    """What the API server has told: the objects by uid, and the version to go on from."""

    objects: Mapping[str, Mapping[str, Any]] = {}
    version: str = ""


def listed(answer: Mapping[str, Any]) -> Store:
    """The store after a list, which is the whole truth."""
    kind = {"apiVersion": f"{GROUP}/{VERSION}", "kind": KIND}  # items of a list may leave these out
    objects = {one["metadata"]["uid"]: {**kind, **one} for one in answer["items"]}
    return Store(objects, answer["metadata"]["resourceVersion"])


def stepped(store: Store, kind: str, one: Mapping[str, Any]) -> Store:
    """The store after one event. An object that is older than the one that is known changes nothing but the version."""
    version = one["metadata"]["resourceVersion"]
    uid = one["metadata"].get("uid", "")
    if kind == "DELETED":
        return Store({known: value for known, value in store.objects.items() if known != uid}, version)
    if kind not in ("ADDED", "MODIFIED") or _generation(one) < _generation(store.objects.get(uid)):
        return Store(store.objects, version)
    return Store({**store.objects, uid: one}, version)


def _generation(one: Mapping[str, Any] | None) -> int:
    return int(one["metadata"].get("generation", 0)) if one is not None else -1


def manifests_of(store: Store) -> tuple[DegradationPolicy, ...]:
    """Raises ConfigError naming the object, its field, its value and what would be right."""
    return tuple(_manifest(one) for one in store.objects.values())


def _manifest(one: Mapping[str, Any]) -> DegradationPolicy:
    meta = one["metadata"]
    place = f"{PLURAL}/{meta.get('namespace', '')}/{meta.get('name', '')}"
    return convert(dict(one), DegradationPolicy, place=lambda _: place)


def require_client() -> None:
    """Raises ConfigError where the client library is not installed."""
    if find_spec("kubernetes_asyncio") is None:
        raise ConfigError("manifests.namespace needs the API server's client: pip install 'truefall[kubernetes]'")


@dataclass(slots=True, kw_only=True)
class Cluster:
    """Keeps `holder` at what one namespace holds. Without an API server the last set stays in force."""

    holder: ManifestHolder
    namespace: str
    kubeconfig: Path | None
    clock: Clock
    rng: Random
    tell: Tell
    store: Store = field(default_factory=Store)
    failures: int = 0  # in a row

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            try:
                async with _api(self.kubeconfig) as api:
                    while True:
                        await self._follow(api)
            except Exception as error:  # every way in which a distant server can fail: told, then tried again
                self.failures += 1
                self.tell("manifests_unreachable", _in_one_line(error))
            await self.clock.sleep(wait_s(self.failures, self.rng))

    async def _follow(self, api: Any) -> None:
        """List, then watch until the API server says that the version to go on from is gone."""
        from kubernetes_asyncio.client.exceptions import ApiException

        scope = (GROUP, VERSION, self.namespace, PLURAL)
        timeout_s = _WATCH_S + _GRACE_S
        self.store = listed(await api.list_namespaced_custom_object(*scope, _request_timeout=timeout_s))
        self._apply()
        self.failures = 0
        try:
            while True:
                await self._watch(api, scope, timeout_s)
        except ApiException as error:
            if error.status != _GONE:
                raise
            self.tell("manifests_relisted", "the version to go on from is gone")
            await self.clock.sleep(_FIRST_WAIT_S)

    async def _watch(self, api: Any, scope: tuple[str, ...], timeout_s: float) -> None:
        from kubernetes_asyncio.watch import Watch

        began_s = self.clock.now_s()
        events = Watch(return_type="object").stream(
            api.list_namespaced_custom_object,
            *scope,
            resource_version=self.store.version,
            allow_watch_bookmarks=True,
            timeout_seconds=_WATCH_S,
            _request_timeout=timeout_s,
        )
        async for event in events:
            if not isinstance(event, dict):
                raise ConnectionError("the watch was cut in the middle of an event")
            before = self.store.objects
            self.store = stepped(self.store, event["type"], event["raw_object"])
            if self.store.objects is not before:
                self._apply()
        if self.clock.now_s() - began_s < _FIRST_WAIT_S:
            await self.clock.sleep(_FIRST_WAIT_S)  # a server that ends each watch at once must not be hammered

    def _apply(self) -> None:
        """Swap the whole set in; a set with a bad object is refused and told, and the old one stays."""
        source = f"{PLURAL} of {self.namespace}"
        versions = sorted((uid, one["metadata"]["resourceVersion"]) for uid, one in self.store.objects.items())
        digest = sha256(repr(versions).encode()).hexdigest()
        try:
            found = manifests_of(self.store)
            swapped = self.holder.swap(found, digest=digest, source=source, based_on=self.holder.current.version)
        except ConfigError as error:
            self.holder.refused = str(error)
            self.tell("manifests_refused", str(error))
            return
        if swapped:
            self.tell("manifests_loaded", ", ".join(one.name for one in found))


def wait_s(failures: int, rng: Random) -> float:
    """How long to wait before the next try: twice as long each time, spread so that gateways do not come at once."""
    longest_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(failures, 10))
    return longest_s * (0.5 + rng.random() / 2)


@asynccontextmanager
async def _api(kubeconfig: Path | None) -> AsyncIterator[Any]:
    """The client, by kubeconfig, else by the pod's service account, else by the user's own kubeconfig."""
    await asyncio.to_thread(import_module, "kubernetes_asyncio.client")  # takes a second
    from kubernetes_asyncio import client, config

    settings = client.Configuration()
    if kubeconfig is None and "KUBERNETES_SERVICE_HOST" in os.environ and _TOKEN.exists():
        config.load_incluster_config(client_configuration=settings)
    else:
        file = None if kubeconfig is None else str(kubeconfig)
        await config.load_kube_config(config_file=file, client_configuration=settings, persist_config=False)
    async with client.ApiClient(configuration=settings) as connection:
        yield client.CustomObjectsApi(connection)


def _in_one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
