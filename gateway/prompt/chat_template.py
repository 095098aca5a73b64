"""A model's chat template: messages in, the exact text of the prompt out."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gateway.damaged import why
from gateway.errors import BadRequest, ConfigError


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's words for training; for a prompt it is transparent."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 declares it as an instance attribute)

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("_say"), [], [], body).set_lineno(line)

    def _say(self, caller: Any) -> str:
        return str(caller())


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, which remembers what it said of an attribute: it looks at the object's type and the name alone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._safe: dict[tuple[type, str], bool] = {}  # no more than the types' attributes that templates name

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        key = type(obj), attr
        safe = self._safe.get(key)
        if safe is None:
            safe = self._safe[key] = super().is_safe_attribute(obj, attr, value)
        return safe

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`message.role` is `message["role"]`, for which the sandbox tries for an attribute first."""
        if type(obj) is dict and attribute in obj and attribute not in _OF_A_DICT:
            return obj[attribute]
        return super().getattr(obj, attribute)


_REFUSALS = (
    *(jinja2.TemplateError, TypeError, AttributeError, ValueError),
    *(LookupError, ArithmeticError, RecursionError),
)  # what a template may come to with messages that it was not written for
_OF_A_DICT = frozenset(dir(dict))


class ChatTemplate:
    """One compiled template with the special tokens it may name."""

    def __init__(self, source: str, *, special_tokens: Mapping[str, str], where: str) -> None:
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise ConfigError(
                f"{where}: line {error.lineno}: the chat template is not valid: {error.message}"
            ) from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{where}: the chat template is not valid: {why(error)}") from None
        self._template.globals = dict(self._template.globals)  # a chain of maps, gone through for every prompt
        always = {"documents": None, "add_generation_prompt": True, **special_tokens}
        self._always = {**self._template.globals, **always}

    def render(self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] | None = None) -> str:
        """The prompt with its generation prompt; raises BadRequest with the template's words when it refuses."""
        try:
            known = {**self._always, "messages": [plain(message) for message in messages], "tools": tools}
            return "".join(self._template.root_render_func(self._template.new_context(known, shared=True)))
        except _REFUSALS as error:
            raise BadRequest(f"messages: the model's chat template refuses them: {error}", field="messages") from None


def plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as the template sees it: text parts joined by a blank, arguments parsed, empty fields dropped."""
    seen: dict[str, Any] = {"role": message["role"]}
    calls = message.get("tool_calls")
    if calls:
        seen["tool_calls"] = [_parsed(call) for call in calls]
    if "tool_call_id" in message:
        seen["tool_call_id"] = message["tool_call_id"]
    seen["content"] = "" if calls else content_text(message)
    return seen


def content_text(message: Mapping[str, Any]) -> str:
    """The text of a message, whether it comes as a string or as parts; pictures and sound are not text."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or "") for part in content if part.get("type", "text") in _TEXT_PARTS)


_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def _parsed(call: Mapping[str, Any]) -> dict[str, Any]:
    custom = call.get("custom") or {}
    function = dict(call.get("function") or {})
    if custom and not function:  # templates know functions only
        function = {"name": custom.get("name"), "arguments": custom.get("input")}
        return {**call, "function": function}
    if isinstance(function.get("arguments"), str):
        try:
            function["arguments"] = json.loads(function["arguments"])
        except (ValueError, RecursionError):
            return {**call, "function": function}
    return {**call, "function": function}


def find_template(folder: Path) -> str | None:
    """The source of a model folder's chat template: `chat_template.jinja`, else the tokenizer config's field."""
    file = folder / "chat_template.jinja"
    if file.exists():
        try:
            return file.read_text(encoding="utf-8")
        except ValueError as error:
            raise ConfigError(f"{file}: {why(error)}") from None
    declared = read_json(folder / "tokenizer_config.json").get("chat_template")
    if isinstance(declared, list):
        named = [entry for entry in declared if isinstance(entry, Mapping) and entry.get("name") == "default"]
        declared = named[-1].get("template") if named else None
    return declared if isinstance(declared, str) else None


def special_tokens(folder: Path) -> dict[str, str]:
    """`bos_token`, `eos_token` and the like, as the template may name them."""
    config = read_json(folder / "tokenizer_config.json")
    found: dict[str, str] = {}
    for name in ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"):
        value = config.get(name)
        text = value.get("content") if isinstance(value, Mapping) else value
        if isinstance(text, str):
            found[name] = text
    return found


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object, empty where the file is not there; raises ConfigError with line and reason, or OSError."""
    if not file.exists():
        return {}
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: {why(error)}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: must hold a JSON object, holds a {type(value).__name__}")
    return value


def _environment() -> _Environment:
    environment = _Environment(trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, loopcontrols])
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return datetime.now().strftime(pattern)
