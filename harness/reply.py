"""What the JSON of a chat completion says, a whole body or one chunk of a stream, field by field (pure).

Whatever the JSON is, it becomes a Reply: what has another type than OpenAI's is left out, and said.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.damaged import why

SHOWN_CHARS = 80
MOST_LEVELS = 20  # of nesting in a degradation record; ours has three


@dataclass(slots=True, kw_only=True)
class Reply:
    """What was said. None: nothing of it, or not as the type that it has to have."""

    text: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    suggestion: str | None = None  # of a structured 206
    record: dict[str, Any] = field(default_factory=dict)  # the degradation record; empty: none
    error: str | None = None  # what the server says went wrong
    malformed: str | None = None  # why this is no chat completion
    left_out: list[str] = field(default_factory=list)  # fields that are missing, or beside the answer and of no use


def as_json(raw: bytes) -> object:
    """Raises ValueError, with what is wrong, for what is not JSON or nested too deeply to be read."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{why(error)}: {raw[:SHOWN_CHARS]!r}") from None


def read_reply(content: object) -> Reply:
    """A whole body: its first choice counts; an error only where there is none that can be read."""
    reply = read_around(content)
    if not isinstance(content, Mapping):
        return reply
    choices = content.get("choices")
    if choices:
        read_choice(first(choices, reply), "choices[0]", "message", reply)
        if reply.malformed is None:
            reply.error = None
            if reply.text is None:
                reply.left_out.append("choices[0].message.content holds no text")
    elif reply.error is None and reply.suggestion is None:
        reply.left_out.append(f"choices is {kind(choices)}; need a list with an answer")
    return reply


def read_chunk(content: object) -> Reply:
    """One event of a stream; the texts of its choices are joined. It may well hold none."""
    reply = read_around(content)
    choices = content.get("choices") if isinstance(content, Mapping) else None
    if not choices:
        return reply
    if not isinstance(choices, list):
        reply.malformed = f"choices is {kind(choices)}; need a list"
        return reply
    for at, choice in enumerate(choices):
        read_choice(choice, f"choices[{at}]", "delta", reply)
    return reply


def read_around(content: object) -> Reply:
    """Everything but the choices."""
    if not isinstance(content, Mapping):
        return Reply(malformed=f"it is {kind(content)}; need an object")
    reply = Reply(error=error_text(content.get("error")))
    reply.model = text_or_none(content, "model", "", reply.left_out)
    reply.suggestion = text_or_none(content, "suggestion", "", reply.left_out)
    reply.record = read_record(content.get("degradation"), reply.left_out)
    return reply


def first(choices: object, reply: Reply) -> object:
    """The first choice; an empty object, with the reason in `reply`, where there is no list of them."""
    if isinstance(choices, list):
        return choices[0]
    reply.malformed = f"choices is {kind(choices)}; need a list"
    return {}


def read_choice(choice: object, place: str, part: str, reply: Reply) -> None:
    """Add what a choice says to `reply`. `part`: "message" of a whole body, "delta" of a chunk."""
    if not isinstance(choice, Mapping):
        reply.malformed = f"{place} is {kind(choice)}; need an object"
        return
    reply.finish_reason = text_or_none(choice, "finish_reason", place, reply.left_out) or reply.finish_reason
    said = choice.get(part)
    if said is None:
        return
    if not isinstance(said, Mapping):
        reply.malformed = f"{place}.{part} is {kind(said)}; need an object"
        return
    text = content_text(said.get("content"), f"{place}.{part}.content", reply)
    if text is not None:
        reply.text = (reply.text or "") + text


def content_text(content: object, place: str, reply: Reply) -> str | None:
    """A text, or the joined texts of a list of parts; None, with the reason in `reply`, where it is neither."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        reply.malformed = f"{place} is {kind(content)}; need a text or a list of parts"
        return None
    texts: list[str] = []
    for at, part in enumerate(content):
        if not isinstance(part, Mapping):
            reply.malformed = f"{place}[{at}] is {kind(part)}; need an object"
            return None
        if part.get("type") != "text":
            continue
        if not isinstance(text := part.get("text"), str):
            reply.malformed = f"{place}[{at}].text is {kind(text)}; need a text"
            return None
        texts.append(text)
    return "".join(texts) if texts else None


def error_text(error: object) -> str | None:
    """OpenAI's object with a message, or just a text; something else counts, too. None: null or empty."""
    if not error:
        return None
    message = error.get("message") if isinstance(error, Mapping) else error
    if isinstance(message, str):
        return message
    return f"an error without a message: {json.dumps(error)[:SHOWN_CHARS]}" if plain(error) else "an error, not told"


def read_record(content: object, left_out: list[str]) -> dict[str, Any]:
    """A degradation record without the fields of the wrong type; empty where it is none."""
    if content is None:
        return {}
    if not isinstance(content, Mapping) or not plain(content):
        what = "no record" if isinstance(content, Mapping) else kind(content)
        left_out.append(f"degradation is {what}; need an object of finite values, {MOST_LEVELS} levels deep at most")
        return {}
    wrong = wrong_fields(content)
    left_out += [f"degradation.{name} is {kind(content[name])}; need {need}" for name, need in wrong.items()]
    return {name: value for name, value in content.items() if name not in wrong}


def wrong_fields(record: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a degradation record whose type cannot be used, each with what it has to be."""
    found = {name: "a text" for name in ("level", "path", "notice") if not isinstance(record.get(name), str | None)}
    if not isinstance(record.get("abstained"), bool | None):
        found["abstained"] = "true or false"
    if not list_of(record.get("reasons"), lambda reason: isinstance(reason, str)):
        found["reasons"] = "a list of texts"
    if not list_of(record.get("attempts"), is_attempt):
        found["attempts"] = "a list of objects with a path, a text, and a reason, a text or null"
    return found


def list_of(value: object, holds: Callable[[object], bool]) -> bool:
    """Whether a value is nothing, or a list of what `holds`."""
    return value is None or (isinstance(value, list | tuple) and all(map(holds, value)))


def is_attempt(attempt: object) -> bool:
    return (
        isinstance(attempt, Mapping)
        and isinstance(attempt.get("path"), str)
        and isinstance(attempt.get("reason"), str | None)
    )


def text_or_none(content: Mapping[str, Any], name: str, place: str, left_out: list[str]) -> str | None:
    """A field that may be a text; another type is left out, and said."""
    value = content.get(name)
    if value is None or isinstance(value, str):
        return value
    left_out.append(f"{place}{'.' if place else ''}{name} is {kind(value)}; need a text")
    return None


def plain(value: object, levels: int = MOST_LEVELS) -> bool:
    """Whether a value can be written as JSON again: finite numbers, not nested deeper than `levels`."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return levels > 0 and all(plain(inner, levels - 1) for inner in value.values())
    return not isinstance(value, list) or (levels > 0 and all(plain(inner, levels - 1) for inner in value))


def kind(value: object) -> str:
    """What a value of JSON is, in words; itself where it is short."""
    if value is None:
        return "missing or null"
    if isinstance(value, Mapping | list | tuple):
        return ("an object" if isinstance(value, Mapping) else "a list") + (" without anything" if not value else "")
    return repr(value)[:SHOWN_CHARS]
