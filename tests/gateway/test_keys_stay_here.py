"""A backend that quotes a configured key: no client, log, record or span ever shows it."""

import json

import pytest
from served import TOKEN, backend, gateway, policy_of
from test_async_answers import TREE, ask, fetched, slow
from upstream_stub import answers, chunk, completion, raw, running, says, streams

from gateway.config import Telemetry
from gateway.deferred.config import Deferred
from gateway.masking import MASK, Secrets

KEY = 'sk-live-4fQ9/x"Zt07LmUe2'
OTHER = "sk-other-backend-0123456789"
ENVIRON = {"KEY": KEY, "OTHER": OTHER, "SHORT": "EMPTY"}
GOOD = "Paris is the capital of France."
QUOTES = {
    "message": answers({"error": {"message": f"bad header Authorization: Bearer {KEY}, or {OTHER}"}}, 400),
    "escaped": raw(
        400, ('{"error": {"message": "key ' + "".join(f"\\u{ord(one):04x}" for one in KEY) + '"}}').encode()
    ),
    "detail": answers({"detail": [{"input": {"key": KEY}}]}, 422),
    "text": raw(400, f"what is {KEY}?".encode()),
    "at the edge": answers({"error": {"message": "x" * 290 + KEY}}, 400),
    "413": answers({"error": KEY}, 413),
    "admin": answers({"error": {"message": TOKEN}}, 400),
}


def shown(*texts):
    """What of the keys can be read, as it is or as JSON has it."""
    whole = "\n".join(texts)
    forms = [form for key in (KEY, OTHER, TOKEN) for form in (key, json.dumps(key)[1:-1], key[:12])]
    return [form for form in forms if form in whole]


def keyed(up, **fields):
    return backend(up, "primary", api_key_env="KEY", **fields), backend(up, "secondary", api_key_env="OTHER")


@pytest.mark.parametrize("name", QUOTES)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_error_reaches_the_client_without_the_key(name, stream):
    async with running(QUOTES[name]) as up, gateway(*keyed(up), environ=ENVIRON) as served:
        answer = await served.chat(stream=stream)
        log = served.runtime.log
        log.flush()
        lines = log._out.getvalue()
    assert up.heads[0].count(KEY) == 1  # it was sent
    assert answer.status == 400
    assert MASK in answer.body.decode() or name == "at the edge"
    assert shown(answer.body.decode(), lines, str(answer.headers)) == []


SPLIT = [chunk("Your key is "), *[chunk(sign) for sign in KEY], chunk(" as you know.")]
ANSWERS = {
    "json": answers(completion(f"The key is {KEY}.")),
    "escaped": raw(
        200, json.dumps(completion("K")).replace('"K"', '"' + "".join(f"\\u{ord(c):04x}" for c in KEY) + '"').encode()
    ),
    "model": answers({**completion(GOOD), "system_fingerprint": KEY}),
    "stream": streams(chunk(f"The key is {KEY}."), chunk(finish="stop"), "[DONE]"),
    "in pieces": streams(*SPLIT, chunk(finish="stop"), "[DONE]", pause_after=4),
    "at the end": streams(*SPLIT[:-1], chunk(finish="stop"), "[DONE]", pause_after=4),
    "json for a stream": answers(completion(f"The key is {KEY}.")),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("failover", ["error_event", "hold_all"])
async def test_an_answer_that_quotes_a_key_is_none(name, failover):
    streamed = name in ("stream", "in pieces", "at the end", "json for a stream")
    async with (
        running(ANSWERS[name]) as bad,
        running(says(GOOD)) as good,
        gateway(
            backend(bad, "primary", api_key_env="KEY"),
            backend(good, "secondary", api_key_env="OTHER"),
            policy=policy_of(paths={"stream_failover": failover, "order": ["primary", "secondary", "template"]}),
            environ=ENVIRON,
            telemetry=Telemetry(log_text=True),
        ) as served,
    ):
        answer = await served.chat(stream=streamed)
        served.runtime.log.flush()
        lines = served.runtime.log._out.getvalue()
    record = answer.streamed_record if streamed else answer.record
    assert "invalid_output" in record["reasons"]
    assert shown(answer.body.decode(), lines) == []
    if failover == "hold_all" or name not in ("in pieces", "at the end"):
        assert (answer.streamed_text if streamed else answer.text) == GOOD
    elif streamed:
        assert answer.streamed_text == "Your key is " + KEY[:3]
        assert answer.events[-1] != "[DONE]"


async def test_the_beginning_of_a_key_alone_is_text_like_any_other():
    text = f"It begins with {KEY[:9]} and more; EMPTY is no key. {KEY[:14]}"
    events = [*[chunk(sign) for sign in text], chunk(finish="stop"), "[DONE]"]
    async with running(streams(*events)) as up, gateway(*keyed(up), environ=ENVIRON) as served:
        answer = await served.chat(stream=True)
    assert (answer.streamed_text, answer.streamed_record) == (text, {"level": "healthy"})


async def test_short_keys_are_no_secret_and_damage_nothing():
    async with (
        running(says("The list is EMPTY.")) as up,
        gateway(backend(up, "primary", api_key_env="SHORT"), environ=ENVIRON) as served,
    ):
        assert (await served.chat()).text == "The list is EMPTY."


async def test_an_answer_fetched_later_has_none_either(tmp_path):
    async with (
        running(QUOTES["message"]) as up,
        gateway(*keyed(up), policy=TREE, deferred=Deferred(path=tmp_path / "a.db"), environ=ENVIRON) as served,
    ):
        slow(served)
        answer = await fetched(served, await ask(served))
    assert (answer.status, shown(answer.body.decode())) == (400, [])
    assert KEY.encode() not in (tmp_path / "a.db").read_bytes()


def test_a_key_within_another_is_masked_whole():
    secrets = Secrets(["abcdefgh", "abcdefghijkl"])
    assert secrets.masked("abcdefghijkl") == MASK
