"""Every kind of provider fault as a script that answers JSON or a stream: text, a call, or JSON by a schema."""

import json
from collections.abc import Callable
from typing import Any

from upstream_stub import Script, answers, chunk, completion, dies, hangs, raw, streams, text_events

WHOLE = "{nonce}: the capital of France is Paris, which lies on the Seine, and it has been so for a very long time."


def whole(nonce: str) -> str:
    return WHOLE.replace("{nonce}", nonce)


def nonce_of(body: dict[str, Any]) -> str:
    """The first word of the last message, "" where it has none."""
    words = str(body["messages"][-1].get("content")).split()
    return words[0] if words else ""


TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "city",
        "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CONTEXT_WORDINGS: dict[str, dict[str, Any]] = {
    "openai": {
        "error": {
            "message": "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 "
            "tokens. Please reduce the length of the messages.",
            "code": "context_length_exceeded",
        }
    },
    "vllm": {
        "object": "error",
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in "
        "the messages, 500 in the completion).",
        "code": 400,
    },
    "vllm prompt": {
        "error": {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}
    },
    "sglang": {"message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."},
    "sglang total": {"message": "Requested token count exceeds the model's maximum context length of 4096 tokens."},
    "tgi": {
        "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
        "error_type": "validation",
    },
    "tgi inputs": {"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"},
    "llama.cpp": {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
        }
    },
}


def overflows(wording: str) -> Script:
    return answers(CONTEXT_WORDINGS[wording], 422 if wording.startswith("tgi") else 400)


def call_events(*calls: dict[str, Any]) -> list[Any]:
    """Each call's arguments in two pieces."""
    deltas = []
    for index, call in enumerate(calls):
        half, name = len(call["arguments"]) // 2, call["name"]
        first = {"name": name, "arguments": call["arguments"][:half]}
        deltas += [
            chunk(tool_calls=[{"index": index, "id": f"call_{index}", "type": "function", "function": first}]),
            chunk(tool_calls=[{"index": index, "function": {"arguments": call["arguments"][half:]}}]),
        ]
    return [chunk(role="assistant"), *deltas, chunk(finish="tool_calls"), "[DONE]"]


def calls_tool(body: dict[str, Any], name: str, arguments: str) -> Script:
    call = {"name": name, "arguments": arguments}
    if body.get("stream"):
        return streams(*call_events(call))
    message = completion(None, tool_calls=[{"id": "call_0", "type": "function", "function": call}])
    return answers({**message, "choices": [{**message["choices"][0], "finish_reason": "tool_calls"}]})


def says_to(body: dict[str, Any], text: str) -> Script:
    return streams(*text_events(text)) if body.get("stream") else answers(completion(text))


def arguments_of(nonce: str) -> str:
    return json.dumps({"word": nonce})


def city_of(nonce: str) -> str:
    return json.dumps({"city": nonce})


def good(body: dict[str, Any]) -> Script:
    nonce = nonce_of(body)
    if body.get("tools"):
        return calls_tool(body, "look_up", arguments_of(nonce))
    return says_to(body, city_of(nonce) if body.get("response_format") else whole(nonce))


OTHER_FORM = '{"town": 1}'  # JSON that no request allows
ENDLESS = "x" * 150_000


def not_as_asked(body: dict[str, Any]) -> Script:
    """Whole, and yet not what the request allows: a tool that nobody offered, or JSON of another form."""
    if body.get("response_format"):
        return says_to(body, OTHER_FORM)
    return calls_tool(body, "delete_all", "{}")


def endless(body: dict[str, Any]) -> Script:
    """More than the storm's policy takes."""
    if body.get("stream"):
        return streams(*[chunk(ENDLESS[:1000])] * 150, chunk(finish="stop"), "[DONE]")
    return answers(completion(ENDLESS))


def overflow(body: dict[str, Any]) -> Script:
    """In one of the wordings, by the request."""
    names = sorted(CONTEXT_WORDINGS)
    return overflows(names[sum(nonce_of(body).encode()) % len(names)])


def bad_line(body: dict[str, Any]) -> Script:
    """A good answer, but for one unreadable line; as JSON, half of it."""
    text = city_of(nonce_of(body)) if body.get("response_format") else whole(nonce_of(body))
    events = text_events(text)
    return streams(*events[:5], b"data: {half\n\n", *events[5:]) if body.get("stream") else _cut_json(text)


def slow(body: dict[str, Any]) -> Script:
    if not body.get("stream") or body.get("tools") or body.get("response_format"):
        return good(body)
    return streams(*text_events(whole(nonce_of(body))), pause_after=4)


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
    "context": overflow,
    "not as asked": not_as_asked,
    "endless": endless,
    "dies": _of(dies()),
    "hangs": _of(hangs(20.0)),
    "401": _of(answers({"error": {"message": "bad key"}}, 401)),
}  # fmt: skip
