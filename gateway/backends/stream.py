"""Server-sent events of a backend: lines in, pieces out, and whether the stream ended whole."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from gateway.answers.published import chunk, index_of
from gateway.answers.validate import invalid, own_record_in, require_finished
from gateway.backends.error_body import error_body
from gateway.backends.failures import failure_inside
from gateway.errors import Blame, UpstreamError
from gateway.record import Reason

_NO_VALUE = msgspec.Raw(b"null")
_LEAST_BYTES = 5  # of a line that says anything: `data:`
_NOTHING = (b"null", b"{}", b"[]", b'""', b"false")  # an `error` that says there is none
_EVENT = b"\ndata:"  # in JSON no line can begin so
_OBJECT = b"data: {"  # how nearly every line begins that is not blank
_BOM = b"\xef\xbb\xbf"
_OTHER_FIELDS = (b":", b"event:", b"id:", b"retry:")  # of server-sent events, the first being a comment


Name = Annotated[str, msgspec.Meta(min_length=1)]
Whole = Annotated[int, msgspec.Meta(ge=0)]


class Usage(msgspec.Struct, gc=False):
    prompt_tokens: Whole
    completion_tokens: Whole
    total_tokens: Whole
    completion_tokens_details: dict[str, Any] | None = None
    reasoning_tokens: Any = None
    degradation: msgspec.Raw = _NO_VALUE


class FunctionDelta(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class CustomDelta(msgspec.Struct, gc=False):
    name: str | None = None
    input: str | None = None


class ToolDelta(msgspec.Struct, gc=False):
    index: Whole
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None


class Delta(msgspec.Struct, gc=False):
    role: Literal["assistant", "developer", "system", "tool", "user"] | None = None
    content: str | None = None
    refusal: str | None = None
    reasoning_content: msgspec.Raw = _NO_VALUE  # of whatever type: it only shows that the backend is at work
    reasoning: msgspec.Raw = _NO_VALUE
    reasoning_details: msgspec.Raw = _NO_VALUE
    thinking: msgspec.Raw = _NO_VALUE
    audio: msgspec.Raw = _NO_VALUE
    tool_calls: list[ToolDelta] | None = None
    function_call: FunctionDelta | None = None
    degradation: msgspec.Raw = _NO_VALUE


class Choice(msgspec.Struct, gc=False):
    index: Whole
    delta: Delta
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter", "function_call"] | None = None
    logprobs: dict[str, Any] | None = None
    degradation: msgspec.Raw = _NO_VALUE


class Event(msgspec.Struct, gc=False):
    """As much of a chunk as the gateway looks at, in OpenAI's own shape; others are mended first."""

    id: Name
    object: Literal["chat.completion.chunk"]
    created: Whole
    model: Name
    choices: list[Choice]
    usage: Usage | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    error: msgspec.Raw = _NO_VALUE
    type: Any = None
    degradation: msgspec.Raw = _NO_VALUE


class Piece(msgspec.Struct, frozen=True, gc=False):
    """One chunk: `data` is its JSON as received."""

    data: bytes
    event: Event
    text: str
    is_content: bool  # text that is not empty, a refusal, or part of a tool call
    is_progress: bool  # content, or what the model thinks before it
    finish_reason: str | None
    is_plain: bool = False  # text, and nothing besides
    holds_unseen: bool = False  # what the model thinks, or sound


_DECODER = msgspec.json.Decoder(Event)


class StreamReader:
    """Feed it bytes; it gives pieces and remembers how the stream stands.

    Policy for broken streams: a line that is no field of server-sent events is skipped, as their standard says. A
    `data:` line that cannot be read, and one whose beginning seems lost (no field, but with JSON's quotes in it), is
    skipped and counted in `bad_lines`: the caller trusts such an answer only where the token counts prove that
    nothing is missing. Everything else that is not a whole stream raises UpstreamError.

    A body that begins as a JSON object and holds no event is no stream at all: the backend did not heed `stream`, and
    `whole` is its answer, for the caller to judge.
    """

    def __init__(
        self,
        *,
        max_bytes: int,
        done_required: bool,
        check: Callable[[bytes], None] | None = None,
        sent: bytes = b"",
        model: str = "unknown",
    ) -> None:
        """`check` raises UpstreamError where one event, or the JSON in place of a stream, must not be shown.

        `sent`: the request, whose words in an error event prove nothing. `model` is told where a chunk names none.
        """
        self._sent = sent
        self._model = model
        self._outer: dict[str, Any] = {}  # what all chunks of the stream have in common
        self._called = False  # a tool, by now
        self.own_record: dict[str, Any] | None = None  # of a backend that is a gateway itself
        self._check = check
        self._opening: bytearray | None = bytearray()  # until it is known that there are events
        self._braced = False  # it begins as a JSON object does
        self._rest = b""
        self._left_bytes = max_bytes
        self._max_bytes = max_bytes
        self._done_required = done_required
        self._error_event = False
        self.done = False  # `[DONE]` came
        self.finish_reason: str | None = None
        self.bad_lines = 0
        self.whole: bytes | None = None  # the JSON that came in place of a stream

    @property
    def is_opening(self) -> bool:
        """Whether all that came so far may be one JSON object in place of a stream."""
        return self._opening is not None and self._braced

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces that `data` completes. Raises UpstreamError on an error event or too many bytes."""
        self._left_bytes -= len(data)
        if self._left_bytes < 0:
            raise invalid(f"a stream of more than {self._max_bytes} bytes", Blame.NEUTRAL)
        if self._opening is not None:
            data = self._opened(self._opening, data)
        whole, _, rest = (self._rest + data).rpartition(b"\n")
        self._rest = rest
        if self._check is not None:
            self._check(whole)
        pieces = []
        for line in whole.split(b"\n"):
            if len(line) < _LEAST_BYTES:
                continue  # blank, between two events
            piece = self._event(line[5:].strip()) if line.startswith(_OBJECT) and not self.done else self._line(line)
            if piece is not None:
                pieces.append(piece)
        return pieces

    def _opened(self, opening: bytearray, data: bytes) -> bytes:
        """What is to be read as events by now."""
        seen = max(0, len(opening) - len(_EVENT))
        opening += data
        text = b"" if self._braced else opening.removeprefix(_BOM).lstrip()
        self._braced = self._braced or text.startswith(b"{")
        if (text and not self._braced) or opening.find(_EVENT, seen) >= 0:
            self._opening = None
            return bytes(opening)
        return b""

    def end(self) -> None:
        """The connection ended. Raises UpstreamError unless the stream, or the JSON in place of one, is whole."""
        if self._opening and self._braced:
            self.whole = bytes(self._opening.removeprefix(_BOM))
            if self._check is not None:
                self._check(self.whole)
            return
        if self._rest.strip():
            if self._check is not None:
                self._check(self._rest)
            self._line(self._rest)
        if self.done and self.finish_reason is None:
            raise UpstreamError("[DONE] without a finish_reason", reason=Reason.STREAM_CUT)
        if not self.done and (self._done_required or self.finish_reason is None):
            raise UpstreamError("the stream ended without [DONE]", reason=Reason.STREAM_CUT, died=True)

    def _line(self, line: bytes) -> Piece | None:
        if self.done:
            return None
        if not line.startswith(b"data:"):
            return self._no_data(line)
        data = line[5:].strip()
        if data == b"[DONE]":
            self.done = True
            return None
        return self._event(data)

    def _no_data(self, line: bytes) -> Piece | None:
        if line.startswith(_BOM):
            return self._line(line[len(_BOM) :])
        if line.startswith(b"event:"):
            self._error_event = b"error" in line or b"fail" in line
        elif b'"' in line and not line.startswith(_OTHER_FIELDS):
            self.bad_lines += 1
        return None

    def _event(self, data: bytes) -> Piece | None:
        try:
            event = _DECODER.decode(data)
            if _holds_a_record(event):
                data, event = self._mended(data)
            elif not self._outer:
                self._outer = {"id": event.id, "created": event.created, "model": event.model}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            try:
                data, event = self._mended(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._check_broken(data)
                self.bad_lines += 1
                return None
        if (
            self._error_event
            or (event.error is not _NO_VALUE and _says(event.error))
            or (event.type is not None and _says_failed(event.type, event.choices))
        ):
            raise self._error_in(data)
        if event.choices and (len(event.choices) > 1 or event.choices[0].index):
            return self._of_first(data)
        return self._piece(data, event)

    def _mended(self, data: bytes) -> tuple[bytes, Event]:
        """A chunk of another shape than OpenAI's, in that shape. Raises UpstreamError; DecodeError where it is none."""
        body = msgspec.json.decode(data)
        if not isinstance(body, dict):
            raise msgspec.DecodeError("no object")
        choices = body.get("choices")
        if self._error_event or body.get("error") or _says_failed(body.get("type"), choices):
            raise self._error_in(data)
        self.own_record = own_record_in(body) or self.own_record
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or index_of(choice.get("index")):
                continue  # of another answer, which is left out
            if isinstance(reason := choice.get("finish_reason"), str):
                require_finished(reason)
        mended = chunk(body, self._outer, called=self._called)
        mended.setdefault("model", self._model)
        data = msgspec.json.encode(mended)
        return data, _DECODER.decode(data)

    def _of_first(self, data: bytes) -> Piece | None:
        """The chunk without further choices: one was asked for, nobody checks others. Said twice, it is unreadable."""
        body = msgspec.json.decode(data)
        body["choices"] = [choice for choice in body["choices"] if choice["index"] == 0]
        if len(body["choices"]) > 1:
            self.bad_lines += 1
            return None
        data = msgspec.json.encode(body)
        return self._piece(data, _DECODER.decode(data))

    def _piece(self, data: bytes, event: Event) -> Piece:
        if not event.choices:
            return Piece(data, event, "", False, False, None)
        choice = event.choices[0]
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        delta = choice.delta
        if delta.tool_calls:
            self._called = True
        text = delta.content
        unseen = _holds_unseen(delta)
        if text:
            more = choice.finish_reason or event.usage or delta.tool_calls or delta.function_call or unseen
            return Piece(data, event, text, True, True, choice.finish_reason, not more, unseen)
        content = bool(delta.refusal or delta.tool_calls or delta.function_call)
        return Piece(data, event, "", content, content or unseen, choice.finish_reason, holds_unseen=unseen)

    def _check_broken(self, data: bytes) -> None:
        """An error event whose message broke its own JSON is still an error event."""
        if self._error_event or data.lstrip().startswith((b'{"error"', b'{ "error"')):
            raise self._error_in(data)

    def _error_in(self, data: bytes) -> UpstreamError:
        return failure_inside(error_body(data), "an error event", sent=self._sent)


def _says(value: msgspec.Raw) -> bool:
    return value is not _NO_VALUE and bytes(value) not in _NOTHING


def _holds_unseen(delta: Delta) -> bool:
    """Whether it says more than its text: what the model thinks, or sound."""
    return (
        _says(delta.reasoning_content)
        or _says(delta.reasoning)
        or _says(delta.reasoning_details)
        or _says(delta.thinking)
        or _says(delta.audio)
    )


def _says_failed(kind: Any, choices: Any) -> bool:
    """A terminal event of another dialect, such as `response.failed`."""
    return isinstance(kind, str) and not choices and ("fail" in kind or "error" in kind)


def _holds_a_record(event: Event) -> bool:
    if event.degradation is not _NO_VALUE or (event.usage is not None and event.usage.degradation is not _NO_VALUE):
        return True
    return any(one.degradation is not _NO_VALUE or one.delta.degradation is not _NO_VALUE for one in event.choices)
