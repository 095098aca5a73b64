"""One small HTTP call to a control API on loopback.

It blocks on purpose: an undo that never awaits cannot be interrupted by a second cancellation. So the server must not
run on the caller's own event loop.
"""

import http.client
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

TIMEOUT_S = 5.0


class Reply(NamedTuple):
    """Status and body; `value` is None when the body is not JSON."""

    status: int
    value: Any
    text: str


def call(method: str, url: str, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
    """Raises OSError when the server cannot be reached or does not answer within 5 s."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    data = None if body is None else msgspec.json.encode(body)
    named = {"Content-Type": "application/json"} if data is not None else {}
    try:
        connection.request(
            method, parts.path + (f"?{parts.query}" if parts.query else ""), data, {**named, **(headers or {})}
        )
        response = connection.getresponse()
        raw = response.read()
    except http.client.HTTPException as error:
        raise ConnectionError(f"{url}: {error!r}") from None
    finally:
        connection.close()
    return Reply(response.status, _json(raw), raw.decode("utf-8", "replace"))


def _json(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
