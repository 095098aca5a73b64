"""The types of what a chat request holds, nested fields too: each as OpenAI's API has it; null is the same as absent.

Fields that are not named here pass as they are: engines have many of their own.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from gateway.errors import BadRequest

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_SHOWN_CHARS = 60
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_MOST_BIAS = 100


class Kind(NamedTuple):
    """What a field may be, and how that is told."""

    types: tuple[type, ...]
    told: str


TEXT = Kind((str,), "a string")
OBJECT = Kind((dict,), "an object")
LIST = Kind((list,), "a list")
SWITCH = Kind((bool,), "true or false")
_ARGUMENTS = Kind((str, dict), "a string that holds JSON")
_CHOICE = Kind((str, dict), "a string or an object")

_MESSAGE = MappingProxyType(
    {"name": TEXT, "refusal": TEXT, "tool_call_id": TEXT, "tool_calls": LIST, "function_call": OBJECT, "audio": OBJECT}
)
_CALL = MappingProxyType({"id": TEXT, "type": TEXT, "function": OBJECT, "custom": OBJECT})
_CALLED = MappingProxyType({"name": TEXT, "arguments": _ARGUMENTS, "input": TEXT})
_TOOL = MappingProxyType({"type": TEXT, "function": OBJECT, "custom": OBJECT})
_FUNCTION = MappingProxyType({"name": TEXT, "description": TEXT, "parameters": OBJECT, "strict": SWITCH})
_CUSTOM = MappingProxyType({"name": TEXT, "description": TEXT})
_FORMAT = MappingProxyType({"name": TEXT, "description": TEXT, "strict": SWITCH, "schema": OBJECT})
_BODY = MappingProxyType(
    {
        "stream": SWITCH,
        "stream_options": OBJECT,
        "tools": LIST,
        "functions": LIST,
        "tool_choice": _CHOICE,
        "function_call": _CHOICE,
        "parallel_tool_calls": SWITCH,
        "logit_bias": OBJECT,
        "metadata": OBJECT,
        "user": TEXT,
        "safety_identifier": TEXT,
        "prompt_cache_key": TEXT,
        "store": SWITCH,
        "async": SWITCH,
    }
)


def check_fields(body: Mapping[str, Any]) -> None:
    """All but messages, sampling and the answer's format. Raises BadRequest."""
    _check_object(body, _BODY, "")
    for field, check in _NESTED.items():
        value = body.get(field)
        if value is not None:
            check(value, field)


def check_message(message: Any, field: str) -> None:
    """Raises BadRequest."""
    require(isinstance(message, dict), field, message, OBJECT.told)
    role = message.get("role")
    require(role in ROLES, f"{field}.role", role, f"one of {', '.join(ROLES)}")
    _check_object(message, _MESSAGE, f"{field}.")
    for index, call in enumerate(message.get("tool_calls") or ()):
        _check_call(call, f"{field}.tool_calls[{index}]")
    _check_object(message.get("function_call") or {}, _CALLED, f"{field}.function_call.")
    _check_content(message, f"{field}.content")


def check_json_schema(value: Any, field: str) -> None:
    """What stands around the schema of an answer. Raises BadRequest."""
    require(value is None or isinstance(value, dict), field, value, OBJECT.told)
    _check_object(value or {}, _FORMAT, f"{field}.")


def require(ok: bool, field: str, value: Any, bound: str) -> None:
    """Raises BadRequest with field, value and bound unless `ok`."""
    if not ok:
        raise BadRequest(f"{field} is {shown(value)}, must be {bound}", field=field)


def shown(value: Any) -> str:
    """The value as a client would write it, shortened."""
    text = "missing" if value is None else msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text)} characters)"


def _check_object(value: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str) -> None:
    for key, kind in kinds.items():
        found = value.get(key)
        require(found is None or isinstance(found, kind.types), f"{prefix}{key}", found, kind.told)


def _check_content(message: Mapping[str, Any], field: str) -> None:
    content = message.get("content")
    if isinstance(content, str):
        return
    instead = message["role"] == "assistant" and any(
        message.get(key) for key in ("tool_calls", "function_call", "refusal")
    )
    if content is None and instead:
        return
    require(isinstance(content, list), field, content, "a string or a list of parts")
    for index, part in enumerate(content or ()):
        _check_part(part, f"{field}[{index}]")


def _check_part(part: Any, field: str) -> None:
    require(isinstance(part, dict) and isinstance(part.get("type"), str), field, part, "an object with a type")
    text = part.get("text")
    ok = isinstance(text, str) or (text is None and part["type"] not in _TEXT_PARTS)
    require(ok, f"{field}.text", text, TEXT.told)


def _check_call(call: Any, field: str) -> None:
    require(isinstance(call, dict), field, call, OBJECT.told)
    _check_object(call, _CALL, f"{field}.")
    for kind in ("function", "custom"):
        _check_object(call.get(kind) or {}, _CALLED, f"{field}.{kind}.")


def _check_tool(tool: Any, field: str) -> None:
    require(isinstance(tool, dict), field, tool, OBJECT.told)
    _check_object(tool, _TOOL, f"{field}.")
    _check_object(tool.get("function") or {}, _FUNCTION, f"{field}.function.")
    _check_object(tool.get("custom") or {}, _CUSTOM, f"{field}.custom.")


def _check_function(function: Any, field: str) -> None:
    require(isinstance(function, dict), field, function, OBJECT.told)
    _check_object(function, _FUNCTION, f"{field}.")


def _check_choice(choice: Any, field: str) -> None:
    if isinstance(choice, dict):
        _check_tool(choice, field)


def _check_options(options: Mapping[str, Any], field: str) -> None:
    _check_object(options, {"include_usage": SWITCH}, f"{field}.")


def _check_bias(bias: Mapping[str, Any], field: str) -> None:
    for token, value in bias.items():
        ok = isinstance(value, int | float) and not isinstance(value, bool) and -_MOST_BIAS <= value <= _MOST_BIAS
        require(ok, f"{field}[{shown(token)}]", value, f"a number from {-_MOST_BIAS} to {_MOST_BIAS}")


def _each(check: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
    def check_all(values: list[Any], field: str) -> None:
        for index, value in enumerate(values):
            check(value, f"{field}[{index}]")

    return check_all


_NESTED: Mapping[str, Callable[[Any, str], None]] = MappingProxyType(
    {
        "tools": _each(_check_tool),
        "functions": _each(_check_function),
        "tool_choice": _check_choice,
        "stream_options": _check_options,
        "logit_bias": _check_bias,
    }
)
