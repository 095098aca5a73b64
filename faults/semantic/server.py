"""The proxy's HTTP server: `/__fault__` is its control API, everything else goes to the backend.

GET    /__fault__        {"faults": [state …], "evidence": [row …], "relayed": {"requests": n, "ended": n, "broken": n}}
PUT    /__fault__        {"faults": [spec …]}: these, and no others
DELETE /__fault__        none; 204
GET    /__fault__/{id}   state and evidence of one
PUT    /__fault__/{id}   spec: set or replace this one
DELETE /__fault__/{id}   switch it off; its last state and evidence; 404: there is none
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from aiohttp.typedefs import Handler

from faults.clock import SystemClock
from faults.errors import BadFault
from faults.fault import Sleeper
from faults.semantic.active import Board
from faults.semantic.relay import SENT_HEADERS, Relay
from faults.semantic.spec import read_spec, read_specs
from faults.semantic.units import Pieces, one_piece
from faults.semantic.workshop import open_workshop

MAX_BODY_BYTES = 256 * 2**20
BOARD = web.AppKey("board", Board)


def control_routes() -> list[web.RouteDef]:
    return [
        web.get("/__fault__", _show_all),
        web.put("/__fault__", _set_all),
        web.delete("/__fault__", _clear),
        web.get("/__fault__/{id}", _show),
        web.put("/__fault__/{id}", _set),
        web.delete("/__fault__/{id}", _remove),
    ]


async def _show_all(request: web.Request) -> web.Response:
    board = request.app[BOARD]
    return web.json_response({"faults": board.states(), "evidence": board.evidence(), "relayed": board.relayed})


async def _set_all(request: web.Request) -> web.Response:
    board = request.app[BOARD]
    specs = read_specs(await request.read())
    board.clear()
    for spec in specs:
        board.set(spec)
    return web.json_response({"faults": board.states()})


async def _clear(request: web.Request) -> web.Response:
    request.app[BOARD].clear()
    return web.Response(status=204)


async def _show(request: web.Request) -> web.Response:
    board, fault_id = request.app[BOARD], request.match_info["id"]
    states = [state for state in board.states() if state["id"] == fault_id]
    return web.json_response({**states[0], "evidence": board.evidence(fault_id)}) if states else _missing(fault_id)


async def _set(request: web.Request) -> web.Response:
    request.app[BOARD].set(spec := read_spec(request.match_info["id"], await request.read()))
    return web.json_response({"id": spec.id, "kind": spec.kind})


async def _remove(request: web.Request) -> web.Response:
    state = request.app[BOARD].remove(request.match_info["id"])
    return web.json_response(state) if state is not None else _missing(request.match_info["id"])


def _missing(fault_id: str) -> web.Response:
    return web.json_response({"error": f"no fault {fault_id!r}"}, status=404)


@web.middleware
async def refuse_bad_faults(
    request: web.Request,
    handler: Handler,
) -> web.StreamResponse:
    try:
        return await handler(request)
    except BadFault as error:
        return web.json_response({"error": str(error)}, status=400)


async def _only_sent_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Take away what aiohttp adds and the backend did not send."""
    sent = request.get(SENT_HEADERS)
    for name in ("Server", "Date", "Content-Type"):
        if sent is not None and name not in sent:
            response.headers.popall(name, None)


def make_app(board: Board, relay: Relay) -> web.Application:
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[refuse_bad_faults])
    app[BOARD] = board
    app.add_routes(control_routes())
    app.router.add_route("*", "/{path:.*}", relay.handle)
    app.on_response_prepare.append(_only_sent_headers)
    return app


@asynccontextmanager
async def serve(
    upstream: str, *, port: int = 0, pieces: Pieces = one_piece, clock: Sleeper | None = None
) -> AsyncIterator[str]:
    """Run the proxy on loopback; yields its URL."""
    board = Board(asyncio.get_running_loop().call_later)
    # One connection to the backend per request: a connection closed by the other side while idle would look like a
    # fault, and a toxicity that Toxiproxy draws per connection becomes one per request.
    connector = TCPConnector(force_close=True, limit=0)
    async with ClientSession(
        connector=connector,
        auto_decompress=False,
        cookie_jar=DummyCookieJar(),
        timeout=ClientTimeout(total=None),
        max_line_size=2**16,
        max_field_size=2**16,
    ) as session:
        relay = Relay(
            upstream=upstream.rstrip("/"),
            session=session,
            board=board,
            workshop=open_workshop(pieces),
            clock=clock or SystemClock(),
        )
        runner = web.AppRunner(make_app(board, relay), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", port)
            await site.start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            board.clear()
            await runner.cleanup()
