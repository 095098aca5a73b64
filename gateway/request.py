"""A chat request as it came in, checked: every refusal names field, value and bound."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.answers.tool_calls import Offer, offer_of
from gateway.errors import BadRequest
from gateway.request_fields import ROLES, check_fields, check_json_schema, check_message, require, shown

FORMATS = ("text", "json_object", "json_schema")
SAMPLING = (("temperature", 0, 2), ("top_p", 0, 1), ("presence_penalty", -2, 2), ("frequency_penalty", -2, 2))
SAMPLED = frozenset([*(field for field, _, _ in SAMPLING), "n", "seed", "stop"])
_MAY_CALL = frozenset({"tools", "functions", "tool_choice", "function_call"})
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"  # what a decoder puts where it can read nothing
_NO_OFFER = Offer()
_GZIP = b"\x1f\x8b"
_MOST_LEVELS = 200  # of nesting: far more than any request needs, far fewer than would stop the encoder
_JSON_WANTED = re.compile(
    r"\b(?:as|in|with|only|valid|return|output|answer|respond\w*|reply)\s+(?:\w+\s+){0,2}json\b"
    r"|\bjson\s+(?:object|array|format|only)\b|(?:以|用|输出|返回|回答|只).{0,6}json",
    re.IGNORECASE,
)


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What the pipeline needs to know; `body` is the whole of it, as received."""

    body: dict[str, Any]
    messages: list[dict[str, Any]]
    model: str | None
    stream: bool
    include_usage: bool  # the client asked for the usage chunk of a stream
    max_tokens: int | None
    response_format: str  # one of FORMATS
    schema: Mapping[str, Any] | None  # of the answer's text, when response_format is json_schema
    has_tools: bool
    offer: Offer = _NO_OFFER
    respond_async: bool = False  # the client would poll for its answer

    @property
    def wants_json(self) -> bool:
        """Whether prose is no answer: by response_format, or by the last instruction's own words."""
        return self.response_format != "text" or bool(_JSON_WANTED.search(self.question))

    @property
    def in_tool_loop(self) -> bool:
        """Whether only a model can go on: a tool's result waits for it, or a call is owed."""
        return self.offer.must_call or self.messages[-1]["role"] in ("tool", "function")

    @property
    def excuses_little(self) -> bool:
        """Whether no words, fewer than were counted, or signs that stand for none, may be what was asked for.

        So it is with `stop`, where the model is to go on with a message that may be whole already, and where the
        request itself holds such signs.
        """
        if self.body.get("stop") or self.messages[-1]["role"] == "assistant":
            return True
        return any(REPLACEMENT in text_of(message) for message in self.messages)

    @property
    def question(self) -> str:
        """The text of the last user message, '' when there is none."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                return text_of(message)
        return ""


def text_of(message: Mapping[str, Any]) -> str:
    """The text of one message, its text parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return ""


def parse(raw: bytes, *, max_tokens_bound: int) -> ChatRequest:
    """Raises BadRequest."""
    body = _decode(raw)
    messages = _messages(body.get("messages"))
    kind, schema = _response_format(body.get("response_format"))
    check_fields(body)
    options = body.get("stream_options")
    model = body.get("model")
    require(model is None or (isinstance(model, str) and model != ""), "model", model, "a model's name")
    tools = body.get("tools")
    later = body.pop("async", None)  # ours: no backend knows it
    _check_sampling(body)
    return ChatRequest(
        body=body,
        messages=messages,
        model=model,
        stream=bool(body.get("stream")),
        include_usage=bool(options and options.get("include_usage")),
        max_tokens=_max_tokens(body, max_tokens_bound),
        response_format=kind,
        schema=schema,
        has_tools=bool(tools or body.get("functions")),
        offer=offer_of(body) if _MAY_CALL & body.keys() else _NO_OFFER,
        respond_async=bool(later),
    )


def _decode(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadRequest(f"body is not JSON: {_why_not_json(raw, error)}", field="body") from None
    if not isinstance(body, dict):
        raise BadRequest(f"body is {shown(body)}, must be an object", field="body")
    if raw.count(b"[") + raw.count(b"{") > _MOST_LEVELS and _is_deeper(body, _MOST_LEVELS):
        raise BadRequest(f"body is nested too deeply, must have at most {_MOST_LEVELS} levels", field="body")
    return body


def _is_deeper(value: Any, levels: int) -> bool:
    """Level by level, so that no depth is too much."""
    level = [value]
    for _ in range(levels + 1):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return True


def _why_not_json(raw: bytes, error: Exception) -> str:
    if raw.startswith(_GZIP):
        return "compressed, must be sent as it is, without content-encoding"
    try:
        raw.decode()
    except UnicodeDecodeError as decoding:
        return f"not UTF-8 at byte {decoding.start} (0x{raw[decoding.start]:02x})"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _messages(messages: Any) -> list[dict[str, Any]]:
    if messages is None:
        raise BadRequest("messages is missing, must be a list of at least 1 message", field="messages")
    require(isinstance(messages, list) and len(messages) > 0, "messages", messages, "a list of at least 1 message")
    for index, message in enumerate(messages):
        if not _is_plain(message):
            check_message(message, f"messages[{index}]")
    return list(messages)


def _is_plain(message: Any) -> bool:
    """The most common case, told without further looking."""
    if not isinstance(message, dict) or len(message) != len(("role", "content")):
        return False
    return isinstance(message.get("content"), str) and message.get("role") in ROLES


def _max_tokens(body: Mapping[str, Any], bound: int) -> int | None:
    found = None
    for field in ("max_completion_tokens", "max_tokens"):
        value = body.get(field)
        if value is None:
            continue
        ok = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= bound
        require(ok, field, value, f"a whole number from 1 to {bound}")
        found = value if found is None else min(found, value)
    return found


def _check_sampling(body: Mapping[str, Any]) -> None:
    if SAMPLED.isdisjoint(body):
        return
    for field, low, high in (
        ("temperature", 0, 2),
        ("top_p", 0, 1),
        ("presence_penalty", -2, 2),
        ("frequency_penalty", -2, 2),
    ):
        value = body.get(field)
        if value is not None:
            ok = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
            require(ok, field, value, f"a number from {low} to {high}")
    count = body.get("n")
    require(
        count is None or (count == 1 and not isinstance(count, bool)), "n", count, "1: one answer is served per request"
    )
    seed = body.get("seed")
    require(seed is None or (isinstance(seed, int) and not isinstance(seed, bool)), "seed", seed, "a whole number")
    stop = body.get("stop")
    ok = (
        stop is None
        or isinstance(stop, str)
        or (isinstance(stop, list) and all(isinstance(entry, str) for entry in stop))
    )
    require(ok, "stop", stop, "a string or a list of strings")


def _response_format(value: Any) -> tuple[str, Mapping[str, Any] | None]:
    if value is None:
        return "text", None
    require(isinstance(value, dict), "response_format", value, "an object")
    kind = value.get("type")
    require(kind in FORMATS, "response_format.type", kind, f"one of {', '.join(FORMATS)}")
    if kind != "json_schema":
        return str(kind), None
    outer = value.get("json_schema")
    require(isinstance(outer, dict), "response_format.json_schema", outer, "an object")
    check_json_schema(outer, "response_format.json_schema")
    return "json_schema", outer.get("schema")  # without one any JSON will do
