"""Answers in the shape that OpenAI publishes: what a backend filled in otherwise is replaced, what is absent added.

Fields that OpenAI does not know stay as they are, but for `degradation`: that record is ours alone.
"""

import re
from collections.abc import Mapping
from typing import Any

from gateway.answers.completion import new_id, now_unix_s
from gateway.answers.tool_calls import kind_of

RECORD = "degradation"
ROLES = frozenset({"assistant", "developer", "system", "tool", "user"})
FINISHES = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
_CUT = re.compile(r"length|max|limit", re.IGNORECASE)  # how other engines say that an answer was cut
_TEXTS = ("service_tier", "system_fingerprint")  # texts, or absent
_COUNTS = ("prompt_tokens", "completion_tokens")
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")


def whole(body: dict[str, Any]) -> dict[str, Any]:
    """A JSON answer whose first choice was checked, mended in place; `model` is left out where it is no name.

    One answer was asked for, so that further choices, which nobody checked, are left out.
    """
    without_records(body)
    _mend_outer(body, "chat.completion")
    choice = body["choices"][0]
    body["choices"] = [choice]
    choice["index"] = index_of(choice.get("index"))
    message = choice["message"]
    calls = message.get("tool_calls")
    choice["finish_reason"] = finish(choice.get("finish_reason"), calls=bool(calls))
    _drop_unless(choice, "logprobs", dict)
    message["role"] = "assistant"
    for field in ("content", "refusal"):
        _drop_unless(message, field, str)
    message.setdefault("content", None)
    if calls:
        message["tool_calls"] = [_call(call) for call in calls]
    elif not isinstance(calls, list | None):
        del message["tool_calls"]
    _mend_usage(body)
    return body


def chunk(body: dict[str, Any], outer: dict[str, Any], *, called: bool = False) -> dict[str, Any]:
    """One chunk of a stream, mended in place; `outer`: the id, time and model of the whole stream, as far as known.

    `called`: an earlier chunk called a tool.
    """
    without_records(body)
    for field, fits in (("id", _is_text), ("created", _is_count), ("model", _is_text)):
        if fits(body.get(field)):
            outer.setdefault(field, body[field])
        else:
            body.pop(field, None)
            if field in outer:
                body[field] = outer[field]
    _mend_outer(body, "chat.completion.chunk")
    outer.update({"id": body["id"], "created": body["created"]})
    choices = body.get("choices")
    body["choices"] = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    for choice in body["choices"]:
        _mend_choice(choice, called=called)
    _mend_usage(body)
    return body


def finish(reason: Any, *, calls: bool) -> str | None:
    """OpenAI's word for another engine's; None where nothing ended."""
    if not isinstance(reason, str) or not reason:
        return None
    if reason in FINISHES:
        return reason
    if _CUT.search(reason):
        return "length"
    return "tool_calls" if calls else "stop"


def index_of(value: Any) -> int:
    """Which answer a choice belongs to: what is no count, or absent, is the first one's, 0."""
    return value if _is_count(value) else 0


def without_records(value: Any) -> None:
    """Take every field `degradation` out of it, however deep."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            one.pop(RECORD, None)
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _mend_outer(body: dict[str, Any], kind: str) -> None:
    body["object"] = kind
    if not _is_text(body.get("id")):
        body["id"] = new_id()
    if not _is_count(body.get("created")):
        body["created"] = now_unix_s()
    if not _is_text(body.get("model")):
        body.pop("model", None)
    for field in _TEXTS:
        _drop_unless(body, field, str)


def _mend_choice(choice: dict[str, Any], *, called: bool) -> None:
    choice["index"] = index_of(choice.get("index"))
    if not isinstance(choice.get("delta"), dict):
        choice["delta"] = {}
    delta = choice["delta"]
    if delta.get("role") not in ROLES:
        delta.pop("role", None)
    calls = delta.get("tool_calls")
    if isinstance(calls, list):
        for place, call in enumerate(calls):
            if isinstance(call, dict) and not _is_count(call.get("index")):
                call["index"] = place
    choice["finish_reason"] = finish(choice.get("finish_reason"), calls=called or bool(calls))
    _drop_unless(choice, "logprobs", dict)


def _mend_usage(body: dict[str, Any]) -> None:
    """Left out where it does not hold both counts."""
    usage = body.get("usage")
    if usage is None:
        return
    if not isinstance(usage, dict) or not all(_is_count(usage.get(field)) for field in _COUNTS):
        del body["usage"]
        return
    if not _is_count(usage.get("total_tokens")):
        usage["total_tokens"] = sum(usage[field] for field in _COUNTS)
    for field in _DETAILS:
        _drop_unless(usage, field, dict)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A checked tool call, with what a client needs to answer it."""
    kind = kind_of(call)
    written = "arguments" if kind == "function" else "input"
    mended = {**call, "type": kind, kind: {**call[kind], written: call[kind].get(written) or ""}}
    if not _is_text(mended.get("id")):
        mended["id"] = new_id().replace("chatcmpl", "call")
    return mended


def _drop_unless(body: dict[str, Any], field: str, kind: type) -> None:
    if field in body and not isinstance(body[field], kind | None):
        del body[field]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
