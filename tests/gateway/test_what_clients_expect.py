"""Things that clients and proxies do with every OpenAI-compatible server."""

import gzip
import json

import pytest
from served import TOKEN, backend, gateway, policy_of
from upstream_stub import answers, chunk, completion, running, says, streams, text_events

from gateway.clock import SystemClock
from gateway.serve import options_of

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()


def head(*more):
    lines = ["POST /v1/chat/completions HTTP/1.1", "Host: x", f"Content-Length: {len(BODY)}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("offer", ["h2c", "websocket", "TLS/1.2"])
@pytest.mark.parametrize("name", ["Upgrade", "upgrade", "UPGRADE"])
@pytest.mark.parametrize("apart", [False, True])
async def test_an_offer_to_change_the_protocol_costs_no_body(offer, name, apart):
    """Java's HTTP client sends one with every first request."""
    asking = head("Connection: Upgrade, HTTP2-Settings", f"{name}: {offer}", "HTTP2-Settings: AAMAAABk")
    closing = head("Connection: close")
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        parts = (asking, BODY) if apart else (asking + BODY,)
        told = await served.raw(*parts, closing + BODY, pause_s=0.02)
        assert told.count(b"HTTP/1.1 200 OK") == 2
        assert len(up.seen) == 2


async def test_the_word_upgrade_in_a_body_is_left_alone():
    text = "first\r\nUpgrade: h2c\r\nlast"
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        await served.chat(text)
        assert up.seen[0]["messages"][0]["content"] == text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/models", "/metrics"])
async def test_head_works_wherever_get_does(path):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        told = await served.request("HEAD", path)
        assert (told.status, told.body) == (200, b"")


async def test_one_model_can_be_asked_for():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary", model="org/name")) as served:
        for name in ("truefall", "primary", "org/name"):
            assert (await served.request("GET", f"/v1/models/{name}")).json["id"] == name
        missing = await served.request("GET", "/v1/models/gpt-0")
        assert (missing.status, missing.json["error"]["code"]) == (404, "model_not_found")


async def test_a_compressed_body_is_told_to_be_one():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.post("/v1/chat/completions", gzip.compress(BODY))
        assert answer.status == 400
        assert "compressed" in answer.json["error"]["message"]


@pytest.mark.parametrize(("peer", "status"), [("203.0.113.9", 404), ("127.0.0.1", 200)])
async def test_no_variable_and_no_header_make_strangers_local(monkeypatch, peer, status):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    headers = [(b"x-forwarded-for", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {
        "type": "http", "method": "GET", "path": "/admin/state", "headers": headers, "client": (peer, 1),
        "scheme": "http",
    }  # fmt: skip
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        monkeypatch.setattr("gateway.serve.Counter", lambda *_, **__: None)  # this registry has it already
        options = options_of(served.runtime)
        options.load()
        await options.loaded_app(scope, receive, send)
        assert sent[0]["status"] == status


async def test_a_model_that_thinks_for_long_is_not_cut_off():
    thoughts = [chunk(reasoning_content="hm ") for _ in range(8)]
    slow = policy_of(limits={"default": {"first_token_s": 2.2, "idle_s": 2.2, "total_s": 30.0}})

    async def script(writer, _):
        await thinking(writer, thoughts)

    async with running(script) as up, gateway(backend(up, "primary"), policy=slow) as served:
        answer = await served.chat(stream=True)
        assert answer.streamed_text == "42"
        assert answer.streamed_record == {"level": "healthy"}
        assert sum("reasoning_content" in event["choices"][0]["delta"] for event in answer.events[:-1]) == 8


async def thinking(writer, thoughts):
    """Eight thoughts, 300 ms apart, and then a word: longer than the limits in all, never between two."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for event in (*thoughts, chunk("42"), chunk(finish="stop"), "[DONE]"):
        data = f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        await CLOCK.sleep(0.3)  # the thinking itself
    writer.write(b"0\r\n\r\n")


async def test_thoughts_without_an_answer_are_none():
    events = (chunk(reasoning_content="hm"), chunk(finish="length"), "[DONE]")
    async with running(streams(*events)) as bad, gateway(backend(bad, "primary")) as served:
        assert (await served.chat(stream=True)).streamed_record["reasons"] == ["invalid_output"]


@pytest.mark.parametrize("wanted", [False, True])
async def test_a_prepared_answer_tells_its_usage_where_that_is_wanted(wanted):
    async with running(answers({}, 500)) as up, gateway(backend(up, "primary")) as served:
        answer = await served.chat(stream=True, stream_options={"include_usage": wanted})
        last = answer.events[-2]
        assert last["degradation"]["path"] == "template"
        assert (last.get("usage") is not None, last["choices"] == []) == (wanted, wanted)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_mistake_outside_the_pipeline_is_no_500(monkeypatch, stream):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        with monkeypatch.context() as patch:
            patch.setattr("gateway.chat.tenant_of", lambda *_: 1 / 0)
            answer = await served.chat(stream=stream)
        assert answer.status == 206
        told = answer.events[0] if stream else answer.json
        assert told["degradation"]["reasons"] == ["internal_error"]
        assert ("error" in told) is stream
        assert served.runtime.in_flight == 0
        assert (await served.chat()).text == GOOD


async def test_a_whole_stream_with_usage_in_each_chunk_is_still_whole():
    events = [{**event, "usage": {"prompt_tokens": 1, "completion_tokens": 1}} for event in text_events(GOOD)[:-1]]
    async with running(streams(*events, "[DONE]")) as up, gateway(backend(up, "primary")) as served:
        assert (await served.chat(stream=True)).streamed_text == GOOD
        up.script = answers(completion(GOOD))
        assert (await served.chat()).text == GOOD


@pytest.mark.parametrize("field", ["metadata", "tools", "response_format", "messages"])
async def test_a_body_nested_too_deeply_is_the_clients_fault_at_every_depth(field):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        for levels in (201, 400, 900, *range(950, 1000, 5), 5000):
            nested = b"[" * levels + b"]" * levels
            answer = await served.post("/v1/chat/completions", BODY[:-1] + b', "%s": %s}' % (field.encode(), nested))
            assert answer.status == 400, levels
        assert up.seen == []
        nested = b'{"a": %s}' % (b"[" * 150 + b"]" * 150)
        assert (await served.post("/v1/chat/completions", BODY[:-1] + b', "metadata": %s}' % nested)).status == 200
