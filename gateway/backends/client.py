"""The way to one backend: a pooled HTTP client that turns every way a call can end into one answer or one error."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.answers.completion import Completion
from gateway.answers.validate import completion_of, invalid, require_choices
from gateway.backends.failures import failure_of
from gateway.backends.stream import Piece, StreamReader
from gateway.errors import Blame, UpstreamError
from gateway.masking import Secrets
from gateway.policy import Limits
from gateway.record import Reason

_IDLE_CONNECTION_S = 4.0  # shorter than the 5 s after which uvicorn, under most engines, closes an idle connection
Take = Callable[[list[Piece]], Awaitable[None]]
_ERROR_BODY_BYTES = 65_536
_LARGE_BYTES = 1_048_576
_OK = 200
_NO_SECRETS = Secrets()


def open_session() -> aiohttp.ClientSession:
    """One session for all backends. Connections are not limited here: the lanes do that."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_CONNECTION_S)
    return aiohttp.ClientSession(
        connector=connector,
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=True,
        trust_env=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What to send, and how long it may take; `headers` go with the client's own."""

    body: bytes
    limits: Limits
    total_s: float
    max_bytes: int = _ERROR_BODY_BYTES
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class Client:
    """Calls one backend. Cancelling a call closes its connection."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        name: str,
        url: str,
        api_key: str | None,
        done_required: bool,
        secrets: Secrets = _NO_SECRETS,
    ) -> None:
        self._session = session
        self._name = name
        self._url = URL(f"{url.rstrip('/')}/chat/completions")
        self._headers = CIMultiDict({"Content-Type": "application/json"})
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._done_required = done_required
        self._secrets = secrets

    async def complete(self, call: Call) -> Completion:
        """One whole answer within `total_s`. Raises UpstreamError; BadRequest when the backend blames the client."""
        with _translated(self._name):
            async with asyncio.timeout(call.total_s), self._post(call) as response:
                raw = await _bounded(response, call.max_bytes)
        self._secrets.require_none(raw)
        return completion_of(raw)

    async def stream(self, call: Call, *, take: Take) -> StreamReader:
        """Hand pieces to `take` as they come; returns once the stream proved whole. Raises as `complete` does.

        A backend that answers with JSON all the same gives no pieces; the reader then has its `whole`.

        The idle limit starts again only when content or reasoning comes, so that keep-alives cannot keep a stalled
        stream open.
        Time spent in `take` (a client that reads slowly) is not the backend's: only `total_s` runs on.
        """
        loop = asyncio.get_running_loop()
        limits = call.limits
        ends_at = loop.time() + call.total_s
        silent_at = min(ends_at, loop.time() + limits.first_token_s)
        idle_s = limits.idle_s
        reader = StreamReader(
            max_bytes=call.max_bytes, done_required=self._done_required, check=self._secrets.require_none
        )
        with _translated(self._name):
            async with _Silence(silent_at, step_s=idle_s) as silence, self._post(call) as response:
                while data := await response.content.readany():
                    pieces = reader.feed(data)
                    if pieces:
                        silence.ends_at = ends_at
                        await take(pieces)
                        if any(piece.is_progress for piece in pieces):
                            silent_at = min(ends_at, loop.time() + idle_s)
                        silence.ends_at = silent_at
                    elif reader.is_opening:
                        silence.ends_at = min(ends_at, loop.time() + idle_s)
                    if reader.done:
                        break
                reader.end()
        return reader

    async def ping(self, call: Call, *, stream: bool) -> None:
        """One small call whose answer only has to be one in shape. Raises as `complete` does."""
        if stream:
            reader = await self.stream(call, take=_ignore)
            if reader.whole is not None:
                require_choices(reader.whole)
            return
        with _translated(self._name):
            async with asyncio.timeout(call.total_s), self._post(call) as response:
                raw = await _bounded(response, call.max_bytes)
        require_choices(raw)

    def _post(self, call: Call) -> "_Answered":
        connect_s = call.limits.connect_s
        timeout = self._timeouts.get(connect_s)
        if timeout is None:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_s)
            self._timeouts = {connect_s: timeout}
        body, headers = call.body, self._headers
        if call.headers:
            headers = headers.copy()
            headers.update(call.headers)
        # Large bodies are written piece by piece.
        data = aiohttp.BytesPayload(body) if len(body) < _LARGE_BYTES else aiohttp.BytesIOPayload(io.BytesIO(body))
        return _Answered(
            self._session.post(self._url, data=data, headers=headers, timeout=timeout, allow_redirects=False),
            self._name,
            self._secrets,
        )


class _Silence:
    """A timeout whose end moves with every piece, while its timer is touched only when it is due.

    The end may move to no earlier than `step_s` from the time of the move, so a look every `step_s` is never late.
    """

    def __init__(self, ends_at: float, *, step_s: float) -> None:
        self.ends_at = ends_at
        self._step_s = step_s
        self._alarm = asyncio.timeout_at(None)
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> "_Silence":
        await self._alarm.__aenter__()
        self._look()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._alarm.__aexit__(kind, error, trace)

    def _look(self) -> None:
        now_s = self._loop.time()
        self._timer = self._loop.call_at(min(self.ends_at, now_s + self._step_s), self._look)
        if now_s >= self.ends_at:
            self._timer.cancel()
            self._alarm.reschedule(now_s)


async def _ignore(_: list[Piece]) -> None:
    """Whether it is an answer is all that a probe asks."""


class _Answered:
    """One POST whose answer is a 200, else UpstreamError; a failed one does not leave its connection to the next."""

    __slots__ = ("_name", "_request", "_response", "_secrets")

    def __init__(self, request: Awaitable[aiohttp.ClientResponse], name: str, secrets: Secrets) -> None:
        self._request = request
        self._name = name
        self._secrets = secrets

    async def __aenter__(self) -> aiohttp.ClientResponse:
        self._response = response = await self._request
        if response.status == _OK:
            return response
        try:
            raw = await response.content.read(_ERROR_BODY_BYTES)
        finally:
            response.close()
        secrets = self._secrets
        raise failure_of(
            response.status, secrets.masked_raw(raw), response.headers, name=self._name, masked=secrets.masked
        )

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            self._response.close()
        else:
            self._response.release()


async def _bounded(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    length = response.content_length
    if length is not None and length > max_bytes:
        raise invalid(f"an answer of {length} bytes, at most {max_bytes}")
    parts = []
    left = max_bytes
    while data := await response.content.readany():
        left -= len(data)
        if left < 0:
            raise invalid(f"an answer of more than {max_bytes} bytes")
        parts.append(data)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class _translated:  # noqa: N801 - reads as the verb it is; a class because a generator here would cost twice the time
    """Turn what the HTTP client raises into UpstreamError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, TimeoutError | aiohttp.ClientError | OSError):
            raise _failure(error, self._name) from error


def _failure(error: Exception, name: str) -> UpstreamError:
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        text = f"{name} cannot be reached"
        late = isinstance(error, aiohttp.ConnectionTimeoutError)
        blame = Blame.TIMEOUT if late else Blame.FAILURE
        reason = Reason.TIMEOUT if late else Reason.CONNECTION_FAILED
        return UpstreamError(text, reason=reason, blame=blame, outcome="refused")
    if isinstance(error, TimeoutError):
        text = f"{name} took too long"
        return UpstreamError(text, reason=Reason.TIMEOUT, blame=Blame.TIMEOUT, outcome="indeterminate")
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | OSError):
        text = f"{name} closed the connection"
        return UpstreamError(text, reason=Reason.CONNECTION_FAILED, outcome="indeterminate", died=True)
    if isinstance(error, aiohttp.ClientPayloadError):
        return UpstreamError(f"{name} broke off", reason=Reason.STREAM_CUT, outcome="indeterminate", died=True)
    return invalid(f"{name} does not speak HTTP: {type(error).__name__}")
