"""Where a request is accepted for later, and where its answer is fetched."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec

from gateway.answers.cache_key import tenant_of
from gateway.answers.completion import now_unix_s
from gateway.decision import Branch
from gateway.deferred.exposed import AsyncEvent
from gateway.deferred.job import Asked, Found, Status, StoreError
from gateway.deferred.store import JobStore
from gateway.errors import BadRequest
from gateway.pipeline import Reply
from gateway.record import DegradationRecord, Level, Reason
from gateway.runtime import Runtime
from gateway.tally import Tally
from gateway.telemetry import Event
from gateway.wire import JSON_TYPE, Headers, Receive, Send, record_headers, reject, respond, respond_json
from gateway.work import Work

PATH = "/v1/async/"
_POLL_S = 1


class Desk:
    """`accept` for the chat endpoint; as an ASGI endpoint, `GET` and `DELETE /v1/async/{id}`."""

    def __init__(self, runtime: Runtime, store: JobStore) -> None:
        self._runtime = runtime
        self._store = store
        self._tally = Tally(runtime)

    async def accept(self, work: Work, headers: Headers, send: Send) -> bool:
        """Answer 202 where the tree wants it and there is room; False: answer now, like any other request."""
        marks, request = work.policy.decision, work.request
        wanted = marks.asynchronous == "always" or (
            marks.asynchronous == "opt_in" and (request.respond_async or _prefers_async(headers))
        )
        may_defer = wanted and not request.stream and not self._runtime.draining
        if self._runtime.decide(work, may_defer=may_defer) is not Branch.ASYNCHRONOUS:
            return False
        caller = (work.caller.service, work.caller.endpoint, work.caller.key)
        tracing = self._runtime.tracing
        trace = {} if tracing is None else tracing.carried()
        asked = Asked(body=request.body, caller=caller, forward=dict(work.forward), trace=trace)
        try:
            identity = await asyncio.to_thread(self._store.put, asked, tenant=work.tenant)
        except StoreError as error:
            self._runtime.log.write(Event(event="async_unavailable", detail=str(error)))
            identity = None
        if identity is None:
            self._runtime.decide(work, may_defer=False)
            return False
        record = DegradationRecord(
            level=Level.DEGRADED,
            path="async",
            reasons=(Reason.DECISION,),
            model_requested=work.model_requested,
            abstained=True,
        )
        place = (b"location", f"{PATH}{identity}".encode())
        await respond_json(
            send,
            202,
            {**_waiting(identity, "queued"), "degradation": record},
            [place, _retry(), (b"preference-applied", b"respond-async"), *record_headers(record)],
        )
        self._runtime.metrics.asynchronous.count(AsyncEvent.ACCEPTED)
        self._tally.accepted(work, Reply(status=202, record=record))
        return True

    async def __call__(self, scope: Any, _receive: Receive, send: Send) -> None:
        identity = scope["path"].removeprefix(PATH)
        tenant = tenant_of(scope["headers"], self._runtime.policies.current.cache.tenant_headers)
        try:
            if scope["method"] == "DELETE":
                removed = await asyncio.to_thread(self._store.remove, identity, tenant=tenant)
                if not removed:
                    raise _unknown(identity)
                await respond_json(send, 200, {"id": identity, "object": "chat.completion.async", "deleted": True})
                return
            if scope["method"] != "GET":
                raise BadRequest(
                    f"method is {scope['method']}, must be GET or DELETE", field="method", status=405, code=None
                )
            found = await asyncio.to_thread(self._store.find, identity, tenant=tenant)
            if found is None:
                raise _unknown(identity)
            await self._show(identity, found, send)
        except BadRequest as error:
            await reject(send, error, self._runtime.metrics.rejected)
        except StoreError as error:
            self._runtime.log.write(Event(event="async_unavailable", detail=str(error)))
            await respond_json(send, 202, _waiting(identity, "unknown"), [_retry()])

    async def _show(self, identity: str, found: Found, send: Send) -> None:
        if found.status is Status.DONE and found.answer is not None:
            await respond(send, found.answer_status or 200, found.answer, [JSON_TYPE, *_outline(found.answer)])
        elif found.status is Status.LOST:
            await self._show_lost(identity, send)
        else:
            body = {**_waiting(identity, found.status), "age_s": round(found.age_s, 1)}
            await respond_json(send, 202, body, [_retry()])

    async def _show_lost(self, identity: str, send: Send) -> None:
        structured = self._runtime.policies.current.structured
        record = DegradationRecord(
            level=Level.CRITICAL, path="structured", reasons=(Reason.ASYNC_LOST,), abstained=True
        )
        body = {
            "id": identity,
            "object": "chat.completion",
            "created": now_unix_s(),
            "model": "structured",
            "choices": [],
            "status_code": structured.status,
            "reason": "degraded",
            "suggestion": "ask again: the gateway stopped twice while it worked on this request",
            "degradation": record,
        }
        await respond_json(send, structured.status, body, record_headers(record))


def _waiting(identity: str, status: str) -> dict[str, Any]:
    return {"id": identity, "object": "chat.completion.async", "status": status, "poll": f"{PATH}{identity}"}


def _retry() -> tuple[bytes, bytes]:
    return (b"retry-after", str(_POLL_S).encode())


def _unknown(identity: str) -> BadRequest:
    text = f"id is {identity[:80]}: there is no such answer, or it was kept no longer"
    return BadRequest(text, field="id", status=404, code="async_unknown")


class _Outline(msgspec.Struct):
    degradation: DegradationRecord | None = None


def _outline(answer: bytes) -> Headers:
    record = msgspec.json.decode(answer, type=_Outline).degradation
    return [] if record is None else record_headers(record)


def _prefers_async(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """`Prefer: respond-async`, as RFC 7240 has it."""
    for name, value in headers:
        if name == b"prefer" and b"respond-async" in [one.split(b";")[0].strip().lower() for one in value.split(b",")]:
            return True
    return False
