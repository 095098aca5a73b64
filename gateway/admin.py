"""`/admin/*`: look at the state, hold memory, move a breaker, drain, reload the policy. Needs a bearer token."""

import asyncio
import hmac
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from gateway.backends.backend import Backend
from gateway.backends.breaker import State
from gateway.drift_monitor import DriftMonitor
from gateway.errors import BadRequest
from gateway.exposure import OPEN, is_loopback, warning
from gateway.memory.ledger import Ledger, Refusal, Reservation
from gateway.policies.holder import ManifestHolder
from gateway.policies.manifest import DegradationPolicy
from gateway.runtime import Runtime
from gateway.supervise import reload, reload_manifests
from gateway.wire import Receive, Send, read_body, reject, respond_json

T = TypeVar("T")
_MAX_BODY_BYTES = 65_536
_MAX_TTL_S = 3600.0


class HoldBody(msgspec.Struct, forbid_unknown_fields=True):
    """POST /admin/ledger: exactly one of `bytes` and `share`."""

    backend: str
    ttl_s: float
    bytes_: int | None = msgspec.field(name="bytes", default=None)
    share: float | None = None  # of the whole capacity


class BreakerBody(msgspec.Struct, forbid_unknown_fields=True):
    """POST /admin/breaker."""

    backend: str
    state: State


class DrainBody(msgspec.Struct, forbid_unknown_fields=True):
    """POST /admin/drain."""

    draining: bool = True


class Admin:
    """The ASGI endpoint of everything under /admin/."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._held: dict[str, tuple[str, Reservation, asyncio.TimerHandle]] = {}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        try:
            self._authorise(scope)
            raw = await read_body(receive, scope["headers"], max_bytes=_MAX_BODY_BYTES)
            status, body = await self._do(scope["method"], scope["path"].removeprefix("/admin/"), raw)
        except BadRequest as error:
            await reject(send, error, self._runtime.metrics.rejected)
            return
        except ConnectionError:
            return
        await respond_json(send, status, body)

    def _authorise(self, scope: Mapping[str, Any]) -> None:
        server = self._runtime.config.server
        token = server.token()
        host = (scope.get("client") or ("", 0))[0]
        if token is None or (server.admin_loopback_only and not is_loopback(host)):
            raise BadRequest("the admin interface is off for this address", field="path", status=404)
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise BadRequest("authorization must be 'Bearer' and the admin token", field="authorization", status=401)

    async def _do(self, method: str, path: str, raw: bytes) -> tuple[int, Any]:
        match method, path.split("/"):
            case "GET", ["state"]:
                return 200, self._state()
            case "POST", ["ledger"]:
                return 201, await self._hold(_decode(raw, HoldBody))
            case "DELETE", ["ledger", identity]:
                return 200, {"released": self._release(identity)}
            case "DELETE", ["ledger"]:
                return 200, {"released": sum(self._release(identity) for identity in tuple(self._held))}
            case "POST", ["breaker"]:
                return 200, self._move(_decode(raw, BreakerBody))
            case "POST", ["drain"]:
                self._runtime.draining = _decode(raw or b"{}", DrainBody).draining
                return 200, {"draining": self._runtime.draining, "in_flight": self._runtime.in_flight}
            case "POST", ["drift", "rebase"]:
                self._runtime.drift.rebase()
                return 200, {"features": self._runtime.policies.current.drift.features}
            case "POST", ["policy", "reload"]:
                return self._reload()
        raise BadRequest(f"{method} /admin/{path[:100]} is not served", field="path", status=404)

    def _reload(self) -> tuple[int, Any]:
        path = self._runtime.config.manifests.path
        refusal = reload(self._runtime) or (reload_manifests(self._runtime, path) if path is not None else None)
        if refusal is not None:
            raise BadRequest(refusal, field="policy", status=422)
        return 200, {"policy": self._runtime.policies.current.name, "version": self._runtime.policies.version}

    def _move(self, body: BreakerBody) -> Any:
        if body.state is State.HALF_OPEN:
            raise BadRequest("state is half_open, must be open or closed", field="state")
        breaker = self._backend(body.backend).breaker
        breaker.force(body.state)
        return {"backend": body.backend, "state": breaker.state}

    async def _hold(self, body: HoldBody) -> Any:
        ledger = self._ledger(body.backend)
        promises = self._backend(body.backend).promises or ledger
        if not 0 < body.ttl_s <= _MAX_TTL_S:
            raise BadRequest(f"ttl_s is {body.ttl_s}, must be above 0 and at most {_MAX_TTL_S:g}", field="ttl_s")
        taken = await promises.take(_asked_bytes(body, ledger.snapshot().capacity_bytes))
        if isinstance(taken, Refusal):
            raise BadRequest(f"the ledger refused: {taken.name.lower()}", field="bytes", status=409)
        identity = uuid4().hex
        timer = asyncio.get_running_loop().call_later(body.ttl_s, self._release, identity)
        self._held[identity] = (body.backend, taken, timer)
        return {"id": identity, "backend": body.backend, "bytes": taken.bytes_, "occupancy": ledger.occupancy}

    def _release(self, identity: str) -> bool:
        """Give a held reservation back; False when it is not there any more."""
        held = self._held.pop(identity, None)
        if held is None:
            return False
        held[2].cancel()
        held[1].release()
        return True

    def _state(self) -> Any:
        runtime = self._runtime
        return {
            "level": runtime.health.level,
            "facts": asdict(runtime.facts()),
            "draining": runtime.draining,
            "in_flight": runtime.in_flight,
            OPEN: warning(runtime.config) is not None,
            "attention": None if runtime.attention is None else runtime.attention.state,
            "policy": {
                "name": runtime.policies.current.name,
                "version": runtime.policies.version,
                "refused": runtime.policies.refused,
            },
            "manifests": _manifests_state(runtime.manifests),
            "drift": _drift_state(runtime.drift),
            "cutting": runtime.pipeline.shaper.cutters.view()._asdict(),
            "backends": {name: _backend_state(backend) for name, backend in runtime.backends.items()},
            "held": {identity: {"backend": held[0], "bytes": held[1].bytes_} for identity, held in self._held.items()},
        }

    def _backend(self, name: str) -> Backend:
        backend = self._runtime.backends.get(name)
        if backend is None:
            known = ", ".join(self._runtime.backends)
            raise BadRequest(f"backend is {name[:80]!r}, must be one of {known}", field="backend")
        return backend

    def _ledger(self, name: str) -> Ledger:
        ledger = self._backend(name).ledger
        if ledger is None:
            raise BadRequest(
                f"backend {name!r} has no ledger: set memory.kv_capacity_bytes", field="backend", status=409
            )
        return ledger


def _drift_state(monitor: DriftMonitor) -> Any:
    return {
        "features": {name: watch._asdict() for name, watch in monitor.watches().items()},
        "causes": [cause._asdict() for cause in monitor.causes()] if monitor.alerts() else [],
    }


def _manifests_state(holder: ManifestHolder) -> Any:
    active = {one.name for one in holder.active}
    return {
        "version": holder.current.version,
        "source": holder.current.source,
        "refused": holder.refused,
        "all": [{"name": one.name, "active": one.name in active, **_spec(one)} for one in holder.current.manifests],
    }


def _spec(one: DegradationPolicy) -> Any:
    return {
        "target": one.spec.target_service,
        "endpoint": one.spec.endpoint,
        "fallback": one.spec.fallback,
        "percentage": one.spec.traffic_percentage,
        "conditions": [f"{cond.metric} > {cond.threshold:g} over {cond.window}" for cond in one.spec.conditions],
    }


def _backend_state(backend: Backend) -> Any:
    reading = backend.guard.reading() if backend.guard is not None else None
    return {
        "model": backend.config.model,
        "breaker": {
            "state": backend.breaker.state,
            "trips": backend.breaker.trips,
            "opens_again_in_s": round(backend.breaker.opens_again_in_s(), 3),
        },
        "queue": backend.lane.view()._asdict(),
        "ledger": None if backend.ledger is None else asdict(backend.ledger.snapshot()),
        "occupancy": None if backend.ledger is None else backend.ledger.occupancy,
        "memory": None if reading is None else msgspec.structs.asdict(reading),
        "watchdog": None if backend.keeper is None else backend.keeper.state(),
    }


def _asked_bytes(body: HoldBody, capacity_bytes: int) -> int:
    if (body.bytes_ is None) == (body.share is None):
        raise BadRequest("need exactly one of bytes and share", field="bytes")
    if body.share is not None:
        if not 0 < body.share <= 1:
            raise BadRequest(f"share is {body.share}, must be above 0 and at most 1", field="share")
        return int(capacity_bytes * body.share)
    if body.bytes_ is None or body.bytes_ < 1:
        raise BadRequest(f"bytes is {body.bytes_}, must be at least 1", field="bytes")
    return body.bytes_


def _decode(raw: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"body: {error}", field="body") from None
