"""A streamed answer put together again as the JSON answer that the same backend would have given."""

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

import msgspec

from gateway.answers.completion import Completion
from gateway.answers.published import RECORD
from gateway.answers.validate import completion_in, invalid
from gateway.backends.stream import Piece, StreamReader

_ONCE = frozenset({"role", "name", "id", "type", "index"})  # fields of a delta that are said again, never continued
_CALLS = "tool_calls"


class Collector:
    """Takes the pieces of one stream; `completion` gives the whole answer."""

    def __init__(self) -> None:
        self._outer: dict[str, Any] = {}
        self._message: dict[str, Any] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._logprobs: dict[str, Any] | None = None
        self._choice: dict[str, Any] = {}
        self._usage: Any = None

    async def take(self, pieces: list[Piece]) -> None:
        """Keep what just came."""
        for piece in pieces:
            self._add(msgspec.json.decode(piece.data))

    def completion(self, reader: StreamReader) -> Completion:
        """The whole answer. Raises UpstreamError where it is none."""
        if not self._choice:
            raise invalid("a stream without choices")
        message = {"role": "assistant", "content": None, **self._message}
        if self._calls:
            message[_CALLS] = [_without_index(self._calls[index]) for index in sorted(self._calls)]
        if message["content"] == "" and (self._calls or message.get("refusal") or message.get("function_call")):
            message["content"] = None  # streams begin with an empty text where a JSON answer has none
        choice = {**self._choice, "message": message, "logprobs": self._logprobs, "finish_reason": reader.finish_reason}
        body = {**self._outer, "object": "chat.completion", "choices": [choice]}
        if self._usage is not None:
            body["usage"] = self._usage
        if reader.own_record is not None:
            body[RECORD] = reader.own_record
        completion = completion_in(body)
        completion.bad_lines = reader.bad_lines
        return completion

    def _add(self, chunk: dict[str, Any]) -> None:
        for key, value in chunk.items():
            if key == "usage":
                self._usage = value if value is not None else self._usage
            elif key not in ("choices", "object") and (value is not None or key not in self._outer):
                self._outer[key] = value
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) == 0:
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self._choice["index"] = 0
        for key, value in choice.items():
            if key == "delta":
                self._add_delta(value or {})
            elif key == "logprobs":
                self._add_logprobs(value)
            elif key not in ("index", "finish_reason") and value is not None:
                self._choice[key] = value

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        _continue(self._message, ((key, value) for key, value in delta.items() if key != _CALLS))
        for call in delta.get(_CALLS) or ():
            _continue(self._calls.setdefault(call.get("index", 0), {}), call.items())

    def _add_logprobs(self, logprobs: Any) -> None:
        if isinstance(logprobs, Mapping):
            self._logprobs = self._logprobs or {}
            _continue(self._logprobs, logprobs.items())


def _continue(whole: MutableMapping[str, Any], parts: Iterable[tuple[str, Any]]) -> None:
    """Append to texts and lists, go into objects, and take the rest as it is."""
    for key, value in parts:
        known = whole.get(key)
        if value is None:
            whole.setdefault(key, None)
        elif isinstance(known, str) and isinstance(value, str):
            if key not in _ONCE:
                whole[key] = known + value
        elif isinstance(known, list) and isinstance(value, list):
            known.extend(value)
        elif isinstance(known, dict) and isinstance(value, dict):
            _continue(known, value.items())
        else:
            whole[key] = value


def _without_index(call: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in call.items() if key != "index"}
