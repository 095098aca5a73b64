"""What the gateway tells about each request: metrics, exemplars, traces and log lines."""

import asyncio
import json
import subprocess
import sys
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web
from measured import BYTE_PER_TOKEN
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from served import backend, gateway, policy_of
from upstream_stub import answers, hangs, running, says

from gateway.clock import SystemClock
from gateway.config import Manifests, Memory, Telemetry
from gateway.deferred.config import Deferred
from gateway.health import HealthState
from gateway.record import DegradationRecord, Dropped, Level
from gateway.standing import Standing
from gateway.telemetry import Metrics

GOOD = "Paris is the capital of France."
SECRET = "My name is Ada Example"
REFUSED = "kv_cache_allocation_failure_rate"
CLOCK = SystemClock()
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def lines(served):
    served.runtime.log.flush()
    return [json.loads(line) for line in served.runtime.log._out.getvalue().splitlines()]


def requests(served):
    """The lines of requests, without those of the level and the like."""
    return [line for line in lines(served) if line["event"] == "request"]


async def families(served, accept=OPENMETRICS):
    text = (await served.request("GET", "/metrics", Accept=accept)).body.decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


@asynccontextmanager
async def collector(metrics=None):
    """An OTLP receiver on a loopback port; `spans` fills as they come, and `metrics` with the batches of them."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    spans = []

    async def take(request):
        body = ExportTraceServiceRequest.FromString(await request.read())
        for resource in body.resource_spans:
            for scope in resource.scope_spans:
                spans.extend(scope.spans)
        return web.Response(body=b"", content_type="application/x-protobuf")

    async def take_metrics(request):
        body = ExportMetricsServiceRequest.FromString(await request.read())
        if metrics is not None:
            scopes = [scope for resource in body.resource_metrics for scope in resource.scope_metrics]
            metrics.append({metric.name: metric for scope in scopes for metric in scope.metrics})
        return web.Response(body=b"", content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    app.router.add_post("/v1/metrics", take_metrics)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", spans
    finally:
        await runner.cleanup()


def attributes(span):
    found = {}
    for pair in span.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


async def test_openmetrics_carries_an_exemplar_that_leads_to_the_log_line():
    async with running(answers({}, 500)) as up, gateway(backend(up, "primary")) as served:
        await served.chat()
        found = await families(served)
        buckets = [sample for sample in found["truefall_request_seconds"].samples if sample.exemplar]
        assert [sample.exemplar.labels["request_id"] for sample in buckets] == [requests(served)[0]["id"]]
        assert found["degraded_request_ratio"].samples[0].value == 1.0
        plain = await served.request("GET", "/metrics")
        assert plain.headers["Content-Type"].startswith("text/plain")
        assert "# {" not in plain.body.decode()


async def test_drops_and_forced_requests_are_counted(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "apiVersion: truefall.dev/v1alpha1\nkind: DegradationPolicy\nmetadata: {name: all}\n"
        "spec: {targetService: truefall, fallback: template}\n"
    )
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), manifests=Manifests(path=file)) as served:
        await served.chat(tools=[{"type": "function", "function": {"name": "f"}}])
        found = await families(served)
        assert [(one.labels, one.value) for one in found["truefall_dropped"].samples if one.name.endswith("total")] == [
            ({"what": "tools"}, 1.0)
        ]
        assert found["truefall_manifest_active"].samples[0].labels == {"policy": "all"}
        assert found["truefall_forced"].samples[0].value == 1.0
        assert requests(served)[0]["policy"] == "all"


@pytest.mark.parametrize("field", [field.name for field in msgspec.structs.fields(Dropped)])
def test_whatever_a_record_can_say_was_dropped_is_counted(field):
    metrics = Metrics()
    record = DegradationRecord(level=Level.DEGRADED, dropped=Dropped(**{field: 3}))
    metrics.answered(record, status=200, stream=False, took_s=0.1, path="primary")
    counted = [
        sample
        for family in metrics.registry.collect()
        if family.name.startswith("truefall_dropped")
        for sample in family.samples
        if sample.name.endswith("_total") and sample.value
    ]
    assert len(counted) == 1


async def test_requests_that_memory_refused_are_the_allocation_failure_rate_and_raise_a_manifest(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "apiVersion: truefall.dev/v1alpha1\nkind: DegradationPolicy\nmetadata: {name: no-memory}\n"
        "spec:\n  targetService: truefall\n  fallback: structured\n"
        "  conditions: [{metric: kv_cache_allocation_failure_rate, threshold: 0.2, window: 60s}]\n"
    )
    full = {"memory": Memory(kv_capacity_bytes=1000, shape=BYTE_PER_TOKEN)}
    policy = policy_of(ledger={"wait_s": 0.05}, breaker={"consecutive_failures": 99})
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary", **full), policy=policy, manifests=Manifests(path=file), tick_s=60.0) as served,
    ):
        for _ in range(15):
            assert (await served.chat()).record == {"level": "healthy"}
        assert (await families(served))[REFUSED].samples[0].value == 0.0
        held = await served.admin("POST", "ledger", {"backend": "primary", "share": 0.9, "ttl_s": 30})
        for _ in range(5):
            assert (await served.chat()).record["reasons"] == ["memory_full"]
        assert (await families(served))[REFUSED].samples[0].value == 0.25
        served.runtime.judge_manifests(served.runtime.facts())
        assert [one.name for one in served.runtime.manifests.active] == ["no-memory"]
        await served.admin("DELETE", f"ledger/{held.json['id']}")
        assert (await served.chat()).record["policy"] == "no-memory"


async def test_text_is_logged_only_when_asked_for():
    async with running(says(GOOD)) as up:
        async with gateway(backend(up, "primary")) as served:
            await served.chat(SECRET)
            assert SECRET not in json.dumps(lines(served))
        async with gateway(backend(up, "primary"), telemetry=Telemetry(log_text=True)) as served:
            await served.chat(SECRET)
            (line,) = requests(served)
            assert (line["question"], line["answer"]) == (SECRET, GOOD)


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
async def test_each_request_and_each_call_is_a_span_that_carries_the_degrade_reason(stream):
    pytest.importorskip("opentelemetry.sdk")
    settings = {"sample_ratio": 1.0, "export_s": 0.05}
    async with collector() as (endpoint, spans), running(answers({}, 500)) as bad, running(says(GOOD)) as good:
        telemetry = Telemetry(otlp_endpoint=endpoint, **settings)
        both = (backend(bad, "primary"), backend(good, "secondary"))
        async with gateway(*both, telemetry=telemetry) as served:
            await served.chat(SECRET, stream=stream)
            trace_id = requests(served)[0]["trace_id"]
            exemplars = [one.exemplar for one in (await families(served))["truefall_request_seconds"].samples]
            assert trace_id in [one.labels["trace_id"] for one in exemplars if one]
    by_kind = {span.kind: attributes(span) for span in spans if span.kind == 2}
    request = by_kind[2]
    assert request["gen_ai.operation.name"] == "chat"
    assert request["gen_ai.request.model"] == "truefall"
    assert request["gen_ai.response.model"] == "secondary-model"
    assert (request["gen_ai.usage.input_tokens"], request["gen_ai.usage.output_tokens"]) == (5, 5)
    assert (request["truefall.degradation.level"], request["truefall.degradation.path"]) == ("degraded", "secondary")
    assert request["truefall.degradation.reasons"] == ["backend_error"]
    calls = sorted((span for span in spans if span.kind == 3), key=lambda span: span.start_time_unix_nano)
    assert [attributes(span)["gen_ai.request.model"] for span in calls] == ["primary-model", "secondary-model"]
    assert [attributes(span)["truefall.degradation.reasons"] for span in calls] == [["backend_error"], []]
    assert attributes(calls[0])["error.type"] == "backend_error"
    assert {span.trace_id.hex() for span in spans} == {trace_id}
    assert SECRET not in str(spans)
    assert GOOD not in str(spans)


TRACED = {"sample_ratio": 1.0, "export_s": 0.05}


@pytest.mark.slow
async def test_an_answer_for_later_has_a_line_and_a_span_when_accepted_and_when_given(tmp_path):
    pytest.importorskip("opentelemetry.sdk")
    policy = policy_of(decision={"apply": "always"})
    async with (
        collector() as (endpoint, spans),
        running(says(GOOD)) as up,
        gateway(
            backend(up, "primary"),
            policy=policy,
            telemetry=Telemetry(otlp_endpoint=endpoint, **TRACED),
            deferred=Deferred(path=tmp_path / "async.db"),
        ) as served,
    ):
        served.runtime.backends["primary"].standing = Standing(confidence=1.0, latency_s=1.5, at_s=float("inf"))
        accepted = await served.chat(SECRET, **{"async": True})
        assert accepted.status == 202
        async with asyncio.timeout(20):
            while len(requests(served)) < 2:
                await CLOCK.sleep(0.01)
        told = requests(served)
    assert [(one["status"], one["path"]) for one in told] == [(202, "async"), (200, "primary")]
    assert len({one["trace_id"] for one in told}) == 1
    taken, given = (next(attributes(span) for span in spans if span.kind == kind) for kind in (2, 5))
    assert (taken["http.response.status_code"], taken["truefall.degradation.path"]) == (202, "async")
    assert taken["truefall.degradation.reasons"] == ["decision"]
    assert (given["http.response.status_code"], given["truefall.degradation.path"]) == (200, "primary")
    assert {span.trace_id.hex() for span in spans} == {told[0]["trace_id"]}
    (call,) = [span for span in spans if span.kind == 3]
    assert call.parent_span_id == next(span.span_id for span in spans if span.kind == 5)
    assert SECRET not in str(spans)


@pytest.mark.slow
async def test_the_span_of_a_refused_request_tells_what_was_wrong():
    pytest.importorskip("opentelemetry.sdk")
    async with (
        collector() as (endpoint, spans),
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), telemetry=Telemetry(otlp_endpoint=endpoint, **TRACED)) as served,
    ):
        assert (await served.chat(SECRET, n=2)).status == 400
    (told,) = [attributes(span) for span in spans]
    assert told["http.response.status_code"] == 400
    assert told["error.type"] == "invalid_request"
    assert spans[0].status.code == 0  # as OpenTelemetry has it for what is the client's own fault


@pytest.mark.slow
async def test_the_spans_of_a_client_that_leaves_tell_how_far_it_came():
    pytest.importorskip("opentelemetry.sdk")
    async with (
        collector() as (endpoint, spans),
        running(hangs()) as up,
        gateway(backend(up, "primary"), telemetry=Telemetry(otlp_endpoint=endpoint, **TRACED)) as served,
    ):
        leaving = asyncio.create_task(served.chat(SECRET))
        async with asyncio.timeout(20):
            while not up.seen:
                await CLOCK.sleep(0.01)
            leaving.cancel()
            while not requests(served):
                await CLOCK.sleep(0.01)
        (line,) = requests(served)
    request, call = (next(attributes(span) for span in spans if span.kind == kind) for kind in (2, 3))
    assert (request["http.response.status_code"], request["error.type"]) == (499, "client_gone")
    assert (request["truefall.degradation.level"], request["truefall.degradation.path"]) == ("healthy", "primary")
    assert request["truefall.degradation.reasons"] == []
    assert (call["error.type"], call["truefall.attempt.outcome"]) == ("client_gone", "cancelled")
    assert line["trace_id"] == spans[0].trace_id.hex()


def exemplars_of(batches, name):
    points = [point for batch in batches if name in batch for point in batch[name].histogram.data_points]
    return [exemplar for point in points for exemplar in point.exemplars]


@pytest.mark.slow
async def test_metrics_go_by_otlp_too_and_their_exemplars_lead_to_the_span_and_are_sent_once():
    pytest.importorskip("opentelemetry.sdk")
    batches = []
    async with collector(batches) as (endpoint, spans), running(answers({}, 500)) as bad, running(says(GOOD)) as good:
        telemetry = Telemetry(otlp_endpoint=endpoint, otlp_metrics=True, sample_ratio=1.0, export_s=0.05)
        both = (backend(bad, "primary"), backend(good, "secondary"))
        async with gateway(*both, telemetry=telemetry) as served:
            await served.chat(SECRET)
            for _ in range(1000):
                if len([batch for batch in batches if "truefall_requests" in batch]) > 2:
                    break
                await CLOCK.sleep(0.01)
            scraped = await families(served)
    last = batches[-1]
    (seconds,) = last["truefall_request_seconds"].histogram.data_points
    told = [one for one in scraped["truefall_request_seconds"].samples if one.name.endswith("_bucket")]
    assert (seconds.count, list(seconds.explicit_bounds)) == (1, [float(one.labels["le"]) for one in told][:-1])
    assert sum(seconds.bucket_counts) == told[-1].value == 1
    (requests_,) = last["truefall_requests"].sum.data_points
    assert {one.key: one.value.string_value for one in requests_.attributes}["path"] == "secondary"
    assert last["truefall_requests"].sum.is_monotonic
    assert 0 < requests_.start_time_unix_nano <= requests_.time_unix_nano
    assert last["degraded_request_ratio"].gauge.data_points[0].as_double == 1.0
    (span,) = [one for one in spans if one.kind == 2]
    (exemplar,) = exemplars_of(batches, "truefall_request_seconds")
    assert (exemplar.trace_id, exemplar.span_id) == (span.trace_id, span.span_id)
    assert exemplar.as_double == pytest.approx(seconds.sum)
    assert SECRET not in str(batches)


async def test_without_being_asked_no_metric_leaves_the_gateway():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        assert served.runtime.otlp_metrics is None
    with pytest.raises(ValueError, match="no otlp_endpoint"):
        Telemetry(otlp_metrics=True)


@pytest.mark.slow
async def test_a_callers_trace_goes_on_and_reaches_the_backend():
    pytest.importorskip("opentelemetry.sdk")
    seen = []

    async def answer(request):
        seen.append(request.headers.get("traceparent"))
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        message = {"role": "assistant", "content": GOOD}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    mine = "0af7651916cd43dd8448eb211c80319c"
    body = b'{"messages": [{"role": "user", "content": "hello"}]}'
    async with collector() as (endpoint, spans):
        telemetry = Telemetry(otlp_endpoint=endpoint, sample_ratio=0.0, export_s=0.05)
        async with gateway(backend(runner.addresses[0][1], "primary"), telemetry=telemetry) as served:
            await served.post("/v1/chat/completions", body, traceparent=f"00-{mine}-b7ad6b7169203331-01")
            await served.post("/v1/chat/completions", body)
    await runner.cleanup()
    assert {span.trace_id.hex() for span in spans} == {mine}
    request, call = sorted(spans, key=lambda span: span.kind)
    assert request.parent_span_id.hex() == "b7ad6b7169203331"
    assert call.parent_span_id == request.span_id
    assert seen[0] == f"00-{mine}-{call.span_id.hex()}-01"
    assert int(seen[1][-2:], 16) & 1 == 0  # not sampled


@pytest.mark.slow
async def test_a_collector_that_is_away_costs_no_answer():
    pytest.importorskip("opentelemetry.sdk")
    telemetry = Telemetry(otlp_endpoint="http://127.0.0.1:9", sample_ratio=1.0, export_s=0.05)
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), telemetry=telemetry) as served:
        began_s = CLOCK.now_s()
        answered = await asyncio.gather(*[served.chat() for _ in range(20)])
        assert all(answer.text == GOOD for answer in answered)
        assert CLOCK.now_s() - began_s < 5
        began_s = CLOCK.now_s()
    assert CLOCK.now_s() - began_s < 5  # the gateway ends without waiting for it


async def test_without_an_endpoint_there_is_no_tracing():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        assert served.runtime.tracing is None
        await served.chat()
        assert "trace_id" not in requests(served)[0]


@pytest.mark.slow
async def test_drift_of_live_traffic_raises_a_manifest(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "apiVersion: truefall.dev/v1alpha1\nkind: DegradationPolicy\nmetadata: {name: on-drift}\n"
        "spec:\n  targetService: truefall\n  fallback: template\n"
        "  conditions: [{metric: drift_alert, threshold: 0, window: 1s}]\n"
    )
    drift = {"features": ["answer_chars"], "window_samples": 50, "stride_samples": 10, "bins": 5}
    policy = policy_of(drift=drift)
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), policy=policy, manifests=Manifests(path=file)) as served,
    ):
        for _ in range(50):
            await served.chat()
        up.script = says(GOOD * 3)
        for _ in range(80):
            await served.chat()
            served.runtime.health = HealthState()
        for _ in range(100):
            if served.runtime.manifests.active:
                break
            await CLOCK.sleep(0.01)
        assert (await served.chat()).record["policy"] == "on-drift"
        assert [line["event"] for line in lines(served) if line["event"].startswith("drift")] == [
            "drift_baseline",
            "drift_alert",
        ]
        found = await families(served)
        assert found["truefall_drift_alert"].samples[0].value == 1.0
        state = (await served.admin("GET", "state")).json["drift"]
        assert state["features"]["answer_chars"]["alert"]
        assert (await served.admin("POST", "drift/rebase")).json == {"features": ["answer_chars"]}
        assert (await served.admin("GET", "state")).json["drift"] == {"features": {}, "causes": []}


@pytest.mark.slow
def test_a_gateway_without_traces_and_api_server_imports_neither_client():
    check = (
        "import sys, gateway.app; print(*[m for m in ('opentelemetry.sdk', 'kubernetes_asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
