"""Headers that backends are sent: too long or odd ones are the client's own 4xx, and open no breaker."""

import json

import pytest
from served import backend, gateway, policy_of
from upstream_stub import answers, running, says

from gateway.errors import BadRequest
from gateway.forwarded import MOST_BYTES, forwarded

GOOD = "Paris is the capital of France."
TRIAL, TENANT = b"x-truefall-trial", b"x-tenant"
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode()


def test_what_fits_is_passed_on_and_nothing_else():
    headers = [(TRIAL, b"7f/3"), (b"cookie", b"mine"), (TENANT, b"a\tb")]
    assert forwarded(headers, frozenset({TRIAL, TENANT})) == {"x-truefall-trial": "7f/3", "x-tenant": "a\tb"}
    most = b"y" * (MOST_BYTES - len(TRIAL))
    assert forwarded([(TRIAL, most)], frozenset({TRIAL}))


@pytest.mark.parametrize(
    ("headers", "status", "told"),
    [
        ([(TRIAL, b"y" * MOST_BYTES)], 431, "4112 bytes long, must be at most 4096"),
        ([(TRIAL, b"y" * 2500), (TENANT, b"y" * 2500)], 431, "at most 4096"),
        ([(TRIAL, b"caf\xe9")], 400, "x-truefall-trial holds a sign that is not printable ASCII"),
        ([(TRIAL, b"a\x01b")], 400, "printable"),
    ],
)
def test_what_does_not_fit_is_the_clients_fault_and_named(headers, status, told):
    with pytest.raises(BadRequest, match=told) as caught:
        forwarded(headers, frozenset({TRIAL, TENANT}))
    assert caught.value.status == status
    assert caught.value.field == "x-truefall-trial"


async def test_no_answer_is_kept_for_a_request_whose_passed_on_headers_differ():
    policy = policy_of(paths={"order": ["primary", "cache", "structured"]}, breaker={"consecutive_failures": 99})
    body = json.dumps({"messages": [{"role": "user", "content": "How are books taxed in my region?"}]}).encode()
    async with (
        running(says("Books are taxed at the reduced rate in your region.")) as up,
        gateway(backend(up, "primary"), policy=policy, forward_headers=("X-Region",)) as served,
    ):
        await served.post("/v1/chat/completions", body, **{"X-Region": "de"})
        up.script = answers({}, 500)
        paths = [
            (await served.post("/v1/chat/completions", body, **{"X-Region": region})).record["path"]
            for region in ("us", "de")
        ]
        assert paths == ["structured", "cache"]


async def test_long_headers_of_one_client_open_no_breaker():
    async def picky(writer, body):
        short = len(up.heads[-1]) < 8192
        await (says(GOOD) if short else answers({"error": {"message": "headers too large"}}, 431))(writer, body)

    async with running(picky) as up, gateway(backend(up, "primary")) as served:
        for _ in range(4):
            refused = await served.post("/v1/chat/completions", BODY, **{"X-Truefall-Trial": "y" * 20_000})
            assert (refused.status, refused.json["error"]["param"]) == (431, "x-truefall-trial")
        assert up.seen == []
        assert (await served.chat()).record == {"level": "healthy"}
