"""The HTTP API: one function per call, and what every call has in common."""

import json
from collections.abc import Awaitable, Callable
from types import MappingProxyType

from aiohttp import web

from faults.toxiproxy.bodies import (
    read_json,
    read_population,
    read_proxy,
    read_proxy_change,
    read_toxic,
    read_toxic_change,
)
from faults.toxiproxy.collection import Collection
from faults.toxiproxy.errors import ApiError
from faults.toxiproxy.metrics import CONTENT_TYPE, exposition
from faults.toxiproxy.shapes import proxy_shape, toxic_shape

VERSION = "2.12.0"  # of the API that is spoken
LARGEST_BODY_BYTES = 16 * 1024 * 1024

Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """The calls on one collection of proxies."""

    def __init__(self, collection: Collection) -> None:
        self._proxies = collection

    async def list_proxies(self, request: web.Request) -> web.Response:
        evidence = _evidence(request)
        return _json({proxy.name: proxy_shape(proxy, evidence=evidence) for proxy in self._proxies.listed()})

    async def create_proxy(self, request: web.Request) -> web.Response:
        proxy = await self._proxies.create(read_proxy(read_json(await request.read())))
        return _json(proxy_shape(proxy), status=201)

    async def populate(self, request: web.Request) -> web.Response:
        try:
            proxies = await self._proxies.populate(read_population(read_json(await request.read())))
        except ApiError as error:
            return _json({"error": error.text, "status": error.status, "proxies": []}, status=error.status)
        return _json({"proxies": [proxy_shape(proxy) for proxy in proxies]}, status=201)

    async def show_proxy(self, request: web.Request) -> web.Response:
        return _json(proxy_shape(self._proxies.find(request.match_info["proxy"]), evidence=_evidence(request)))

    async def update_proxy(self, request: web.Request) -> web.Response:
        body = await request.read()
        name = request.match_info["proxy"]
        proxy = await self._proxies.update(name, lambda before: read_proxy_change(read_json(body), before))
        return _json(proxy_shape(proxy))

    async def delete_proxy(self, request: web.Request) -> web.Response:
        await self._proxies.delete(request.match_info["proxy"])
        return web.Response(status=204)

    async def list_toxics(self, request: web.Request) -> web.Response:
        evidence = _evidence(request)
        toxics = self._proxies.find(request.match_info["proxy"]).toxics.listed()
        return _json([toxic_shape(toxic, evidence=evidence) for toxic in toxics])

    async def create_toxic(self, request: web.Request) -> web.Response:
        body = await request.read()
        chain = self._proxies.find(request.match_info["proxy"]).toxics
        toxic = read_toxic(read_json(body), taken=chain)
        chain.add(toxic)
        return _json(toxic_shape(toxic))

    async def show_toxic(self, request: web.Request) -> web.Response:
        toxic = self._proxies.find(request.match_info["proxy"]).toxics.find(request.match_info["toxic"])
        return _json(toxic_shape(toxic, evidence=_evidence(request)))

    async def update_toxic(self, request: web.Request) -> web.Response:
        body = await request.read()
        chain = self._proxies.find(request.match_info["proxy"]).toxics
        toxic = chain.find(request.match_info["toxic"])
        chain.update(toxic, **read_toxic_change(read_json(body), toxic)._asdict())
        return _json(toxic_shape(toxic))

    async def delete_toxic(self, request: web.Request) -> web.Response:
        """204; with `?evidence=1` 200 and the toxic as it was when it ended."""
        toxic = self._proxies.find(request.match_info["proxy"]).toxics.remove(request.match_info["toxic"])
        return _json(toxic_shape(toxic, evidence=True)) if _evidence(request) else web.Response(status=204)

    async def reset(self, _: web.Request) -> web.Response:
        await self._proxies.reset()
        return web.Response(status=204)

    async def version(self, _: web.Request) -> web.Response:
        return _json({"version": VERSION})

    async def metrics(self, _: web.Request) -> web.Response:
        text = exposition(self._proxies.listed())
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})


def build_app(collection: Collection) -> web.Application:
    """The API over `collection`; closing the app closes every proxy."""
    api = Api(collection)
    app = web.Application(middlewares=[_answer_errors, _refuse_browsers], client_max_size=LARGEST_BODY_BYTES)
    one = "/proxies/{proxy:[^/]+}"
    toxics, toxic = one + "/toxics", one + "/toxics/{toxic:[^/]+}"
    app.add_routes(
        [
            web.get("/proxies", api.list_proxies),
            web.post("/proxies", api.create_proxy),
            web.post("/populate", api.populate),
            web.get(one, api.show_proxy),
            web.post(one, api.update_proxy),
            web.patch(one, api.update_proxy),
            web.delete(one, api.delete_proxy),
            web.get(toxics, api.list_toxics),
            web.post(toxics, api.create_toxic),
            web.get(toxic, api.show_toxic),
            web.post(toxic, api.update_toxic),
            web.patch(toxic, api.update_toxic),
            web.delete(toxic, api.delete_toxic),
            web.post("/reset", api.reset),
            web.get("/version", api.version),
            web.get("/metrics", api.metrics),
        ]
    )

    async def close(_: web.Application) -> None:
        await collection.close()

    app.on_cleanup.append(close)
    return app


PLAIN_ANSWERS = MappingProxyType({404: "404 page not found\n", 405: ""})


@web.middleware
async def _answer_errors(request: web.Request, handler: Respond) -> web.StreamResponse:
    """Errors as JSON, though labelled as plain text, as other Toxiproxy servers do."""
    try:
        return await handler(request)
    except ApiError as error:
        return _error(error.text, error.status)
    except web.HTTPRequestEntityTooLarge:
        return _error(f"bad request body: larger than {LARGEST_BODY_BYTES} bytes", 400)
    except web.HTTPException as error:
        return web.Response(status=error.status, text=PLAIN_ANSWERS.get(error.status, error.text))


@web.middleware
async def _refuse_browsers(request: web.Request, handler: Respond) -> web.StreamResponse:
    if request.headers.get("User-Agent", "").startswith("Mozilla/"):
        return web.Response(status=403, text="User agent not allowed\n")
    return await handler(request)


def _evidence(request: web.Request) -> bool:
    return request.query.get("evidence") == "1"


def _error(text: str, status: int) -> web.Response:
    return web.Response(status=status, text=json.dumps({"error": text, "status": status}, ensure_ascii=False) + "\n")


def _json(shape: object, *, status: int = 200) -> web.Response:
    body = json.dumps(shape, ensure_ascii=False, separators=(",", ":")).encode()
    return web.Response(body=body, status=status, content_type="application/json")
