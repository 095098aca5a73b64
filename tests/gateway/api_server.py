"""A Kubernetes API server that knows one kind of object: list and watch with versions, as the real one does them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

PATH = "/apis/truefall.dev/v1alpha1/namespaces/{namespace}/degradationpolicies"


class ApiServer:
    """`history` is the log of events; `compact` forgets it, so that older versions are gone (410)."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.history: list[tuple[int, str, dict[str, Any]]] = []
        self.version = 100
        self.oldest = 100
        self.lists = 0
        self.watches: list[int] = []  # the version from which each watch began
        self.broken = 0  # answer so many calls with a 500
        self._changed = asyncio.Event()
        self._open: set[asyncio.Transport] = set()

    def apply(self, name: str, **spec: Any) -> None:
        """Create or change an object."""
        old = self.objects.get(name)
        self.version += 1
        meta = {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "generation": old["metadata"]["generation"] + 1 if old else 1,
            "resourceVersion": str(self.version),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "managedFields": [{"manager": "kubectl", "operation": "Apply"}],
        }
        kind = {"apiVersion": "truefall.dev/v1alpha1", "kind": "DegradationPolicy"}
        spec = {"targetService": "truefall", "fallback": "template", "trafficPercentage": 100, **spec}
        self.objects[name] = {**kind, "metadata": meta, "spec": spec}
        self._tell("MODIFIED" if old else "ADDED", self.objects[name])

    def delete(self, name: str) -> None:
        one = self.objects.pop(name)
        self.version += 1
        self._tell("DELETED", {**one, "metadata": {**one["metadata"], "resourceVersion": str(self.version)}})

    def bookmark(self) -> None:
        self.version += 1
        self._tell("BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})

    def compact(self) -> None:
        self.oldest = self.version
        self.history.clear()

    def cut(self) -> None:
        """Break every watch off in the middle of a line."""
        for transport in tuple(self._open):
            transport.write(b'9\r\n{"type": \r\n')
            transport.close()

    def _tell(self, kind: str, one: dict[str, Any]) -> None:
        self.history.append((self.version, kind, one))
        self._changed.set()
        self._changed = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.broken:
            self.broken -= 1
            return web.json_response({"kind": "Status", "code": 500, "reason": "Broken", "message": "etcd"}, status=500)
        if request.query.get("watch", "").lower() not in ("true", "1"):
            self.lists += 1
            items = [{"metadata": one["metadata"], "spec": one["spec"]} for one in self.objects.values()]
            return web.json_response({"metadata": {"resourceVersion": str(self.version)}, "items": items})
        return await self._watch(request, int(request.query["resourceVersion"]))

    async def _watch(self, request: web.Request, since: int) -> web.StreamResponse:
        self.watches.append(since)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        transport = request.transport
        assert isinstance(transport, asyncio.Transport)
        self._open.add(transport)
        try:
            if since < self.oldest:
                gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
                await response.write(json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n")
                return response
            while True:
                changed = self._changed
                for version, kind, one in [event for event in self.history if event[0] > since]:
                    await response.write(json.dumps({"type": kind, "object": one}).encode() + b"\n")
                    since = version
                await changed.wait()
        finally:
            self._open.discard(transport)


@asynccontextmanager
async def api_server(folder: Path) -> AsyncIterator[tuple[ApiServer, Path]]:
    """The server on a loopback port, and the kubeconfig that leads there."""
    server = ApiServer()
    app = web.Application()
    app.router.add_get(PATH, server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(config))
    try:
        yield server, file
    finally:
        await runner.cleanup()
