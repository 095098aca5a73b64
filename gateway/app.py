"""The ASGI application: routes, and the few that are answered right here."""

from collections.abc import Callable
from typing import Any, cast

from starlette.routing import Route, Router
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from gateway.admin import Admin
from gateway.answers.completion import now_unix_s
from gateway.chat import ChatCompletions
from gateway.clients import Guarded
from gateway.deferred.desk import Desk
from gateway.deferred.store import JobStore
from gateway.errors import BadRequest
from gateway.exposure import OPEN, warning
from gateway.lifespan import lifespan
from gateway.runtime import Runtime
from gateway.scrape import Scrape
from gateway.watchdog.keeper import Keeper
from gateway.wire import Receive, Send, reject, respond_json

_TRUSTED_PROXIES = ["127.0.0.1", "::1"]  # whom to believe who asks, for the admin interface; no variable says so
_UNAVAILABLE = 503  # of /readyz only, to take this gateway out of rotation


def make_app(runtime: Runtime) -> "Shortcut | Guarded":
    """The application; its lifespan runs the supervision. Raises ConfigError."""
    store = store_of(runtime)

    desk = Desk(runtime, store) if store is not None else None
    count = runtime.metrics.rejected

    def get(app: Any) -> Checked:
        return Checked("GET", app, count)

    chat = Checked("POST", ChatCompletions(runtime, desk), count)
    routes = [
        Route("/v1/models", get(Plain(lambda: (200, _models(runtime))))),
        Route("/v1/models/{id:path}", get(OneModel(runtime))),
        Route("/healthz", get(Plain(lambda: (200, {"status": "ok"})))),
        Route("/readyz", get(Plain(lambda: _ready(runtime)))),
        Route("/metrics", get(Scrape(runtime, store))),
        Route("/admin/{rest:path}", Admin(runtime)),
    ]
    if desk is not None:
        routes.append(Route("/v1/async/{id}", desk))
    router = Router(
        routes=routes, redirect_slashes=False, default=NotFound(count), lifespan=lambda _: lifespan(runtime, store)
    )
    rest = ProxyHeadersMiddleware(cast(Any, router), trusted_hosts=_TRUSTED_PROXIES)
    app = Shortcut("/v1/chat/completions", chat, rest)
    return Guarded(app, runtime.config.api_keys, count=count) if runtime.config.api_keys else app


def store_of(runtime: Runtime) -> JobStore | None:
    """Where asynchronous requests are kept; None where nowhere. Raises ConfigError."""
    config = runtime.config.deferred
    if config.path is None:
        return None
    store = JobStore(
        config.path,
        max_pending=config.max_pending,
        max_bytes=config.max_bytes,
        ttl_s=config.ttl_s,
        now_unix_s=now_unix_s,
        ended=runtime.metrics.asynchronous.count,
    )
    store.prepare()
    return store


class Shortcut:
    """The one path that nearly every request takes goes past the router."""

    def __init__(self, path: str, app: Any, router: Any) -> None:
        self._path = path
        self._app = app
        self._router = router

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == self._path:
            await self._app(scope, receive, send)
        else:
            await self._router(scope, receive, send)


class Checked:
    """An ASGI endpoint for one method; others get a 405 that names it."""

    def __init__(self, method: str, app: Any, count: Callable[[BadRequest], None]) -> None:
        self._method = method
        self._count = count
        self._app = app

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method == self._method or (method == "HEAD" and self._method == "GET"):  # the server leaves the body out
            await self._app(scope, receive, send)
            return
        error = BadRequest(f"method is {method}, must be {self._method}", field="method", status=405)
        await reject(send, error, self._count, [(b"allow", self._method.encode())])


class Plain:
    """A JSON body that needs nothing from the request."""

    def __init__(self, view: Callable[[], tuple[int, Any]]) -> None:
        self._view = view

    async def __call__(self, _scope: Any, _receive: Receive, send: Send) -> None:
        status, body = self._view()
        await respond_json(send, status, body)


class OneModel:
    """`GET /v1/models/{id}`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def __call__(self, scope: Any, _receive: Receive, send: Send) -> None:
        name = scope["path_params"]["id"]
        found = next((one for one in _models(self._runtime)["data"] if one["id"] == name), None)
        if found is not None:
            await respond_json(send, 200, found)
            return
        text = f'model is "{name[:80]}", must be one of {", ".join(self._runtime.models())}'
        error = BadRequest(text, field="model", status=404, code="model_not_found")
        await reject(send, error, self._runtime.metrics.rejected)


def _models(runtime: Runtime) -> dict[str, Any]:
    created = now_unix_s()
    data = [{"id": name, "object": "model", "created": created, "owned_by": "truefall"} for name in runtime.models()]
    return {"object": "list", "data": data}


def _ready(runtime: Runtime) -> tuple[int, dict[str, Any]]:
    body: dict[str, Any] = {
        "status": "draining" if runtime.draining else "ready",
        "level": runtime.health.level,
        "breakers": {name: backend.breaker.state for name, backend in runtime.backends.items()},
        OPEN: warning(runtime.config) is not None,
    }
    ledgers = {name: backend.shared for name, backend in runtime.backends.items() if backend.shared is not None}
    if ledgers:
        body["ledgers"] = {name: "alone" if one.alone else "shared" for name, one in ledgers.items()}
    keepers = {name: backend.keeper for name, backend in runtime.backends.items() if backend.keeper is not None}
    if keepers:
        body["watchdog"] = {name: _kept(keeper) for name, keeper in keepers.items()}
    return (_UNAVAILABLE if runtime.draining else 200), body


def _kept(keeper: Keeper) -> dict[str, Any]:
    """No paths and no process ids: this is for everybody."""
    return {key: value for key, value in keeper.state().items() if key in ("phase", "launch", "starts", "due_in_s")}


class NotFound:
    """Every other path."""

    def __init__(self, count: Callable[[BadRequest], None]) -> None:
        self._count = count

    async def __call__(self, scope: Any, _receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        error = BadRequest(f"path is {scope['path'][:200]}, which is not served", field="path", status=404)
        await reject(send, error, self._count)
