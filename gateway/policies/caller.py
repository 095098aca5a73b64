"""Who asks: the service and endpoint that a manifest may target, and the user or session that a share sticks to."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

SERVICE_HEADER = b"x-truefall-service"
ENDPOINT_HEADER = b"x-truefall-endpoint"
SESSION_HEADER = b"x-truefall-session"
_BODY_KEYS = ("user", "safety_identifier", "prompt_cache_key")
_USERS = frozenset(_BODY_KEYS)


class Caller(NamedTuple):
    """As manifests see it."""

    service: str = ""
    endpoint: str = ""
    key: str = ""


NOBODY = Caller()


def caller_of(
    headers: Iterable[tuple[bytes, bytes]], body: Mapping[str, Any], *, served_model: str, opening: str
) -> Caller:
    """`headers` in lower case. Without a service header the service is the model name that the client sent.

    The key is the session header, else the body's user, else `opening`, the conversation's first words: they are
    the same in each of its requests.
    """
    named = {name: value.decode("latin-1") for name, value in headers if name.startswith(b"x-truefall-")}
    model = body.get("model")
    users = []
    if not _USERS.isdisjoint(body):
        users = [value for key in _BODY_KEYS if isinstance(value := body.get(key), str) and value]
    return Caller(
        service=named.get(SERVICE_HEADER, model if isinstance(model, str) else served_model),
        endpoint=named.get(ENDPOINT_HEADER, ""),
        key=named.get(SESSION_HEADER) or (users[0] if users else opening),
    )
