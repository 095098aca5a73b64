"""`POST /v1/chat/completions`: from the ASGI request to the reply, and a watch on the client leaving."""

import asyncio
import traceback
from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import uuid4

from gateway.answers.cache_key import tenant_of
from gateway.errors import BadRequest
from gateway.pipeline import Reply
from gateway.record import Level, Reason
from gateway.relay import send_error
from gateway.request import parse
from gateway.runtime import Runtime
from gateway.telemetry import Event, RequestLine
from gateway.tracing import Tracing
from gateway.wire import (
    STREAM_HEADERS,
    Headers,
    Receive,
    Send,
    SseSink,
    error_body,
    read_body,
    record_headers,
    reply_body,
    respond,
    respond_json,
    structured_event,
)
from gateway.work import Work

_WATCH_AFTER_S = 0.02
CLIENT_GONE = 499  # in the log only


class ChatCompletions:
    """The ASGI endpoint."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._run = uuid4().hex[:8]
        self._numbers = count(1)
        self._forwarded = frozenset(name.lower().encode() for name in runtime.config.server.forward_headers)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        runtime = self._runtime
        server = runtime.config.server
        runtime.in_flight += 1
        if runtime.tracing is not None:
            runtime.tracing.begin(scope["headers"])
        try:
            raw = await read_body(receive, scope["headers"], max_bytes=server.max_body_bytes)
            work = runtime.work(parse(raw, max_tokens_bound=server.max_tokens_bound))
            if runtime.manifests.current.manifests:
                runtime.assign(work, scope["headers"])
            work.tenant = tenant_of(scope["headers"], work.policy.cache.tenant_headers)
            if self._forwarded:
                work.forward = _picked(scope["headers"], self._forwarded)
            await self._while_client_stays(work, receive, send)
        except BadRequest as error:
            await respond_json(send, error.status, error_body(error))
        except ConnectionError:
            return
        finally:
            runtime.in_flight -= 1
            if runtime.tracing is not None:
                runtime.tracing.abandon()

    async def _while_client_stays(self, work: Work, receive: Receive, send: Send) -> None:
        """Answer; when the client leaves first, cancel, so that nothing is held for nobody."""
        task = asyncio.current_task()
        gone = False

        async def watch() -> None:
            nonlocal gone
            while (await receive())["type"] != "http.disconnect":
                pass
            gone = True
            if task is not None:
                task.cancel()

        watcher = None

        def begin() -> None:
            nonlocal watcher
            watcher = asyncio.create_task(watch())

        timer = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, begin)  # most answers are there before
        try:
            await self._answer(work, send)
        except asyncio.CancelledError:
            if not gone or task is None:
                raise
            task.uncancel()
            self._log_gone(work)
        finally:
            timer.cancel()
            if watcher is not None:
                watcher.cancel()

    async def _answer(self, work: Work, send: Send) -> None:
        runtime = self._runtime
        if runtime.draining:
            work.note(Reason.DRAINING)
            record = work.without_model("refused", abstained=True)
            await self._reply(work, Reply(status=429, record=record, retry_after_s=work.retry_after()), send)
            return
        if not work.request.stream:
            await self._reply(work, await self._outcome(work, None), send)
            return
        sink = SseSink(send, lambda: self._first_token(work))
        reply = await self._outcome(work, sink)
        if sink.started:
            await sink.close()
            self._count(work, reply)
        else:
            await self._reply(work, reply, send)

    def _first_token(self, work: Work) -> None:
        runtime = self._runtime
        trace_id = runtime.tracing.trace_id() if runtime.tracing is not None else None
        exemplar = None if trace_id is None else {"trace_id": trace_id}
        runtime.metrics.first_token(runtime.clock.now_s() - work.began_s, exemplar)

    async def _outcome(self, work: Work, sink: SseSink | None) -> Reply:
        """The pipeline's reply. A mistake of our own is logged with its traceback, and is no 500 either."""
        try:
            return await self._runtime.pipeline.answer(work, sink)
        except BadRequest:
            raise
        except Exception as error:
            frames = "".join(traceback.format_tb(error.__traceback__))  # not its text, which may quote the prompt
            self._runtime.log.write(Event(event="internal_error", detail=f"{type(error).__name__}\n{frames}"))
            record = work.without_model("structured", abstained=True, extra=[Reason.INTERNAL_ERROR])
            if sink is not None and sink.started:
                await send_error(sink, "the answer above is not complete", record)
            return Reply(status=work.policy.structured.status, record=record, suggestion="try again later")

    async def _reply(self, work: Work, reply: Reply, send: Send) -> None:
        headers = record_headers(reply.record)
        if work.request.stream and reply.completion is None and reply.retry_after_s is None:
            await respond(send, reply.status, structured_event(reply), [*STREAM_HEADERS, *headers])
        else:
            if reply.retry_after_s is not None:
                headers.append((b"retry-after", str(reply.retry_after_s).encode()))
            await respond_json(send, reply.status, reply_body(reply), headers)
        self._count(work, reply)

    def _count(self, work: Work, reply: Reply) -> None:
        runtime = self._runtime
        now_s = runtime.clock.now_s()
        record = reply.record
        path = record.path or work.target
        identity = f"{self._run}-{next(self._numbers)}"
        trace_id = runtime.tracing.trace_id() if runtime.tracing is not None else None
        exemplar = None
        if trace_id is not None:
            exemplar = {"trace_id": trace_id}
        elif record.level is not Level.HEALTHY:
            exemplar = {"request_id": identity}  # of the log's line
        runtime.metrics.answered(
            record,
            status=reply.status,
            stream=work.request.stream,
            took_s=now_s - work.began_s,
            path=path,
            exemplar=exemplar,
        )
        runtime.answered(work, record, reply.completion, now_s=now_s)
        if runtime.tracing is not None:
            self._trace(runtime.tracing, work, reply, path)
        self._log(work, reply, identity=identity, trace_id=trace_id)

    def _trace(self, tracing: Tracing, work: Work, reply: Reply, path: str) -> None:
        backend = self._runtime.backends.get(path)
        tracing.finish(
            reply.record,
            status=reply.status,
            path=path,
            requested=work.model_requested or self._runtime.config.server.served_model,
            served=reply.record.model_served or (backend.config.model if backend is not None else None),
            usage=reply.completion,
        )

    def _log(self, work: Work, reply: Reply, *, identity: str, trace_id: str | None) -> None:
        record, completion = reply.record, reply.completion
        with_text = self._runtime.config.telemetry.log_text
        self._runtime.log.write(
            RequestLine(
                event="request",
                id=identity,
                status=reply.status,
                level=record.level,
                path=record.path or work.target,
                reasons=record.reasons,
                duration_ms=self._took_ms(work),
                stream=work.request.stream,
                attempts=record.attempts,
                policy=record.policy,
                trace_id=trace_id,
                question=work.request.question if with_text else None,
                answer=completion.text if with_text and completion is not None else None,
            )
        )

    def _log_gone(self, work: Work) -> None:
        """The client left before its answer."""
        self._runtime.log.write(
            RequestLine(
                event="request",
                id=f"{self._run}-{next(self._numbers)}",
                status=CLIENT_GONE,
                level=work.level,
                path=None,
                reasons=tuple(work.reasons),
                duration_ms=self._took_ms(work),
                stream=work.request.stream,
                attempts=tuple(work.attempts),
                error="client gone",
            )
        )

    def _took_ms(self, work: Work) -> float:
        return round((self._runtime.clock.now_s() - work.began_s) * 1000, 2)


def _picked(headers: Headers, names: frozenset[bytes]) -> Mapping[str, str]:
    """The headers of these names."""
    return {name.decode("ascii"): value.decode("latin-1") for name, value in headers if name in names}
