"""Clients that have no key, write slowly, read slowly, or send too much; and what must never be written down."""

import asyncio
import json
import socket

import pytest
from served import TOKEN, backend, gateway, policy_of
from upstream_stub import answers, chunk, running, says, streams

from gateway.api_key import ApiKey, client_of, hash_of, new_key
from gateway.clock import SystemClock
from gateway.config import Config
from gateway.connection_limits import ConnectionLimits
from harness.cli import main

CLOCK = SystemClock()
GOOD = "Paris is the capital of France."
KEY = new_key()
KEYS = (ApiKey(name="other", sha256=new_key().sha256), ApiKey(name="team", sha256=KEY.sha256))


def test_a_new_key_is_random_and_known_by_its_hash():
    assert KEY.key != new_key().key
    assert hash_of(KEY.key.encode()) == KEY.sha256
    assert client_of([(b"authorization", b"Bearer " + KEY.key.encode())], KEYS) == "team"
    for given in (b"", b"Bearer", b"Bearer ", b"Basic " + KEY.key.encode(), b"Bearer " + KEY.sha256.encode()):
        assert client_of([(b"authorization", given)], KEYS) is None


def test_the_command_prints_a_key_and_its_hash(capsys):
    assert main(["gateway", "key"]) == 0
    key, sha256 = (
        line.split()[-1].strip('"') for line in capsys.readouterr().out.splitlines() if "tf-" in line or "sha" in line
    )
    assert hash_of(key.encode()) == sha256


def test_two_clients_may_not_have_one_name():
    with pytest.raises(ValueError, match="api_keys"):
        Config(backends=(backend(1, "primary"),), api_keys=(KEYS[0], KEYS[0]))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/async/x"])
async def test_without_a_key_nothing_is_served(path):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), api_keys=KEYS) as served:
        method = "POST" if "chat" in path else "GET"
        body = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()
        for headers in ({}, {"Authorization": "Bearer tf-wrong"}):
            refused = await served.request(method, path, body, **headers)
            assert (refused.status, refused.json["error"]["code"]) == (401, "invalid_api_key")
            assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert up.seen == []
        known = await served.request(method, path, body, Authorization=f"Bearer {KEY.key}")
        assert known.status == (404 if "async" in path else 200)
        assert (await served.request("GET", "/healthz")).status == 200


def limits(**fields):
    return ConnectionLimits(**{"header_timeout_s": 1.0, "request_timeout_s": 1.5, "write_stall_s": 1.0, **fields})


HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"


@pytest.mark.parametrize("parts", [(b"",), (b"POST /v1/ch",), (HEAD,), (HEAD, b"X-A: 1\r\n", b"X-B: 2\r\n")])
async def test_headers_that_trickle_in_end_with_a_408(parts):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), connections=limits()) as served:
        assert (await served.raw(*parts, pause_s=0.05)).startswith(b"HTTP/1.1 408 ")
        assert (await served.chat()).text == GOOD


async def test_a_body_that_trickles_in_ends_with_a_408():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), connections=limits()) as served:
        told = await served.raw(HEAD + b"\r\n", b"{", b'"', pause_s=0.05)
        assert b"408" in told
        assert b"slow_request" in told
        assert served.runtime.in_flight == 0
        metrics = (await served.request("GET", "/metrics")).body.decode()
        assert 'truefall_connections_refused_total{reason="slow_request"} 1.0' in metrics


@pytest.mark.parametrize("whole", [True, False])
async def test_headers_that_are_too_large_end_with_a_431(whole):
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), connections=limits(max_header_bytes=2000)) as served,
    ):
        end = b"\r\n\r\n" if whole else b""
        told = await served.raw(HEAD + b"X-Large: " + b"a" * 3000 + end)
        assert told.startswith(b"HTTP/1.1 431 ")
        assert (await served.chat()).text == GOOD


async def test_too_many_connections_end_with_a_429():
    async with (
        running(says(GOOD)) as up,
        gateway(backend(up, "primary"), connections=limits(max_connections=2, header_timeout_s=20.0)) as served,
    ):
        host, port = served.url.removeprefix("http://").split(":")
        held = [await asyncio.open_connection(host, int(port)) for _ in range(2)]
        told = await served.raw()
        assert told.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 1" in told
        for _, writer in held:
            writer.close()


async def test_what_is_not_http_gets_a_400_as_an_error_object():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        told = await served.raw(b"\x16\x03\x01 hello\r\n\r\n")
        assert told.startswith(b"HTTP/1.1 400 ")
        assert json.loads(told.split(b"\r\n\r\n", 1)[1])["error"]["code"] == "bad_http"


async def test_a_client_that_does_not_read_frees_its_backend():
    word = chunk("word " * 4000)
    policy = policy_of(
        limits={"default": {"first_token_s": 60.0, "idle_s": 60.0, "total_s": 60.0}}, deadline={"request_s": 60.0}
    )
    async with (
        running(streams(*[word] * 2000, hold=60.0)) as up,
        gateway(backend(up, "primary"), policy=policy, connections=limits()) as served,
    ):
        host, port = served.url.removeprefix("http://").split(":")
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, (host, int(port)))
            body = json.dumps({"messages": [{"role": "user", "content": "hello"}], "stream": True}).encode()
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
            await asyncio.get_running_loop().sock_sendall(client, head + body)
            lane = served.runtime.backends["primary"].lane
            async with asyncio.timeout(20):
                while not lane.view().running:
                    await CLOCK.sleep(0.01)
                while lane.view().running:
                    await CLOCK.sleep(0.01)


async def test_neither_prompts_nor_secrets_are_written_down():
    secrets = {
        "prompt": "my-private-prompt-text",
        "answer": "my-private-answer-text",
        "key": KEY.key,
        "admin": TOKEN,
        "error": "my-private-backend-error",
    }
    scripts = (
        says(secrets["answer"]),
        answers({"error": {"message": secrets["error"] + secrets["prompt"]}}, 500),
        answers({"error": {"message": secrets["error"]}}, 400),
        streams(chunk(secrets["answer"])),
        answers({"choices": [{"message": secrets["prompt"]}]}),
    )
    async with running(says(GOOD)) as up, gateway(backend(up, "primary"), api_keys=KEYS) as served:
        for script in scripts:
            up.script = script
            for stream in (False, True):
                body = {"messages": [{"role": "user", "content": secrets["prompt"]}], "stream": stream}
                for raw_body in (json.dumps(body).encode(), json.dumps(body).encode()[:-1]):
                    await served.post("/v1/chat/completions", raw_body, Authorization=f"Bearer {KEY.key}")
                    await served.post("/v1/chat/completions", raw_body, Authorization=f"Bearer {KEY.key}x")
            await served.admin("POST", "breaker", {"backend": "primary", "state": "closed"})
        served.runtime.log.flush()
        shown = [served.runtime.log._out.getvalue()]
        for path in ("/metrics", "/readyz"):
            shown.append((await served.request("GET", path)).body.decode())
        shown.append((await served.admin("GET", "state")).body.decode())
    assert '"event":"request"' in shown[0]
    for name, secret in secrets.items():
        assert not any(secret in text for text in shown), name
