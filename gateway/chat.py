"""`POST /v1/chat/completions`: from the ASGI request to the reply, and a watch on the client leaving."""

import asyncio
import traceback
from itertools import count
from typing import Any
from uuid import uuid4

from gateway.answers.cache_key import tenant_of
from gateway.errors import BadRequest
from gateway.pipeline import Reply
from gateway.record import DegradationRecord, Reason
from gateway.relay import send_error
from gateway.request import parse
from gateway.runtime import Runtime
from gateway.telemetry import Event, RequestLine
from gateway.wire import (
    STREAM_HEADERS,
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


class ChatCompletions:
    """The ASGI endpoint."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._run = uuid4().hex[:8]
        self._numbers = count(1)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        runtime = self._runtime
        server = runtime.config.server
        runtime.in_flight += 1
        try:
            raw = await read_body(receive, scope["headers"], max_bytes=server.max_body_bytes)
            work = runtime.work(parse(raw, max_tokens_bound=server.max_tokens_bound))
            if runtime.manifests.current.manifests:
                runtime.assign(work, scope["headers"])
            work.tenant = tenant_of(scope["headers"], work.policy.cache.tenant_headers)
            await self._while_client_stays(work, receive, send)
        except BadRequest as error:
            await respond_json(send, error.status, error_body(error))
        except ConnectionError:
            return
        finally:
            runtime.in_flight -= 1

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
            self._log(work, 499, None, "client gone")
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
        sink = SseSink(send, lambda: runtime.metrics.first_token(runtime.clock.now_s() - work.began_s))
        reply = await self._outcome(work, sink)
        if sink.started:
            await sink.close()
            self._count(work, reply)
        else:
            await self._reply(work, reply, send)

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
        runtime.metrics.answered(
            record, status=reply.status, stream=work.request.stream, took_s=now_s - work.began_s, path=path
        )
        runtime.answered(work, record, now_s=now_s)
        self._log(work, reply.status, record, None)

    def _log(self, work: Work, status: int, record: DegradationRecord | None, error: str | None) -> None:
        self._runtime.log.write(
            RequestLine(
                event="request",
                id=f"{self._run}-{next(self._numbers)}",
                status=status,
                level=record.level if record else work.level,
                path=(record.path or work.target) if record else None,
                reasons=tuple(record.reasons if record else work.reasons),
                duration_ms=round((self._runtime.clock.now_s() - work.began_s) * 1000, 2),
                stream=work.request.stream,
                attempts=record.attempts if record else tuple(work.attempts),
                error=error,
            )
        )
