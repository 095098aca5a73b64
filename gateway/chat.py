"""`POST /v1/chat/completions`: from the ASGI request to the reply, and a watch on the client leaving."""

import asyncio
from typing import Any

from gateway.answers.cache_key import tenant_of
from gateway.connection import CLIENT, LimitedProtocol
from gateway.deferred.desk import Desk
from gateway.errors import BadRequest
from gateway.forwarded import forwarded
from gateway.outcome import apology, log_mistake, outcome
from gateway.pipeline import Reply
from gateway.record import Reason
from gateway.request import parse
from gateway.runtime import Runtime
from gateway.tally import Tally
from gateway.wire import (
    STREAM_HEADERS,
    Headers,
    Receive,
    Send,
    SseSink,
    read_body,
    record_headers,
    reject,
    reply_body,
    respond,
    respond_json,
    structured_event,
)
from gateway.work import Work


class ChatCompletions:
    """The ASGI endpoint."""

    def __init__(self, runtime: Runtime, desk: Desk | None = None) -> None:
        self._runtime = runtime
        self._tally = Tally(runtime)
        self._desk = desk
        self._forwarded = frozenset(name.lower().encode() for name in runtime.config.server.forward_headers)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        runtime = self._runtime
        runtime.in_flight += 1
        if runtime.tracing is not None:
            runtime.tracing.begin(scope["headers"])
        try:
            await self._serve(scope, receive, send)
        except BadRequest as error:
            if runtime.tracing is not None:
                runtime.tracing.refused(error)
            await reject(send, error, runtime.metrics.rejected)
        except ConnectionError:
            if runtime.tracing is not None:
                runtime.tracing.gone(level=runtime.health.level, path=None, reasons=(), requested=None)
        finally:
            runtime.in_flight -= 1
            if runtime.tracing is not None:
                runtime.tracing.abandon()

    async def _serve(self, scope: Any, receive: Receive, send: Send) -> None:
        server = self._runtime.config.server
        raw = await read_body(receive, scope["headers"], max_bytes=server.max_body_bytes)
        work = self._runtime.work(parse(raw, max_tokens_bound=server.max_tokens_bound))
        try:
            await self._accepted(work, scope["headers"], scope[CLIENT], send)
        except (BadRequest, ConnectionError):
            raise
        except Exception as error:
            log_mistake(self._runtime, error)
            try:
                await self._reply(work, apology(self._runtime), send)
            except RuntimeError:  # a response has begun: the connection must not end as if it were whole
                raise error from None

    async def _accepted(self, work: Work, headers: Headers, client: LimitedProtocol, send: Send) -> None:
        runtime = self._runtime
        if runtime.manifests.current.manifests:
            runtime.assign(work, headers)
        work.tenant = tenant_of(headers, work.policy.cache.tenant_headers)
        if self._forwarded:
            work.forward = forwarded(headers, self._forwarded)
        if self._desk is not None:
            if await self._desk.accept(work, headers, send):
                return
        else:
            runtime.decide(work, may_defer=False)
        await self._while_client_stays(work, client, send)

    async def _while_client_stays(self, work: Work, client: LimitedProtocol, send: Send) -> None:
        """Answer; when the client leaves first, cancel, so that nothing is held for nobody."""
        if client.left:
            self._tally.gone(work)
            return
        task = asyncio.current_task()
        gone = False

        def leave() -> None:
            nonlocal gone
            gone = True
            if task is not None:
                task.cancel()

        client.on_leaving = leave
        try:
            await self._answer(work, send)
        except asyncio.CancelledError:
            if not gone or task is None:
                raise
            task.uncancel()
            self._tally.gone(work)
        finally:
            client.on_leaving = None

    async def _answer(self, work: Work, send: Send) -> None:
        runtime = self._runtime
        if runtime.draining:
            work.note(Reason.DRAINING)
            record = work.without_model("refused", abstained=True)
            await self._reply(work, Reply(status=429, record=record, retry_after_s=work.retry_after()), send)
            return
        if not work.request.stream:
            await self._reply(work, await outcome(self._runtime, work, None), send)
            return
        sink = SseSink(send, lambda: self._tally.first_token(work), clock=runtime.clock, waited=work.client_waited)
        reply = await outcome(self._runtime, work, sink)
        if sink.shown is not None:
            await sink.close()
            self._tally.replied(work, reply)
        else:
            await self._reply(work, reply, send)

    async def _reply(self, work: Work, reply: Reply, send: Send) -> None:
        headers = record_headers(reply.record)
        if work.request.stream and reply.completion is None and reply.retry_after_s is None:
            await respond(send, reply.status, structured_event(reply), [*STREAM_HEADERS, *headers])
        else:
            if reply.retry_after_s is not None:
                headers.append((b"retry-after", str(reply.retry_after_s).encode()))
            await respond_json(send, reply.status, reply_body(reply), headers)
        self._tally.replied(work, reply)
