"""Whether a 200 is an answer at all: shape, schema, and the backend's own token counts.

What is none leads to the next path, whoever is to blame. Whether it also counts against the backend, in its breaker:

- It does where only an engine can have made it: a body that is no JSON, no object or without a choice; a choice without
  a message or a finish_reason; a finish_reason that says that it gave up; tool calls that are no list, no objects, or
  have arguments that are no text; lines of a stream that nobody can read; a key of this gateway.
- It does not where the model wrote it, which may be weak or told to: arguments of a tool that are not JSON, a call
  without a name, a call that was not offered, an answer that violates the schema. Nor where the client's limits made
  it: an answer that is too long to be taken, or no words (or half a character) under a finish_reason of `length` or
  `content_filter`.
- It does unless the request may have asked for it (`ChatRequest.excuses_little`): no words, undecodable tokens, other
  token counts than ours. With `stop` the answer may end before its first word, and engines count what they cut off.

An empty answer under the client's own `stop` stays no answer: the same finish_reason comes where the model had nothing
to say, and no field that OpenAI publishes tells the two apart.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gateway.answers.completion import Completion
from gateway.answers.published import FINISHES, RECORD, whole
from gateway.answers.published import finish as openais_word
from gateway.answers.token_accounting import holds_unseen, reasoning_tokens
from gateway.answers.tool_calls import called_in, kind_of
from gateway.backends.error_body import error_in
from gateway.backends.failures import failure_inside
from gateway.errors import BadRequest, Blame, UpstreamError
from gateway.policy import Accounting
from gateway.record import Level, Reason
from gateway.request import REPLACEMENT

_BROKEN_FINISH = re.compile(
    r"error|abort|cancel|fail|insufficient|interrupt|incomplete|timeout|timed_?out|overload|unavailable|preempt|unknown",
    re.IGNORECASE,
)  # other engines have words of their own for a good end, and each its own for a bad one
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FIELD = "response_format.json_schema.schema"
_DATA = ("enum", "const", "default", "examples")  # of a schema: values that are no schemas
_OLD_DRAFTS = ("draft-03", "draft-04")  # in which a schema's name was "id"
_SHOWN_CHARS = 60
_DEGRADED = (Level.DEGRADED, Level.CRITICAL)
_CUT_SHORT = ("length", "content_filter")  # by the client's max_tokens, or for what the client wrote
_REPLACEMENT_SHARE = 0.05  # more U+FFFD than this: the tokens were not decodable


def invalid(what: str, blame: Blame = Blame.FAILURE) -> UpstreamError:
    """A 200 that is no answer."""
    return UpstreamError(what, reason=Reason.INVALID_OUTPUT, blame=blame)


def wordless(what: str, finish: str | None) -> UpstreamError:
    """An answer in which nothing can be read; `finish`: why it ended."""
    return invalid(what, Blame.NEUTRAL if finish in _CUT_SHORT else Blame.UNLESS_ASKED)


def completion_of(raw: bytes, *, sent: bytes = b"") -> Completion:
    """Read the body of a 200, the answer to `sent`. Raises UpstreamError where it is none."""
    return completion_in(require_choices(raw, sent=sent))


def completion_in(body: dict[str, Any]) -> Completion:
    """The answer in an object with at least one choice. Raises UpstreamError where it is none."""
    completion = _first_choice(body["choices"][0])
    completion.own_record = own_record_in(body)
    completion.body = whole(body)
    completion.finish_reason = body["choices"][0]["finish_reason"]
    usage = body.get("usage")
    if isinstance(usage, dict):
        completion.prompt_tokens = _count(usage.get("prompt_tokens"))
        completion.completion_tokens = _count(usage.get("completion_tokens"))
        completion.reasoning_tokens = reasoning_tokens(usage)
    return completion


def own_record_in(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The degradation record of a backend that is such a gateway itself; None where it has none or is healthy."""
    record = body.get(RECORD)
    return record if isinstance(record, dict) and record.get("level") in _DEGRADED else None


def require_choices(raw: bytes, *, sent: bytes = b"") -> dict[str, Any]:
    """An object with a choice in it. Raises UpstreamError."""
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise invalid(f"a body of {len(raw)} bytes that is not JSON") from None
    if not isinstance(body, dict):
        raise invalid("a body that is not an object")
    if body.get("error"):
        error = failure_inside(error_in(body), "an error object", sent=sent)
        error.reason = _soft(error.reason)
        raise error
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise invalid("no choices")
    return body


def is_blank(text: str) -> bool:
    """Whether nobody would see anything: white space, and characters of no width."""
    if text.isprintable():
        return not text or text.isspace()
    return not any(sign.isprintable() and not sign.isspace() for sign in text)


def require_finished(reason: str) -> None:
    """Raises UpstreamError where a finish_reason says that the backend gave up."""
    if reason not in FINISHES and _BROKEN_FINISH.search(reason):
        raise invalid(f"finish_reason {reason[:40]}")


def check_text(text: str, finish: str | None) -> None:
    """Raises UpstreamError when the text is blank or its tokens were not decodable; `finish`: why it ended."""
    if is_blank(text):
        raise wordless("a blank answer", finish)
    if text.count(REPLACEMENT) > _REPLACEMENT_SHARE * len(text):
        raise wordless("an answer of undecodable tokens", finish)


def check_schema(text: str, *, response_format: str, schema: Mapping[str, Any] | None) -> None:
    """Raises UpstreamError when `text` is not the JSON that `response_format` asks for."""
    if response_format == "text":
        return
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise UpstreamError("the answer is not JSON", reason=Reason.SCHEMA_VIOLATED) from None
    if response_format == "json_object" and not isinstance(value, dict):
        raise UpstreamError("the answer is not an object", reason=Reason.SCHEMA_VIOLATED)
    if schema is not None and not _is_valid(value, schema):
        raise violated()


def _is_valid(value: Any, schema: Mapping[str, Any]) -> bool:
    try:
        return bool(validator_of(msgspec.json.encode(schema)).is_valid(value))
    except RecursionError:
        return False


def violated() -> UpstreamError:
    return UpstreamError("the answer violates the schema", reason=Reason.SCHEMA_VIOLATED)


def require_schema(schema: Mapping[str, Any]) -> None:
    """Raises BadRequest when the client's schema is none."""
    validator_of(msgspec.json.encode(schema))


@lru_cache(maxsize=64)
def validator_of(schema: bytes) -> Any:
    """A validator, made once per schema. Raises BadRequest when the schema itself is wrong."""
    import jsonschema

    value = msgspec.json.decode(schema)
    _require_addresses(value)
    kind = jsonschema.validators.validator_for(value, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(value)
    except jsonschema.SchemaError as error:
        raise BadRequest(f"{SCHEMA_FIELD} is not a JSON Schema: {error.message[:200]}", field=SCHEMA_FIELD) from None
    except RecursionError:
        raise BadRequest(f"{SCHEMA_FIELD} is nested too deeply to check, must be flatter", field=SCHEMA_FIELD) from None
    return kind(value)


def _require_addresses(schema: Mapping[str, Any]) -> None:
    """What a schema calls itself and its parts can be read as an address. Raises BadRequest."""
    if "$schema" in schema:
        _require_address(schema["$schema"], f"{SCHEMA_FIELD}.$schema")
    old = any(draft in str(schema.get("$schema")) for draft in _OLD_DRAFTS)
    waiting: list[Any] = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += [part for key, part in one.items() if key not in _DATA]
            for key in ("$id", "id") if old else ("$id",):
                if isinstance(one.get(key), str):
                    _require_address(one[key], f"{SCHEMA_FIELD}: {key}")
        elif isinstance(one, list):
            waiting += one


def _require_address(value: Any, field: str) -> None:
    try:
        if isinstance(value, str):
            urlsplit(value)
            return
    except ValueError:
        pass
    shown = msgspec.json.encode(value).decode()[:_SHOWN_CHARS]
    raise BadRequest(f"{field} is {shown}, must be a URL such as {_DRAFT!r}", field=SCHEMA_FIELD)


def tokens_agree(told: int | None, counted: int | None, *, marks: Accounting) -> bool:
    """Whether the backend's count agrees with ours; a count that nobody gave agrees unless the policy distrusts it."""
    if counted is None:
        return True
    if told is None:
        return marks.missing_usage == "accept"
    return abs(told - counted) <= max(marks.tolerance_tokens, marks.tolerance_share * counted)


def _first_choice(choice: dict[str, Any]) -> Completion:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise invalid("a choice without a message")
    finish = choice.get("finish_reason")
    if not isinstance(finish, str) or not finish:
        raise invalid("no finish_reason: nothing says that the answer is whole")
    require_finished(finish)
    finish = openais_word(finish, calls=False)
    content = message.get("content")
    calls = bool(message.get("tool_calls") or message.get("function_call"))
    refusal = isinstance(message.get("refusal"), str) and not is_blank(message["refusal"])
    if not calls and not refusal:
        if not isinstance(content, str):
            raise wordless("no content", finish)
        check_text(content, finish)
    _check_calls(message.get("tool_calls"), finish)
    if legacy := message.get("function_call"):
        _check_calls([{"function": legacy}], finish)
    return Completion(
        text=content if isinstance(content, str) else "",
        finish_reason=finish,
        calls_tools=calls,
        called=called_in(message),
        refusal=refusal,
        holds_unseen=holds_unseen(message),
    )


def _check_calls(calls: Any, finish: Any) -> None:
    """Each call has a name. A function's arguments are whole JSON unless the answer was cut; a custom tool's are text.

    Raises UpstreamError.
    """
    if not calls:
        return
    if not isinstance(calls, list):
        raise invalid("tool_calls is not a list")
    for call in calls:
        kind = kind_of(call) if isinstance(call, dict) else ""
        called = call.get(kind) if kind else None
        if not isinstance(called, dict):
            raise invalid("a tool call that is no object")
        if not called.get("name"):
            raise invalid("a tool call without a name", Blame.NEUTRAL)
        if kind == "function":
            check_arguments(called.get("arguments"), finish)
        elif not isinstance(called.get("input"), str | None):
            raise invalid("a tool call with an input that is no text")


def check_arguments(arguments: Any, finish: Any) -> None:
    """Raises UpstreamError when the arguments of a tool call are not whole JSON."""
    if finish == "length" or arguments in (None, ""):
        return
    if not isinstance(arguments, str):
        raise invalid("a tool call with arguments that are no text")
    try:
        msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        raise invalid("a tool call with arguments that are not JSON", Blame.NEUTRAL) from None


def _soft(reason: Reason) -> Reason:
    """An error object inside a 200 is invalid output unless it says something more exact."""
    return Reason.INVALID_OUTPUT if reason is Reason.BACKEND_ERROR else reason


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
