"""What a backend's error body says: its message, and the backend's own words for the kind of error.

A message may repeat what the client wrote, so nothing is concluded from words that the client wrote as well, unless the
message begins with them. `type` and `code` are the backend's own; fields deeper than those may be the client's again.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

MOST_CHARS = 4_096  # of a message that is looked at
_KIND_FIELDS = ("type", "code", "error_type")
# What may stand before the words that tell: plain words of the backend's own, and no sign that begins a quotation.
_BEGINNING = re.compile(r"(?:[\w.]*error: |[\w ]{0,24}error: )?(?:`inputs?`|\w'\w|[\w ()./-]){0,80}", re.IGNORECASE)


class ErrorBody(NamedTuple):
    """`message` of the error, `kinds`: its type and code, `param`: the field it is about, "" where they are absent."""

    message: str
    kinds: str = ""
    param: str = ""
    is_json: bool = True


def error_body(raw: bytes) -> ErrorBody:
    """Of a whole error answer, or of one event; what is no JSON is all message."""
    try:
        body: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ErrorBody(raw[:MOST_CHARS].decode(errors="replace"), is_json=False)
    return error_in(body)


def error_in(body: Any) -> ErrorBody:
    """The same for JSON that was read; `body` or its field `error` is the error."""
    outer = body if isinstance(body, dict) else {}
    inner = outer.get("error")
    error = inner if isinstance(inner, dict) else outer
    kinds = [str(value) for level in (outer, error) for value in _kinds(level)]
    param = error.get("param")
    return ErrorBody(
        message=_message(error if error else body, inner)[:MOST_CHARS],
        kinds=" ".join(dict.fromkeys(kinds)),
        param=param if isinstance(param, str) else "",
    )


def tells(words: re.Pattern[str], error: ErrorBody, *, sent: bytes) -> bool:
    """Whether the message holds the wording `words`, and not only as an echo of the request `sent`."""
    found = list(words.finditer(error.message))
    if not found:
        return False
    if _BEGINNING.fullmatch(error.message, 0, found[0].start()):
        return True
    written = sent.decode(errors="replace").casefold()
    return any(one.group().casefold() not in written for one in found)


def _kinds(level: Mapping[str, Any]) -> list[str | int]:
    found = [level.get(field) for field in _KIND_FIELDS]
    return [value for value in found if isinstance(value, str | int) and not isinstance(value, bool)]


def _message(error: Any, inner: Any) -> str:
    """The text of an error, or else all of it."""
    if isinstance(inner, str):
        return inner
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return error if isinstance(error, str) else msgspec.json.encode(error).decode()
