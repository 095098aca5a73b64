"""Every 4xx that the gateway gives is counted once, by status and reason, and no client can add a reason of its own."""

import json
import re

import pytest
from served import backend, gateway
from test_async_answers import TREE
from test_clients import KEY, KEYS
from upstream_stub import answers, running, says

from gateway.deferred.config import Deferred

CHAT, BODY = "/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]}
SERIES = re.compile(r'^truefall_rejected_requests_total\{reason="(.*)",status="(\d+)"\} (\S+)$', re.MULTILINE)


async def counted(served):
    text = (await served.request("GET", "/metrics")).body.decode()
    return {(int(status), reason): float(value) for reason, status, value in SERIES.findall(text)}


CASES = [
    ("POST", CHAT, b"{", 400, "invalid_request"),
    ("POST", CHAT, json.dumps({**BODY, "n": 2}).encode(), 400, "invalid_request"),
    ("POST", CHAT, json.dumps({**BODY, "model": 'no"\n such'}).encode(), 404, "model_not_found"),
    ("POST", CHAT, json.dumps({**BODY, "pad": "x" * 3000}).encode(), 413, "body_too_large"),
    ("GET", CHAT, b"", 405, "method_not_allowed"),
    ("GET", "/v1/models/none", b"", 404, "model_not_found"),
    ("GET", '/v1/"}no', b"", 404, "not_found"),
    ("GET", "/v1/async/none", b"", 404, "async_unknown"),
    ("PUT", "/v1/async/none", b"", 405, "method_not_allowed"),
    ("POST", "/metrics", b"", 405, "method_not_allowed"),
    ("GET", "/admin/state", b"", 401, "unauthorized"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[1]} {case[4]}")
async def test_a_4xx_is_counted_by_status_and_reason(tmp_path, case):
    method, path, body, status, reason = case
    later = Deferred(path=tmp_path / "a.db")
    async with (
        running(says("hi")) as up,
        gateway(
            backend(up, "primary"), policy=TREE, deferred=later, unknown_models="reject", max_body_bytes=2048
        ) as served,
    ):
        before = await counted(served)
        assert (await served.request(method, path, body)).status == status
        assert (before, await counted(served)) == ({}, {(status, reason): 1})


async def test_what_a_backend_refuses_in_the_clients_name_is_counted_as_that():
    async with running(answers({"error": "bad stop"}, 422)) as up, gateway(backend(up, "primary")) as served:
        assert (await served.chat()).status == 400
        assert (await served.chat(stream=True)).status == 400
        assert await counted(served) == {(400, "refused_by_backend"): 2}


async def test_who_has_no_key_is_counted():
    async with running(says("hi")) as up, gateway(backend(up, "primary"), api_keys=KEYS) as served:
        assert (await served.chat()).status == 401
        assert (
            await served.request("POST", CHAT, json.dumps(BODY).encode(), Authorization=f"Bearer {KEY.key}")
        ).status == 200
        assert await counted(served) == {(401, "invalid_api_key"): 1}


async def test_answers_are_not_counted_there():
    async with running(says("hi")) as up, gateway(backend(up, "primary")) as served:
        assert (await served.chat()).status == 200
        assert await counted(served) == {}
