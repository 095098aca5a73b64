"""Every kind of provider fault as a script that answers JSON or a stream, as asked."""

import json
from collections.abc import Callable
from typing import Any

from upstream_stub import Script, answers, chunk, completion, dies, hangs, raw, streams, text_events

WHOLE = "{nonce}: the capital of France is Paris, which lies on the Seine, and it has been so for a very long time."


def whole(nonce: str) -> str:
    return WHOLE.replace("{nonce}", nonce)


def nonce_of(body: dict[str, Any]) -> str:
    """The first word of the last message."""
    return str(body["messages"][-1]["content"]).split()[0]


def good(body: dict[str, Any]) -> Script:
    text = whole(nonce_of(body))
    return streams(*text_events(text)) if body.get("stream") else answers(completion(text))


def bad_line(body: dict[str, Any]) -> Script:
    """A good answer, but for one unreadable line; as JSON, half of it."""
    text = whole(nonce_of(body))
    events = text_events(text)
    return streams(*events[:5], b"data: {half\n\n", *events[5:]) if body.get("stream") else _cut_json(text)


def slow(body: dict[str, Any]) -> Script:
    events = text_events(whole(nonce_of(body)))
    return streams(*events, pause_after=4) if body.get("stream") else good(body)


def _either(stream: Callable[[str], Script], json_: Callable[[str], Script]) -> Callable[[dict[str, Any]], Script]:
    return lambda body: (stream if body.get("stream") else json_)(whole(nonce_of(body)))


def _of(script: Script) -> Callable[[dict[str, Any]], Script]:
    return lambda _: script


def _half(text: str) -> list[Any]:
    return [chunk(role="assistant", content=""), *[chunk(f"{word} ") for word in text.split()[:8]]]


def _cut_json(text: str) -> Script:
    return raw(200, json.dumps(completion(text)).encode()[:-30], "Content-Type: application/json")


def _aborted(text: str) -> dict[str, Any]:
    return {**completion(text)["choices"][0], "finish_reason": "error"}


GOOD = {"good": good, "slow": slow}
BAD = {
    "bad line": bad_line,  # not to be trusted without token counts
    "cut": _either(lambda text: streams(*_half(text)), _cut_json),
    "cut, and done": _either(lambda text: streams(*_half(text), "[DONE]"), _cut_json),
    "stalled": _either(lambda text: streams(*_half(text), hold=20.0), lambda _: hangs(20.0)),
    "failed event": _either(
        lambda text: streams(*_half(text), {"type": "response.failed", "response": {}}, "[DONE]"),
        lambda _: answers({"error": {"code": 502}}),
    ),
    "only done": _either(lambda _: streams("[DONE]"), lambda _: raw(200, b"null")),
    "error inside": _either(
        lambda text: streams(*_half(text), {"error": {"message": "broken"}}), lambda _: answers({"error": "broken"})
    ),
    "no choices": _either(
        lambda _: streams({**chunk(), "choices": []}, "[DONE]"), lambda _: answers({**completion(), "choices": []})
    ),
    "blank": _either(
        lambda _: streams(chunk("  "), chunk(finish="stop"), "[DONE]"), lambda _: answers(completion(" \n"))
    ),
    "null content": _either(
        lambda _: streams(chunk(finish="stop"), "[DONE]"), lambda _: answers(completion(None))
    ),
    "not utf-8": _either(
        lambda _: streams(b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'),
        lambda _: raw(200, b'{"choices": [{"message": {"content": "\xff"}}]}'),
    ),
    "aborted": _either(
        lambda text: streams(*_half(text), chunk(finish="abort"), "[DONE]"),
        lambda text: answers({**completion(text), "choices": [_aborted(text)]}),
    ),
    "html": _of(raw(200, b"<html>503 Service Unavailable</html>", "Content-Type: text/html")),
    "500": _of(answers({}, 500)),
    "out of memory": _of(answers({"error": {"message": "CUDA out of memory"}}, 500)),
    "503": _of(answers({}, 503)),
    "429": _of(answers({}, 429, "Retry-After: 1")),
    "context": _of(answers({"error": {"message": "This model's maximum context length is 9 tokens."}}, 400)),
    "dies": _of(dies()),
    "hangs": _of(hangs(20.0)),
    "401": _of(answers({"error": {"message": "bad key"}}, 401)),
}  # fmt: skip
