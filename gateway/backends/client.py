"""The way to one backend: a call goes out, and every way it can end becomes one answer or one error."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType, TracebackType

import msgspec

from gateway.answers.completion import Completion, now_unix_s
from gateway.answers.validate import completion_of, invalid, require_choices
from gateway.backends.exchange import Connection
from gateway.backends.failures import failure_of
from gateway.backends.origin import Origin
from gateway.backends.stream import Piece, StreamReader
from gateway.errors import (
    BadRequest,
    Blame,
    BrokenOff,
    CannotConnect,
    Disconnected,
    ExchangeError,
    FieldRefused,
    TooLong,
    UpstreamError,
)
from gateway.masking import Secrets
from gateway.policy import Limits
from gateway.record import Reason

Take = Callable[[list[Piece]], Awaitable[None]]
_ERROR_BODY_BYTES = 65_536
_ERROR_BODY_S = 1.0  # so long an error may take to explain itself
_OK = 200
_NO_SECRETS = Secrets()
KEYS = frozenset({"authorization", "x-api-key", "api-key"})  # of a client, passed on


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What to send, and how long it may take; `headers` go with the client's own.

    `own_key`: the client's own key belongs to it, whether it is in `headers` or, in a probe, missing.
    `total_s` is the backend's limit, `left_s` what the request has left: what that ends is not the backend's fault.
    """

    body: bytes
    limits: Limits
    total_s: float
    left_s: float = math.inf
    max_bytes: int = _ERROR_BODY_BYTES
    headers: Mapping[str, str] = msgspec.field(default_factory=lambda: MappingProxyType({}))
    own_key: bool = False


class Client:
    """Calls one backend. Cancelling a call closes its connection."""

    def __init__(
        self,
        *,
        name: str,
        url: str,
        api_key: str | None,
        done_required: bool,
        model: str = "",
        secrets: Secrets = _NO_SECRETS,
        wall_s: Callable[[], float] = now_unix_s,
        tell: Callable[[str, str], None] = lambda _event, _detail: None,
    ) -> None:
        """`tell` hears once what only the config can mend."""
        self._tell = tell
        self._told = False
        self._name = name
        self._model = model or name
        self._wall_s = wall_s
        self.origin = Origin(f"{url.rstrip('/')}/chat/completions")
        headers = {"Host": self.origin.authority, "User-Agent": "truefall", "Accept-Encoding": "identity"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self.has_key = "Authorization" in headers
        self._headers = headers
        self._head = _head_of(self.origin.target, headers)
        self._done_required = done_required
        self._secrets = secrets
        self.calling: Callable[[Origin], Mapping[str, str]] | None = None  # told of each call; adds headers to it

    async def complete(self, call: Call) -> Completion:
        """One whole answer within `total_s`. Raises UpstreamError; BadRequest when the backend blames the client."""
        raw = await self._whole(call)
        self._secrets.require_none(raw)
        return completion_of(raw, sent=call.body)

    async def stream(self, call: Call, *, take: Take) -> StreamReader:
        """Hand pieces to `take` as they come; returns once the stream proved whole. Raises as `complete` does.

        A backend that answers with JSON all the same gives no pieces; the reader then has its `whole`.

        The idle limit starts again only when content or reasoning comes, so that keep-alives cannot keep a stalled
        stream open.
        Time spent in `take` (a client that reads slowly) is not the backend's: only `left_s` runs on.
        """
        loop = asyncio.get_running_loop()
        limits = call.limits
        ends_at = loop.time() + call.total_s
        silent_at = min(ends_at, loop.time() + limits.first_token_s)
        idle_s = limits.idle_s
        reader = StreamReader(
            max_bytes=call.max_bytes,
            done_required=self._done_required,
            check=self._secrets.require_none,
            sent=call.body,
            model=self._model,
        )
        with _Translated(self._name, call):
            silence = _Silence(silent_at, deadline_at=loop.time() + call.left_s, step_s=idle_s)
            async with silence, self._post(call, whole_by=None) as answer:
                while data := await answer.read():
                    pieces = reader.feed(data)
                    if pieces:
                        given_at = loop.time()
                        silence.stop()
                        await take(pieces)
                        now = loop.time()
                        ends_at += now - given_at
                        if any(piece.is_progress for piece in pieces):
                            silent_at = min(ends_at, now + idle_s)
                        else:
                            silent_at += now - given_at
                        silence.go_on(silent_at)
                    elif reader.is_opening:
                        silence.go_on(min(ends_at, loop.time() + idle_s))
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
        require_choices(await self._whole(call))

    async def _whole(self, call: Call) -> bytes:
        ends_at = asyncio.get_running_loop().time() + min(call.total_s, call.left_s)
        with _Translated(self._name, call):
            try:
                async with self._post(call, whole_by=ends_at) as answer:
                    return await answer.read()
            except TimeoutError:
                if call.left_s < call.total_s:
                    raise OutOfTime from None
                raise

    def _post(self, call: Call, *, whole_by: float | None) -> "_Answered":
        added = dict(call.headers)
        if self.calling is not None:
            added.update(self.calling(self.origin))
        head = self._head
        if added:
            ours = {name: value for name, value in self._headers.items() if name.lower() not in added}
            head = _head_of(self.origin.target, {**ours, **added})
        message = b"%s%d\r\n\r\n%s" % (head, len(call.body), call.body)
        return _Answered(self, message, call, whole_by=whole_by)

    def failure(self, connection: Connection, raw: bytes, call: Call) -> UpstreamError | BadRequest:
        """What an answer other than 200 to `call` means."""
        secrets = self._secrets
        retry_after = connection.headers.get(b"retry-after")
        failure = failure_of(
            connection.status,
            secrets.masked_raw(raw),
            retry_after.decode("latin-1") if retry_after is not None else None,
            name=self._name,
            now_unix_s=self._wall_s,
            masked=secrets.masked,
            sent=call.body,
            own_key=call.own_key or not KEYS.isdisjoint(call.headers),
        )
        if isinstance(failure, FieldRefused) and not self._told:
            self._told = True
            self._tell("field_refused", str(failure))
        return failure


def _head_of(target: str, headers: Mapping[str, str]) -> bytes:
    """All of a request's head but how long its body is."""
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "Content-Type: application/json", "Content-Length: "]).encode("latin-1")


class OutOfTime(TimeoutError):  # noqa: N818 - not an error of the backend's
    """The request's own deadline came before the backend's limit."""


class _Silence:
    """A timeout whose end moves with every piece, while its timer is touched only when it is due, or too late.

    Raises OutOfTime where `deadline_at` comes before the backend's own end.
    """

    def __init__(self, ends_at: float, *, deadline_at: float, step_s: float) -> None:
        self._ends_at = ends_at  # the backend's own
        self._deadline_at = deadline_at
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
        try:
            await self._alarm.__aexit__(kind, error, trace)
        except TimeoutError:
            if self._deadline_at < self._ends_at:
                raise OutOfTime from None
            raise

    def stop(self) -> None:
        """The backend is not waited for."""
        self._ends_at = math.inf

    def go_on(self, ends_at: float) -> None:
        """It is waited for again, until `ends_at`."""
        self._ends_at = ends_at
        if ends_at < self._due_at:
            self._timer.cancel()
            self._look()

    def _look(self) -> None:
        now_s = self._loop.time()
        ends_at = min(self._ends_at, self._deadline_at)
        self._due_at = min(ends_at, now_s + self._step_s)
        self._timer = self._loop.call_at(self._due_at, self._look)
        if now_s >= ends_at:
            self._timer.cancel()
            self._alarm.reschedule(now_s)


async def _ignore(_: list[Piece]) -> None:
    """Whether it is an answer is all that a probe asks."""


class _Answered:
    """One POST whose answer is a 200, else UpstreamError; a failed one does not leave its connection to the next."""

    __slots__ = ("_call", "_client", "_connection", "_message", "_whole_by")

    def __init__(self, client: Client, message: bytes, call: Call, *, whole_by: float | None) -> None:
        self._client = client
        self._message = message
        self._call = call
        self._whole_by = whole_by

    async def __aenter__(self) -> Connection:
        call = self._call
        connect_s = min(call.limits.connect_s, call.total_s, call.left_s)
        connection = await self._client.origin.connection(connect_s=connect_s)
        try:
            await connection.ask(self._message, most_bytes=call.max_bytes, whole_by=self._whole_by)
            if connection.status != _OK:
                raise self._client.failure(connection, await _beginning(connection), call)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            self._connection.close()
        else:
            self._client.origin.take_back(self._connection)


async def _beginning(connection: Connection) -> bytes:
    """As much of an error's body as is looked at."""
    raw = b""
    try:
        async with asyncio.timeout(_ERROR_BODY_S):
            while len(raw) < _ERROR_BODY_BYTES and (data := await connection.read()):
                raw += data
    except (ExchangeError, TimeoutError):
        pass  # the status says enough
    return raw[:_ERROR_BODY_BYTES]


class _Translated:
    """Turn every way in which a call fails into UpstreamError; a class, as a generator here costs twice the time."""

    __slots__ = ("_call", "_name")

    def __init__(self, name: str, call: Call) -> None:
        self._name = name
        self._call = call

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, TimeoutError | ExchangeError | CannotConnect):
            raise _failure(error, self._name, self._call) from error


def _failure(error: Exception, name: str, call: Call) -> UpstreamError:
    if isinstance(error, CannotConnect):
        text = f"{name} cannot be reached"
        cut = call.left_s < min(call.limits.connect_s, call.total_s)
        blame = _lateness(cut=cut) if error.late else Blame.FAILURE
        reason = Reason.TIMEOUT if error.late else Reason.CONNECTION_FAILED
        return UpstreamError(text, reason=reason, blame=blame, outcome="refused")
    if isinstance(error, TimeoutError):
        text = f"{name} took too long"
        blame = _lateness(cut=isinstance(error, OutOfTime))
        return UpstreamError(text, reason=Reason.TIMEOUT, blame=blame, outcome="indeterminate")
    if isinstance(error, Disconnected):
        text = f"{name} closed the connection"
        return UpstreamError(text, reason=Reason.CONNECTION_FAILED, outcome="indeterminate", died=True)
    if isinstance(error, BrokenOff):
        return UpstreamError(f"{name} broke off", reason=Reason.STREAM_CUT, outcome="indeterminate", died=True)
    if isinstance(error, TooLong):
        return invalid(f"an answer of more than {call.max_bytes} bytes", Blame.NEUTRAL)
    return invalid(f"{name} does not speak HTTP: {error}")


def _lateness(*, cut: bool) -> Blame:
    """Whose fault it is that nothing came in time; `cut`: the request itself had less time left than the limit."""
    return Blame.NEUTRAL if cut else Blame.TIMEOUT
