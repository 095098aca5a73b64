"""Traces by OpenTelemetry's GenAI conventions: a span per request and per call to a backend. Off unless configured."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gateway.backends.origin import Origin
from gateway.config import Telemetry
from gateway.errors import BadRequest, ConfigError
from gateway.record import Attempt, DegradationRecord

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

_TRACE_HEADERS = (b"traceparent", b"tracestate")
_MOST_STATE_BYTES = 512  # of a tracestate; what is longer is dropped, as its standard allows
_CHAT = "chat"  # gen_ai.operation.name
_QUEUE_SPANS = 2048
_EXPORT_S, _SHUTDOWN_S = 5.0, 2.0

LEVEL = "truefall.degradation.level"
PATH = "truefall.degradation.path"
REASONS = "truefall.degradation.reasons"
POLICY = "truefall.degradation.policy"
OUTCOME = "truefall.attempt.outcome"
_STATUS, _ERROR = "http.response.status_code", "error.type"
_FIRST_SERVER_ERROR = 500
_GONE = "client_gone"
CLIENT_GONE = 499  # in log and traces only


@dataclass(slots=True)
class Trace:
    """The spans of one request. `call` is the call to a backend that runs now."""

    request: "Span"
    call: "Span | None" = None


class Tracing:
    """Begins and ends spans; the trace of the request at hand is the context's own."""

    def __init__(self, provider: "TracerProvider", exporter: "SpanExporter") -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._exporter = exporter
        self._tracer = provider.get_tracer("truefall.gateway")
        self._propagator = TraceContextTextMapPropagator()
        self._current: ContextVar[Trace | None] = ContextVar("trace", default=None)

    def begin(self, headers: Iterable[tuple[bytes, bytes]], *, deferred: bool = False) -> None:
        """A request came; a caller's own trace goes on, with its own decision on sampling.

        `deferred`: one that was accepted before is worked on now, and `headers` are what `carried` gave then.
        """
        from opentelemetry.trace import SpanKind

        carrier = {
            name.decode(): value.decode("latin-1")
            for name, value in headers
            if name in _TRACE_HEADERS and len(value) <= _MOST_STATE_BYTES
        }
        context = self._propagator.extract(carrier) if carrier else None
        kind = SpanKind.CONSUMER if deferred else SpanKind.SERVER
        self._current.set(Trace(self._tracer.start_span(_CHAT, context=context, kind=kind)))

    def carried(self) -> dict[str, str]:
        """The headers by which the request at hand goes on elsewhere, or later."""
        from opentelemetry.trace import set_span_in_context

        trace, headers = self._current.get(), dict[str, str]()
        if trace is not None:
            self._propagator.inject(headers, context=set_span_in_context(trace.request))
        return headers

    def trace_id(self) -> str | None:
        """Of the request at hand, in hex; None where it is not sampled."""
        ids = self.exemplar()
        return None if ids is None else ids["trace_id"]

    def exemplar(self) -> dict[str, str] | None:
        """The ids of the request at hand, in hex, for a metric that tells of it; None where it is not sampled."""
        trace = self._current.get()
        if trace is None or not trace.request.is_recording():
            return None
        context = trace.request.get_span_context()
        return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    def attempted(self, attempt: Attempt, *, model: str) -> None:
        """A try at a backend is over; one that was never sent gets a span without a duration."""
        trace = self._current.get()
        if trace is None or not trace.request.is_recording():
            return
        span, trace.call = trace.call or self._start_call(trace), None
        span.update_name(f"{_CHAT} {model}")
        span.set_attributes({"gen_ai.request.model": model, PATH: attempt.path, OUTCOME: attempt.outcome})
        span.set_attribute(REASONS, [attempt.reason] if attempt.reason else [])
        if attempt.reason is not None:
            self._fail(span, attempt.reason)
        span.end()

    def finish(
        self, record: DegradationRecord, *, status: int, path: str, requested: str, served: str | None, usage: Any
    ) -> None:
        """The request is over. `usage` has prompt_tokens and completion_tokens, either None where nobody said."""
        trace = self._current.get()
        if trace is None:
            return
        self._current.set(None)
        span = trace.request
        if span.is_recording():
            span.update_name(f"{_CHAT} {requested}")
            span.set_attributes(
                {
                    "gen_ai.operation.name": _CHAT,
                    "gen_ai.provider.name": "truefall",
                    "gen_ai.request.model": requested,
                    _STATUS: status,
                    LEVEL: record.level,
                    PATH: path,
                    REASONS: list(record.reasons),
                }
            )
            optional = {
                "gen_ai.response.model": served,
                "gen_ai.usage.input_tokens": getattr(usage, "prompt_tokens", None),
                "gen_ai.usage.output_tokens": getattr(usage, "completion_tokens", None),
                "gen_ai.response.finish_reasons": [usage.finish_reason] if usage and usage.finish_reason else None,
                POLICY: record.policy,
            }
            span.set_attributes({key: value for key, value in optional.items() if value is not None})
            if status >= _FIRST_SERVER_ERROR:
                self._fail(span, record.reasons[-1] if record.reasons else str(status))
        if trace.call is not None:
            trace.call.end()
        span.end()

    def refused(self, error: BadRequest) -> None:
        """The request is the client's own fault: its span tells which, and is no failure of this server's."""
        self._end({"gen_ai.operation.name": _CHAT, _STATUS: error.status, _ERROR: error.reason})

    def gone(self, *, level: str, path: str | None, reasons: Iterable[str], requested: str | None) -> None:
        """The client left, while `path` had its turn; None: before anything was known of what it asked."""
        told = {_STATUS: CLIENT_GONE, _ERROR: _GONE, LEVEL: level, REASONS: list(reasons)}
        optional = {PATH: path, "gen_ai.request.model": requested}
        told |= {key: value for key, value in optional.items() if value is not None}
        self._end({"gen_ai.operation.name": _CHAT, "gen_ai.provider.name": "truefall", **told})

    def _end(self, told: Mapping[str, Any]) -> None:
        """End the request at hand with these attributes; a call that it was at was cancelled."""
        trace = self._current.get()
        if trace is None:
            return
        trace.request.set_attributes(told)
        if trace.call is not None:
            trace.call.set_attributes({_ERROR: str(told[_ERROR]), OUTCOME: "cancelled", REASONS: []})
        self.abandon()

    def abandon(self) -> None:
        """End what nothing else has ended: the request came to nothing that can be told."""
        trace = self._current.get()
        if trace is not None:
            self._current.set(None)
            for span in (trace.call, trace.request):
                if span is not None:
                    span.end()

    def calling(self, origin: Origin) -> Mapping[str, str]:
        """A call to a backend begins: its span, and the headers that carry the trace on."""
        from opentelemetry.trace import set_span_in_context

        trace = self._current.get()
        if trace is None:
            return {}
        trace.call = span = self._start_call(trace)
        if span.is_recording():
            span.set_attributes({"server.address": origin.host, "server.port": origin.port})
        headers: dict[str, str] = {}
        self._propagator.inject(headers, context=set_span_in_context(span))
        return headers

    def close(self) -> None:
        """Send what waits, for some seconds at most: the SDK alone would go on trying a collector that is away."""
        giving_up = threading.Timer(_SHUTDOWN_S, self._exporter.shutdown)
        giving_up.start()
        self._provider.shutdown()
        giving_up.cancel()

    def _start_call(self, trace: Trace) -> "Span":
        from opentelemetry.trace import SpanKind, set_span_in_context

        attributes = {"gen_ai.operation.name": _CHAT, "gen_ai.provider.name": "openai"}
        context = set_span_in_context(trace.request)
        return self._tracer.start_span(_CHAT, context=context, kind=SpanKind.CLIENT, attributes=attributes)

    @staticmethod
    def _fail(span: "Span", reason: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        span.set_attribute(_ERROR, reason)
        span.set_status(Status(StatusCode.ERROR, reason))


def open_tracing(settings: Telemetry, tell: Callable[[str, str], None]) -> Tracing | None:
    """None where no endpoint is set. Raises ConfigError where the SDK is not installed."""
    if settings.otlp_endpoint is None:
        return None
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        raise ConfigError("telemetry.otlp_endpoint needs OpenTelemetry: pip install 'truefall[otel]'")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    loop = asyncio.get_running_loop()

    def tell_from_any_thread(event: str, detail: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            loop.call_soon_threadsafe(tell, event, detail)

    _tell_failures(tell_from_any_thread)
    endpoint = settings.otlp_endpoint.rstrip("/")
    url = endpoint if endpoint.endswith("/v1/traces") else f"{endpoint}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=url, timeout=_EXPORT_S)
    return Tracing(make_provider(settings, exporter), exporter)


def make_provider(settings: Telemetry, exporter: "SpanExporter") -> "TracerProvider":
    """Spans are sampled by trace, sent in batches by a thread of their own, and dropped when that is overrun."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(settings.sample_ratio)),
        resource=Resource.create({"service.name": settings.service_name}),
        shutdown_on_exit=False,
    )
    processor = BatchSpanProcessor(
        exporter, max_queue_size=_QUEUE_SPANS, schedule_delay_millis=int(settings.export_s * 1000)
    )
    provider.add_span_processor(processor)
    return provider


class _Told(logging.Handler):
    """Sends the SDK's complaints, such as a collector that is away, to the gateway's own log."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell("trace_export", record.getMessage()[:300])


def _tell_failures(tell: Callable[[str, str], None]) -> None:
    logger = logging.getLogger("opentelemetry")
    logger.handlers = [_Told(tell)]
    logger.propagate = False
