"""One streamed attempt on its way to the client: held back until it may be shown, ended only when it is whole."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from gateway.answers.completion import Completion, chunk
from gateway.answers.token_accounting import reasoning_tokens
from gateway.answers.tool_calls import Offer
from gateway.answers.validate import check_arguments, check_text, invalid, is_blank, wordless
from gateway.backends.stream import FunctionDelta, Piece, StreamReader
from gateway.errors import Blame
from gateway.masking import KeyWatch
from gateway.record import DegradationRecord, Reason

DONE = b"data: [DONE]\n\n"
_LEGACY = -1  # the index of a `function_call`, of which there is one
_NOT_OF_A_CHUNK = frozenset({"choices", "usage", "object", "degradation"})
_NO_FUNCTION = FunctionDelta()


class Sink(Protocol):
    """Where the bytes of a stream go."""

    @property
    def shown(self) -> DegradationRecord | None:
        """The record in the headers; None while nothing has been sent. From then on no other path may answer."""
        ...

    async def send(self, data: bytes, *, record: DegradationRecord) -> None:
        """Send events; the first call also sends the headers, made from `record` as it stands then."""
        ...


class Relay:
    """Takes pieces, shows them, and keeps what the checks at the end need.

    Nothing is shown before the first content that is not blank, nor text where a tool has to be called, nor what
    may be the beginning of one of `keys`; with `held` nothing before `finish`. The chunk with
    the finish_reason waits for `finish`, because only then it is known to be true.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        held: bool,
        preview: Callable[[], DegradationRecord],
        keys: tuple[str, ...] = (),
        offer: Offer | None = None,
    ) -> None:
        """`offer` None: calls are not checked."""
        self._offer = offer
        self._must_call = offer is not None and offer.must_call
        self._keys = bool(keys)
        self._watch = KeyWatch(keys)
        self._sink = sink
        self._held = held
        self._preview = preview
        self._shown: DegradationRecord | None = None  # with which it began to be shown
        self._waiting: list[bytes] = []
        self._text: list[str] = []
        self._arguments: dict[int, list[str]] = {}
        self._named: dict[int, str] = {}  # tool calls that have a name
        self._visible = False
        self._tools = False
        self._refusal = False
        self._unseen = False
        self._final: Piece | None = None
        self._usage: Piece | None = None

    async def take(self, pieces: list[Piece]) -> None:
        """Take what just came; shows it where that is allowed."""
        for piece in pieces:
            if piece.is_plain and self._visible and not self._keys:
                self._text.append(piece.text)
                self._waiting.append(piece.data)
            else:
                self._keep(piece)
        if self._visible and not self._held and self._waiting and not self._watch.pending:
            await self._show()

    def completion(self, reader: StreamReader) -> Completion:
        """The whole answer. Raises UpstreamError where it is none."""
        text = "".join(self._text)
        if not self._tools and not self._refusal:
            if not self._text:
                raise wordless("a stream without content", reader.finish_reason)
            check_text(text, reader.finish_reason)
        if self._arguments.keys() - self._named.keys():
            raise invalid("a tool call without a name", Blame.NEUTRAL)
        for parts in self._arguments.values():
            check_arguments("".join(parts), reader.finish_reason)
        usage = self._usage.event.usage if self._usage is not None else None
        return Completion(
            text=text,
            finish_reason=reader.finish_reason,
            calls_tools=self._tools,
            called=tuple(self._named.values()),
            refusal=self._refusal,
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            reasoning_tokens=reasoning_tokens(msgspec.structs.asdict(usage)) if usage else 0,
            holds_unseen=self._unseen,
            bad_lines=reader.bad_lines,
            own_record=reader.own_record,
        )

    async def finish(self, record: DegradationRecord, *, include_usage: bool) -> None:
        """The answer is whole and trusted: show the rest, the record in the last chunk, and `[DONE]`."""
        last = [self._final] if self._final is not None else []
        if include_usage and self._usage is not None and self._usage is not self._final:
            last.append(self._usage)
        for index, piece in enumerate(last):
            body = msgspec.json.decode(piece.data)
            if not include_usage:
                body.pop("usage", None)
            if index == len(last) - 1:
                body["degradation"] = record
            self._waiting.append(msgspec.json.encode(body))
        await self._sink.send(_events(_named(self._waiting, self._shown or record)) + DONE, record=record)
        self._waiting = []

    def _keep(self, piece: Piece) -> None:
        self._unseen = self._unseen or piece.holds_unseen
        if piece.is_content:
            self._keep_content(piece)
            if piece.finish_reason:
                content, piece = _parted(piece)  # some engines say with every chunk how it ends
                self._waiting.append(content)
        if piece.event.usage is not None:
            self._usage = piece
        if piece.finish_reason:
            self._final = piece
        elif piece.event.choices:
            self._waiting.append(piece.data)

    def _keep_content(self, piece: Piece) -> None:
        text = piece.text
        self._text.append(text)
        self._watch.add(text)
        delta = piece.event.choices[0].delta if piece.event.choices else None
        if delta is not None:
            if not text:
                self._refusal = self._refusal or bool(delta.refusal)
            if delta.function_call is not None:
                self._keep_call(_LEGACY, delta.function_call.name, delta.function_call.arguments)
            for call in delta.tool_calls or ():
                if call.custom is not None:
                    self._keep_call(call.index, call.custom.name)
                else:
                    function = call.function or _NO_FUNCTION
                    self._keep_call(call.index, function.name, function.arguments)
        if not self._visible:
            shows = not self._must_call and not is_blank(text)
            self._visible = self._tools or self._refusal or shows

    def _keep_call(self, index: int, name: str | None, arguments: str | None = None) -> None:
        """`arguments` of a function; what a custom tool is given may be any text."""
        self._tools = True
        if name:
            if self._offer is not None:
                self._offer.require_known(name)
            self._named.setdefault(index, name)
        self._arguments.setdefault(index, []).append(arguments or "")

    async def _show(self) -> None:
        waiting, self._waiting = self._waiting, []
        if self._shown is None:
            self._shown = self._preview()
        await self._sink.send(_events(_named(waiting, self._shown)), record=self._shown)


async def send_whole(
    sink: Sink, completion: Completion, record: DegradationRecord, *, include_usage: bool = False
) -> None:
    """An answer that is there at once, as a stream of two chunks, and one with its usage where that is wanted."""
    body = completion.body
    choice = body["choices"][0]
    outer = {key: value for key, value in body.items() if key not in _NOT_OF_A_CHUNK}
    model = record.model_named or body["model"]
    end = chunk(body["id"], model, delta={}, finish=completion.finish_reason or "stop")
    first = chunk(body["id"], model, delta=_delta_of(choice["message"]))
    first["choices"][0]["logprobs"] = choice.get("logprobs")
    chunks = [{**outer, **one} for one in (first, end)]
    if include_usage and body.get("usage") is not None:
        usage = chunk(body["id"], model, delta=None)
        chunks.append({**outer, **usage, "usage": body["usage"]})
    chunks[-1]["degradation"] = record
    await sink.send(_events([msgspec.json.encode(one) for one in chunks]) + DONE, record=record)


def _delta_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """A whole message as the one delta of a stream: there, each tool call says which it is."""
    calls = message.get("tool_calls")
    if not calls:
        return {key: value for key, value in message.items() if key != "tool_calls"}
    return {**message, "tool_calls": [{"index": index, **call} for index, call in enumerate(calls)]}


async def send_error(sink: Sink, message: str, record: DegradationRecord, *, reason: Reason) -> None:
    """End a stream that failed: an error event that says so, and why, with the record, and no `[DONE]`."""
    error = {"message": message, "type": "upstream_error", "param": None, "code": reason}
    await sink.send(_events([msgspec.json.encode({"error": error, "degradation": record})]), record=record)


def _parted(piece: Piece) -> tuple[bytes, Piece]:
    """The content of a chunk that also ends the answer, and the end without it."""
    body = msgspec.json.decode(piece.data)
    choice = body["choices"][0]
    end = {**choice, "delta": {}, "logprobs": None}
    content = {**body, "choices": [{**choice, "finish_reason": None}]}
    content.pop("usage", None)
    last = msgspec.json.encode({**body, "choices": [end]})
    return msgspec.json.encode(content), msgspec.structs.replace(piece, data=last, text="", is_content=False)


def _named(data: list[bytes], record: DegradationRecord) -> list[bytes]:
    """The chunks with the model that serves, where that is not the one that was meant; as they are elsewhere."""
    if record.model_named is None:
        return data
    name = msgspec.Raw(msgspec.json.encode(record.model_named))
    bodies = [msgspec.json.decode(one, type=dict[str, msgspec.Raw]) for one in data]
    return [msgspec.json.encode({**body, "model": name}) for body in bodies]


def _events(data: list[bytes]) -> bytes:
    return b"data: " + b"\n\ndata: ".join(data) + b"\n\n" if data else b""
