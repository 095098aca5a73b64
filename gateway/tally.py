"""What is told about a request that is over: metrics, trace and a line of the log."""

from itertools import count
from uuid import uuid4

from gateway.pipeline import Reply
from gateway.record import Level
from gateway.runtime import Runtime
from gateway.telemetry import RequestLine
from gateway.tracing import CLIENT_GONE, Tracing
from gateway.work import Work


class Tally:
    """Counts each request once."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._run = uuid4().hex[:8]
        self._numbers = count(1)

    def first_token(self, work: Work) -> None:
        runtime = self._runtime
        exemplar = runtime.tracing.exemplar() if runtime.tracing is not None else None
        runtime.metrics.first_token(runtime.clock.now_s() - work.began_s, exemplar)

    def replied(self, work: Work, reply: Reply) -> None:
        """The client has its reply."""
        self.accepted(work, reply)
        runtime = self._runtime
        runtime.answered(work, reply.record, reply.completion, now_s=runtime.clock.now_s())

    def accepted(self, work: Work, reply: Reply) -> None:
        """The client is told to come back for its reply: nothing of what the answer took is known yet."""
        runtime = self._runtime
        now_s = runtime.clock.now_s()
        record = reply.record
        path = record.path or work.target
        identity = f"{self._run}-{next(self._numbers)}"
        exemplar = runtime.tracing.exemplar() if runtime.tracing is not None else None
        trace_id = None if exemplar is None else exemplar["trace_id"]
        if exemplar is None and record.level is not Level.HEALTHY:
            exemplar = {"request_id": identity}  # of the log's line
        runtime.metrics.answered(
            record,
            status=reply.status,
            stream=work.request.stream,
            took_s=now_s - work.began_s,
            path=path,
            exemplar=exemplar,
        )
        if runtime.tracing is not None:
            self._trace(runtime.tracing, work, reply, path)
        self._log(work, reply, identity=identity, trace_id=trace_id)

    def gone(self, work: Work) -> None:
        """The client left before its answer."""
        tracing = self._runtime.tracing
        trace_id = None if tracing is None else tracing.trace_id()
        if tracing is not None:
            requested = work.model_requested or self._runtime.config.server.served_model
            tracing.gone(level=work.level, path=work.target, reasons=work.reasons, requested=requested)
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
                trace_id=trace_id,
            )
        )

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

    def _took_ms(self, work: Work) -> float:
        return round((self._runtime.clock.now_s() - work.began_s) * 1000, 2)
