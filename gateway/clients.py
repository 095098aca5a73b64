"""Who may ask: the door in front of `/v1/`."""

from collections.abc import Callable, Sequence
from typing import Any

from gateway.api_key import ApiKey, client_of
from gateway.errors import BadRequest
from gateway.wire import Receive, Send, reject

GUARDED = "/v1/"


class Guarded:
    """Lets through to `/v1/` only who has a key. Health, metrics and admin have their own rules."""

    def __init__(self, app: Any, keys: Sequence[ApiKey], *, count: Callable[[BadRequest], None]) -> None:
        self._app = app
        self._keys = tuple(keys)
        self._count = count

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        guarded = scope["type"] == "http" and scope["path"].startswith(GUARDED)
        if not guarded or client_of(scope["headers"], self._keys) is not None:
            await self._app(scope, receive, send)
            return
        text = "authorization is missing or no key of this gateway, must be 'Bearer' and an API key"
        error = BadRequest(text, field="authorization", status=401, code="invalid_api_key")
        await reject(send, error, self._count, [(b"www-authenticate", b"Bearer")])
