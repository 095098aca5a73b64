"""Handing a request to the backend and its reply back, byte for byte, or harmed by the faults it meets."""

import contextlib
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import dataclass
from random import Random

from aiohttp import ClientError, ClientResponse, ClientSession, StreamReader, web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from faults.fault import Sleeper
from faults.semantic.active import Arrival, Board, Meeting
from faults.semantic.chat import (
    StreamEditor,
    answer_text,
    edit_answer,
    edit_prompt,
    event_payload,
    parse_object,
    sse_events,
)
from faults.semantic.outages import BREAKING, Canned, Cut, break_body, break_stream, canned_reply, hold, warming
from faults.semantic.spec import Kind
from faults.semantic.utf8 import UTF8, in_pieces, splits, spoil_body, spoil_stream
from faults.semantic.workshop import Workshop

TRIAL_HEADER = "x-truefall-trial"
HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect", "proxy-connection"}
)
SENT_HEADERS = web.RequestKey("sent_headers", CIMultiDict)
NOT_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """One proxy: the backend behind it, its faults and its tools."""

    upstream: str  # "http://127.0.0.1:41001"
    session: ClientSession
    board: Board
    workshop: Workshop
    clock: Sleeper

    async def handle(self, request: web.Request) -> web.StreamResponse:
        arrival = Arrival(request.path, request.headers.get(TRIAL_HEADER), request.headers)
        meetings = self.board.meet(arrival) if request.method == "POST" else []
        if not meetings:
            body = request.content if request.body_exists else None
            return await self._exchange(request, request.headers, body, ())
        return await self._harmed(request, meetings)

    async def _harmed(self, request: web.Request, meetings: list[Meeting]) -> web.StreamResponse:
        body = await request.read()
        for meeting in meetings:
            if meeting.spec.kind in (Kind.HANG, Kind.SLOW_START) and warming(meeting) > 0:
                meeting.record()
                await hold(meeting, self.clock)
        streaming = bool((parse_object(body) or {}).get("stream"))
        for meeting in meetings:
            canned = canned_reply(meeting.spec, streaming=streaming, garbage=_noise(meeting.rng))
            if canned is not None and not meeting.over:
                meeting.record()
                return _send_canned(canned)
        prompt = [meeting for meeting in meetings if meeting.spec.kind.on_prompt]
        if prompt:
            body = edit_prompt(body, lambda text: self.workshop.edit_prompt(text, prompt))
        headers = CIMultiDict(request.headers)
        headers["Content-Length"] = str(len(body))
        headers["Accept-Encoding"] = "identity"  # a packed answer could not be edited
        return await self._exchange(request, headers, body, [m for m in meetings if not m.spec.kind.on_prompt])

    async def _exchange(
        self,
        request: web.Request,
        headers: "CIMultiDict[str] | CIMultiDictProxy[str]",
        body: bytes | StreamReader | None,
        meetings: Sequence[Meeting],
    ) -> web.StreamResponse:
        self.board.relayed["requests"] += 1
        try:
            async with self.session.request(
                request.method,
                URL(self.upstream + request.raw_path, encoded=True),
                headers=_passed_on(headers),
                data=body,
                allow_redirects=False,
                skip_auto_headers=NOT_ADDED,
            ) as reply:
                return await self._reply(request, reply, meetings)
        except ClientError:
            self.board.relayed["broken"] += 1
            return _hang_up(request)
        except (Cut, CallerGone):
            return _hang_up(request)
        finally:
            self.board.relayed["ended"] += 1

    async def _reply(
        self, request: web.Request, reply: ClientResponse, meetings: Sequence[Meeting]
    ) -> web.StreamResponse:
        headers = _passed_on(reply.headers)
        chunks = _received(reply)
        if meetings and reply.status == 200 and reply.content_type == "text/event-stream":
            chunks = self._harm_stream(chunks, meetings)
            headers.popall("Content-Length", None)
        elif meetings and reply.status == 200 and reply.content_type == "application/json":
            chunks = await self._harm_json(await reply.read(), meetings, headers)
        for meeting in meetings:
            if meeting.spec.kind is Kind.WRONG_CONTENT_TYPE and not meeting.over:
                meeting.record(was=headers.get("Content-Type", ""), now="text/plain")
                headers["Content-Type"] = "text/plain; charset=utf-8"
        response = web.StreamResponse(status=reply.status, reason=reply.reason, headers=headers)
        request[SENT_HEADERS] = headers
        await heard(response.prepare(request))
        async with contextlib.aclosing(chunks):
            async for chunk in chunks:
                await heard(response.write(chunk))
        await heard(response.write_eof())
        return response

    def _harm_stream(
        self, chunks: AsyncGenerator[bytes, None], meetings: Sequence[Meeting]
    ) -> AsyncGenerator[bytes, None]:
        events = self._edit_stream(sse_events(chunks), [m for m in meetings if m.spec.kind.on_answer])
        for meeting in meetings:
            if meeting.spec.kind in BREAKING:
                events = break_stream(events, meeting, self.clock)
            elif meeting.spec.kind in UTF8:
                events = spoil_stream(events, meeting, self.clock)
        return events

    async def _edit_stream(
        self, events: AsyncGenerator[bytes, None], meetings: Sequence[Meeting]
    ) -> AsyncGenerator[bytes, None]:
        editor = StreamEditor(lambda: self.workshop.chain(meetings, self._stale))
        said = ""
        async for event in events:
            if meetings:
                said += answer_text(parse_object(event_payload(event)) or {})
            yield editor.event(event)
        if end := editor.end():
            yield end
        self._remember(meetings, said)

    async def _harm_json(
        self, body: bytes, meetings: Sequence[Meeting], headers: "CIMultiDict[str]"
    ) -> AsyncGenerator[bytes, None]:
        answer = [meeting for meeting in meetings if meeting.spec.kind.on_answer]
        original = answer_text(parse_object(body) or {})
        if answer:
            body = edit_answer(body, lambda: self.workshop.chain(answer, self._stale))
        self._remember(answer, original)
        body = spoil_body(body, meetings)
        breaking = [m for m in meetings if m.spec.kind in BREAKING]
        half = any(m.spec.kind is Kind.HALF_JSON for m in breaking)
        headers["Content-Length"] = str(len(body) // 2 if half else len(body))
        if breaking:
            return break_body(body, breaking[0], self.clock)
        return in_pieces(body, self.clock) if splits(meetings) else _once(body)

    def _stale(self, meeting: Meeting) -> str | None:
        return self.board.stale(meeting.touch.key) if meeting.spec.kind is Kind.ANSWER_STALE else None

    def _remember(self, meetings: Sequence[Meeting], answer: str) -> None:
        for meeting in meetings:
            if meeting.spec.kind is Kind.ANSWER_STALE:
                self.board.remember(meeting.touch.key, answer)


class CallerGone(Exception):  # noqa: N818  # not an error: nobody listens any more
    """Whoever asked has closed the connection; that says nothing of the backend."""


async def heard(sending: Awaitable[object]) -> None:
    """Raises CallerGone where aiohttp raises what it also raises when the backend breaks off."""
    try:
        await sending
    except ConnectionError as error:
        raise CallerGone from error


async def _received(reply: ClientResponse) -> AsyncGenerator[bytes, None]:
    async for chunk in reply.content.iter_any():
        yield chunk


async def _once(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def _noise(rng: Random) -> bytes:
    return bytes(rng.randrange(256) for _ in range(512))


def _passed_on(headers: "CIMultiDict[str] | CIMultiDictProxy[str]") -> "CIMultiDict[str]":
    named = {name.strip().lower() for value in headers.getall("Connection", []) for name in value.split(",")}
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in HOP_BY_HOP | named)


def _send_canned(canned: Canned) -> web.StreamResponse:
    return web.Response(
        status=canned.status, body=canned.body, headers={**canned.headers, "Content-Type": canned.content_type}
    )


def _hang_up(request: web.Request) -> web.StreamResponse:
    """The backend cannot be reached or broke off: the caller sees a reset, as it would without this proxy."""
    if request.transport is not None:
        raw = request.transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response(status=502)
