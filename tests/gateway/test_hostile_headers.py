"""Whatever stands in the headers, of a client's or of a backend's: no 5xx and no mistake of the gateway's own."""

import json
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from served import TOKEN, backend, gateway, policy_of
from test_observation import collector
from upstream_stub import answers, completion, running, says

from gateway.api_key import ApiKey, hash_of
from gateway.config import Manifests, Telemetry
from gateway.deferred.config import Deferred
from gateway.scrape import readable
from gateway.wire import TooLarge, read_body

CHAT = json.dumps({"messages": [{"role": "user", "content": "What is the capital?"}]}).encode()
STREAM = json.dumps({"messages": [{"role": "user", "content": "What is the capital?"}], "stream": True}).encode()
ENDPOINTS = (
    ("POST", "/v1/chat/completions", CHAT),
    ("POST", "/v1/chat/completions", STREAM),
    ("GET", "/v1/models", b""),
    ("GET", "/v1/models/truefall", b""),
    ("GET", "/v1/async/x", b""),
    ("DELETE", "/v1/async/x", b""),
    ("GET", "/healthz", b""),
    ("GET", "/readyz", b""),
    ("GET", "/metrics", b""),
    ("GET", "/admin/state", b""),
    ("POST", "/admin/ledger", b"{}"),
    ("DELETE", "/admin/ledger", b""),
    ("DELETE", "/admin/ledger/x", b""),
    ("POST", "/admin/breaker", b"{}"),
    ("POST", "/admin/drain", b'{"draining": false}'),
    ("POST", "/admin/drift/rebase", b""),
    ("POST", "/admin/policy/reload", b""),
    ("GET", "/nowhere", b""),
)
VERSIONS = ("1.x", "x", "", "1.0.0.0.0", "-1", "1" * 5000, "1.", "\xb2", '"1.0.0"', "1.0.0", "nan", "9999.9999.9999")
ANY = (
    b"", b" ", b"\xff\xfe\x80", b"1" * 5000, b"-1", b"1.x", b"=", b";", b",", b'"', b";;;===,,,", b"a" * 30_000,
    b"%00%ff", b"\t", b"[::1", b"127.0.0.1:99999999", b"q=1e999",
)  # fmt: skip
HOSTILE = {
    "accept": [f"application/openmetrics-text; version={one}".encode("latin-1") for one in VERSIONS]
    + [f"text/plain;version={one};escaping=x".encode("latin-1") for one in VERSIONS],
    "accept-encoding": [b"gzip;q=x", b"br, *;q=0", b"identity;q=0"],
    "authorization": [b"Bearer", b"Bearer ", b"bearer \xff", b"Basic \xff", b"Bearer " + b"x" * 30_000],
    "content-type": [
        b"application/json; charset=\xff", b"multipart/form-data; boundary=",
        b"text/plain; charset=utf-99",
    ],
    "content-length": [b"x", b"-5", b"+5", b"5, 5", b"0x10", b"9" * 19, b"9" * 5000, b"1e3", b"\xb2"],
    "expect": [b"200-ok", b"\xff"],
    "prefer": [b"respond-async", b"respond-async; wait=x", b"wait=-1, respond-async=\xff", b"respond-async,,;"],
    "traceparent": [
        b"00-" + b"0" * 32 + b"-" + b"0" * 16 + b"-01", b"00-" + b"f" * 32 + b"-" + b"f" * 16 + b"-ff",
        b"ff-" + b"g" * 32 + b"-x-y", b"00-" + b"a" * 5000,
    ],
    "tracestate": [b"a=b," * 600, b"=,=", b"\xff=\xff"],
    "baggage": [b"a=%ff%", b"=" * 5000],
    "host": [],
    "x-api-key": [],
    "x-forwarded-for": [b"127.0.0.1, \xff", b"[::1]:x", b",,,"],
    "x-forwarded-proto": [b"wss", b"gopher"],
    "x-tenant-id": [],
    "x-truefall-endpoint": [],
    "x-truefall-service": [],
    "x-truefall-session": [],
    "x-truefall-trial": [],
    "openai-organization": [],
    "cookie": [],
    "range": [b"bytes=9-1", b"bytes=x"],
    "if-modified-since": [b"Mon, 99 Jan 99999 99:99:99 GMT"],
}  # fmt: skip
KEY = "tf-the-only-key"
MANIFEST = """apiVersion: truefall.dev/v1alpha1
kind: DegradationPolicy
metadata: {name: slow}
spec: {targetService: other, fallback: template, conditions: [{metric: error_rate, threshold: 0.5, window: 1m}]}
"""


def message(method, path, body, name, value, *, with_rights):
    """A whole request with the hostile header, and with what opens the door where that is another one."""
    lines = [f"{method} {path} HTTP/1.1".encode(), b"connection: close"]
    if name != "host":
        lines.append(b"host: gateway")
    if name != "content-length":
        lines.append(b"content-length: %d" % len(body))
    if with_rights and name != "authorization":
        lines.append(f"authorization: Bearer {TOKEN if path.startswith('/admin') else KEY}".encode())
    lines.append(name.encode() + b": " + value)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@asynccontextmanager
async def everything_on(tmp_path):
    """A gateway that reads every header it knows."""
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    async with AsyncExitStack() as stack:
        up = await stack.enter_async_context(running(says("Paris is the capital of France.")))
        endpoint, _ = await stack.enter_async_context(collector())
        served = await stack.enter_async_context(
            gateway(
                backend(up, "primary"),
                policy=policy_of(decision={"apply": "always"}),
                manifests=Manifests(path=tmp_path / "manifest.yaml"),
                telemetry=Telemetry(otlp_endpoint=endpoint, sample_ratio=1.0),
                deferred=Deferred(path=tmp_path / "jobs.db"),
                api_keys=(ApiKey(name="client", sha256=hash_of(KEY.encode())),),
                forward_headers=("x-truefall-trial", "x-tenant-id"),
            )
        )
        yield served


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_no_header_of_a_client_leads_to_a_5xx(tmp_path, name):
    async with everything_on(tmp_path) as served:
        for method, path, body in ENDPOINTS:
            for value in (*HOSTILE[name], *(() if name == "content-length" else ANY)):
                got = await served.raw(message(method, path, body, name, value, with_rights=True))
                assert got.startswith((b"HTTP/1.1 2", b"HTTP/1.1 4")), (method, path, name, value[:80], got[:300])
        served.runtime.log.flush()
        assert "internal_error" not in served.runtime.log._out.getvalue()


RETRY = (
    "", "x", "-1", "nan", "inf", "1e999", "1" * 5000, "Mon, 99 Jan 99999 99:99:99 GMT",
    "Mon, 01 Jan 0001 00:00:00 +9999", "\xe4", "Sun, 06 Nov 1994 08:49:37", "1, 2",
)  # fmt: skip
KIND = (
    "",
    "\xff",
    "application/json; charset=\xff",
    "text/event-stream",
    "text/html",
    "x" * 5000,
    "application/json;;",
)


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 400, 429, 503])
async def test_no_header_of_a_backend_leads_to_a_5xx(status):
    hostile = [("Retry-After", one) for one in RETRY] + [("Content-Type", one) for one in KIND]
    hostile += [("Content-Encoding", "gzip"), ("X-Degradation-Level", "\xff"), ("Date", "x"), ("Connection", "\xff, x")]
    policy = policy_of(breaker={"consecutive_failures": 1000}, overload={"max_retry_after_s": 0.001})
    async with running(says("Yes.")) as up, gateway(backend(up, "primary"), policy=policy) as served:
        for name, value in hostile:
            for stream in (False, True):
                up.script = answers(completion(), status, f"{name}: {value}")
                served.runtime.backends["primary"].away_until_s = 0.0
                answer = await served.chat(stream=stream)
                assert answer.status < 500, (name, value[:80], answer.body[:300])
        served.runtime.log.flush()
        assert "internal_error" not in served.runtime.log._out.getvalue()


@pytest.mark.parametrize("version", VERSIONS)
async def test_metrics_come_in_a_format_that_can_be_read_whatever_version_is_asked_for(version):
    async with running(says("Yes.")) as up, gateway(backend(up, "primary")) as served:
        wanted = f"application/openmetrics-text; version={version}, application/openmetrics-text; version=1.0.0, */*"
        got = await served.raw(
            b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\naccept: "
            + wanted.encode("latin-1")
            + b"\r\n\r\n"
        )
        head, _, body = got.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert b"application/openmetrics-text" in head
        assert list(text_string_to_metric_families(body.decode()))


def test_only_formats_with_a_version_that_is_none_are_passed_over():
    kept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    assert readable(kept) == kept
    assert readable("application/openmetrics-text; version=1.x,*/*") == "*/*"


@pytest.mark.parametrize("length", [b"11", b"0" * 5000 + b"11", b"9" * 5000])
async def test_a_length_over_the_bound_is_refused_however_many_digits_it_has(length):
    async def receive():
        raise AssertionError("it was read")

    with pytest.raises(TooLarge):
        await read_body(receive, [(b"content-length", length)], max_bytes=10)
