"""The metrics of `/metrics` by OTLP too, with their exemplars: for collectors that are pushed to and do not scrape."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from prometheus_client import Metric as Family
from prometheus_client.samples import Sample

from gateway.clock import Clock
from gateway.config import Telemetry

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import Exemplar
    from opentelemetry.sdk.metrics.export import HistogramDataPoint, Metric, MetricExporter, MetricsData

_EXPORT_S, _SHUTDOWN_S = 5.0, 2.0
_NS = 1_000_000_000
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What the points cover, in ns since 1970: counts since the start; exemplars since the last time."""

    start_ns: int
    last_ns: int
    now_ns: int


@dataclass(slots=True)
class _Buckets:
    """One histogram of one set of labels, as Prometheus tells it: each bucket holds the ones below it as well."""

    bounds: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    total: float = 0.0
    created_ns: int | None = None
    exemplars: list["Exemplar"] = field(default_factory=list)


class OtlpMetrics:
    """Sends what `collect` finds, every `export_s`; what the collector does not take is sent again with the next."""

    def __init__(
        self,
        settings: Telemetry,
        exporter: "MetricExporter",
        *,
        collect: Callable[[], Iterable[Family]],
        clock: Clock,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._settings = settings
        self._exporter = exporter
        self._collect = collect
        self._clock = clock
        self._now_ns = now_ns  # since 1970, as OTLP dates what is sent
        self._start_ns = self._last_ns = now_ns()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._clock.sleep(self._settings.export_s)
            await self._send()

    async def close(self) -> None:
        """Once more, for some seconds at most."""
        giving_up = threading.Timer(_SHUTDOWN_S, self._exporter.shutdown)
        giving_up.start()
        await self._send()
        giving_up.cancel()

    async def _send(self) -> None:
        from opentelemetry.sdk.metrics.export import MetricExportResult

        span = Span(start_ns=self._start_ns, last_ns=self._last_ns, now_ns=self._now_ns())
        data = metrics_data(self._collect(), span, service=self._settings.service_name)
        if await asyncio.to_thread(self._exporter.export, data) is MetricExportResult.SUCCESS:
            self._last_ns = span.now_ns


def open_otlp_metrics(
    settings: Telemetry, *, collect: Callable[[], Iterable[Family]], clock: Clock
) -> OtlpMetrics | None:
    """None where the config does not ask for it; `open_tracing` has seen to it that the SDK is there."""
    if settings.otlp_endpoint is None or not settings.otlp_metrics:
        return None
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    endpoint = settings.otlp_endpoint.rstrip("/").removesuffix("/v1/traces")
    exporter = OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics", timeout=_EXPORT_S)
    return OtlpMetrics(settings, exporter, collect=collect, clock=clock)


def metrics_data(families: Iterable[Family], span: Span, *, service: str) -> "MetricsData":
    """Everything in one batch, under the names that Prometheus has for it."""
    from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    metrics = [metric for family in families if (metric := _metric(family, span)) is not None]
    scope = ScopeMetrics(scope=InstrumentationScope("truefall.gateway"), metrics=metrics, schema_url="")
    resource = Resource.create({"service.name": service})
    return MetricsData([ResourceMetrics(resource=resource, scope_metrics=[scope], schema_url="")])


def _metric(family: Family, span: Span) -> "Metric | None":
    """None for a kind that OTLP has no name for, and for a family without samples."""
    from opentelemetry.sdk.metrics.export import AggregationTemporality, Gauge, Histogram, Metric, NumberDataPoint, Sum

    cumulative = AggregationTemporality.CUMULATIVE
    data: Any = None
    if family.type == "histogram":
        data = Histogram(_histograms(family.samples, span), aggregation_temporality=cumulative)
    elif family.type in ("counter", "gauge"):
        created = {_labels(one): int(one.value * _NS) for one in family.samples if one.name.endswith("_created")}
        points = [
            NumberDataPoint(
                attributes=one.labels,
                start_time_unix_nano=created.get(_labels(one), span.start_ns),
                time_unix_nano=span.now_ns,
                value=float(one.value),
            )
            for one in family.samples
            if not one.name.endswith("_created")
        ]
        is_gauge = family.type == "gauge"
        data = Gauge(points) if is_gauge else Sum(points, aggregation_temporality=cumulative, is_monotonic=True)
    if data is None or not data.data_points:
        return None
    return Metric(name=family.name, description=family.documentation, unit="", data=data)


def _histograms(samples: Iterable[Sample], span: Span) -> list["HistogramDataPoint"]:
    from opentelemetry.sdk.metrics.export import HistogramDataPoint

    found: dict[Labels, _Buckets] = {}
    for sample in samples:
        one = found.setdefault(_labels(sample), _Buckets())
        if sample.name.endswith("_bucket"):
            one.bounds.append(float(sample.labels["le"]))
            one.counts.append(int(sample.value))
            one.exemplars += _exemplars(sample, span)
        elif sample.name.endswith("_sum"):
            one.total = sample.value
        elif sample.name.endswith("_created"):
            one.created_ns = int(sample.value * _NS)
    return [
        HistogramDataPoint(
            attributes=dict(labels),
            start_time_unix_nano=one.created_ns or span.start_ns,
            time_unix_nano=span.now_ns,
            count=one.counts[-1],
            sum=one.total,
            bucket_counts=[after - before for before, after in zip([0, *one.counts], one.counts, strict=False)],
            explicit_bounds=one.bounds[:-1],  # the last one is infinite
            min=None,  # type: ignore[arg-type]  # Prometheus does not keep it, and OTLP does not ask for it
            max=None,  # type: ignore[arg-type]
            exemplars=one.exemplars,
        )
        for labels, one in found.items()
    ]


def _exemplars(sample: Sample, span: Span) -> list["Exemplar"]:
    """The bucket's newest, if it was not sent before; without ids of a trace it names the log's line."""
    from opentelemetry.sdk.metrics import Exemplar

    kept = sample.exemplar
    at_ns = int(float(kept.timestamp or 0) * _NS) if kept is not None else 0
    if kept is None or at_ns <= span.last_ns:
        return []
    ids = {name: int(kept.labels[name], 16) for name in ("trace_id", "span_id") if name in kept.labels}
    others: Mapping[str, str] = {name: value for name, value in kept.labels.items() if name not in ids}
    return [Exemplar(filtered_attributes=others, value=float(kept.value), time_unix_nano=at_ns, **ids)]


def _labels(sample: Sample) -> Labels:
    return tuple(sorted((name, value) for name, value in sample.labels.items() if name != "le"))
