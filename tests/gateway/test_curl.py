"""What people type: curl, as it comes, against answers, streams, refusals and errors."""

import asyncio
import json
import shutil

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, running, says

CURL = shutil.which("curl")
GOOD = "Paris is the capital of France."
ASKED = {"model": "truefall", "messages": [{"role": "user", "content": "What is the capital?"}]}
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CURL is None, reason="curl is not installed")]


async def curl(served, path, *options):
    """(status, headers by their lower-case names, body)."""
    argv = [CURL, "--silent", "--show-error", "--max-time", "10", "--include", *options, served.url + path]
    child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, err = await child.communicate()
    assert child.returncode == 0, err.decode()
    while out.startswith(b"HTTP/") and b" 100 " in out.splitlines()[0]:
        out = out.partition(b"\r\n\r\n")[2]
    head, _, body = out.partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return int(first.split()[1]), headers, body


def typed(body):
    return ("--header", "Content-Type: application/json", "--data", json.dumps(body))


async def test_an_answer_says_in_body_and_headers_what_it_is():
    async with (
        running(answers({}, 500)) as bad,
        running(says(GOOD)) as good,
        gateway(backend(bad, "primary"), backend(good, "secondary")) as served,
    ):
        status, headers, body = await curl(served, "/v1/chat/completions", *typed(ASKED))
    told = json.loads(body)
    assert (status, told["choices"][0]["message"]["content"]) == (200, GOOD)
    assert (told["degradation"]["path"], headers["x-degradation-path"]) == ("secondary", "secondary")
    assert headers["x-degradation-level"] == told["degradation"]["level"]


async def test_a_stream_comes_as_lines_that_end_with_done():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        status, headers, body = await curl(served, "/v1/chat/completions", "-N", *typed({**ASKED, "stream": True}))
    lines = [line.removeprefix("data: ") for line in body.decode().splitlines() if line.startswith("data: ")]
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    assert "".join(one["choices"][0]["delta"].get("content") or "" for one in chunks if one["choices"]) == GOOD
    assert chunks[-1]["degradation"] == {"level": "healthy"}


async def test_without_any_model_it_is_a_206_with_a_body_that_says_why():
    policy = policy_of(paths={"order": ["primary", "structured"]})
    async with running(answers({}, 500)) as bad, gateway(backend(bad, "primary"), policy=policy) as served:
        status, _, body = await curl(served, "/v1/chat/completions", *typed(ASKED))
    told = json.loads(body)
    assert (status, told["status_code"], told["reason"]) == (206, 206, "degraded")
    assert told["degradation"]["path"] == "structured"


@pytest.mark.parametrize("options", [("--http1.0",), ("--header", "Expect: 100-continue"), ("--tcp-nodelay",)])
async def test_older_and_cautious_ways_of_asking_are_answered(options):
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        status, _, body = await curl(served, "/v1/chat/completions", *options, *typed(ASKED))
    assert (status, json.loads(body)["degradation"]) == (200, {"level": "healthy"})


async def test_what_is_no_json_is_told_so_and_the_health_pages_answer():
    async with running(says(GOOD)) as up, gateway(backend(up, "primary")) as served:
        status, _, body = await curl(served, "/v1/chat/completions", "--data", "{not json")
        assert status == 400
        assert "JSON" in json.loads(body)["error"]["message"]
        pages = {path: (await curl(served, path))[0] for path in ("/healthz", "/readyz", "/metrics", "/v1/models")}
        assert set(pages.values()) == {200}, pages
